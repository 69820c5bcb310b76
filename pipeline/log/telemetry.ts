import { metricsOf, type Registry } from '../runtime/telemetry.ts'

/**
 * Metrics of a process that appends to the log. They are declared with its first append, so that
 * readers do not export them.
 */
export function createAppendMetrics(registry: Registry) {
  const { counter, histogram } = metricsOf(registry)
  return {
    appendSeconds: histogram(
      'log_append_seconds',
      'Seconds from handing records to the log to their acknowledgement.',
      [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    ),
    appendedRecords: counter(
      'log_appended_records_total',
      'Records acknowledged by the log, markers left out.',
    ),
  }
}

/** See `createAppendMetrics`. */
export type AppendMetrics = ReturnType<typeof createAppendMetrics>

/** Metrics of a process that reads the log, as every role does. */
export function createLogMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry)
  return {
    malformedRecords: counter(
      'log_malformed_records_total',
      'Records on the log that could not be parsed and were skipped.',
      ['reason'],
    ),
    stoppedPartitions: gauge(
      'log_stopped_partitions',
      'Partitions of the log that are not read on, because a newer version wrote the next entry.',
    ),
    redeliveries: counter(
      'log_redeliveries_total',
      'Batches delivered again because their handler failed.',
    ),
    consumerRestarts: counter(
      'log_consumer_restarts_total',
      'Consumers restarted after they lost the server.',
    ),
  }
}

/** What `createLogMetrics` returns. */
export type LogMetrics = ReturnType<typeof createLogMetrics>
