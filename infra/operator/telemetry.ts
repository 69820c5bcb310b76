import { metricsOf, type Registry } from '../../pipeline/runtime/telemetry.ts'

/** Creates the metrics of the probe. */
export function createProbeMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry)
  return {
    up: gauge(
      'probe_up',
      'Whether the probe found no fault within the last minute (1), or did (0).',
    ),
    lagSeconds: histogram(
      'probe_lag_seconds',
      'Seconds from the block time of a trade, which is a whole second, to its arrival.',
      [1, 1.5, 2, 2.5, 3, 5, 10, 30, 60, 300],
    ),
    trades: counter('probe_trades_total', 'Trades received on the feed.'),
    compared: counter('probe_compared_trades_total', 'Trades of REST compared with the feed.'),
    faults: counter(
      'probe_faults_total',
      'Faults: unreachable (feed or REST), lag, repeated (a trade came twice), differs (feed and REST).',
      ['fault'],
    ),
  }
}

/** See `createProbeMetrics`. */
export type ProbeMetrics = ReturnType<typeof createProbeMetrics>
