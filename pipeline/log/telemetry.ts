import { Counter, Histogram, type Registry } from '../runtime/telemetry.ts'

/** Metrics of a log. */
export function createLogMetrics(registry: Registry) {
  const registers = [registry]
  return {
    appendSeconds: new Histogram({
      name: 'log_append_seconds',
      help: 'Seconds from handing records to the log to their acknowledgement.',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
      registers,
    }),
    appendedRecords: new Counter({
      name: 'log_appended_records_total',
      help: 'Records acknowledged by the log, markers left out.',
      registers,
    }),
    malformedRecords: new Counter({
      name: 'log_malformed_records_total',
      help: 'Records on the log that could not be parsed and were skipped.',
      labelNames: ['reason'],
      registers,
    }),
    redeliveries: new Counter({
      name: 'log_redeliveries_total',
      help: 'Batches delivered again because their handler failed.',
      registers,
    }),
    consumerRestarts: new Counter({
      name: 'log_consumer_restarts_total',
      help: 'Consumers restarted after they lost the server.',
      registers,
    }),
  }
}

/** What `createLogMetrics` returns. */
export type LogMetrics = ReturnType<typeof createLogMetrics>
