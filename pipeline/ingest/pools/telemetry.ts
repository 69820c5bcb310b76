import { metricsOf, type Registry } from '../../runtime/telemetry.ts'

/** The metrics of the pool watch. No label names a mint or a pool. */
export function createPoolMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry)
  return {
    watched: gauge('pools_watched', 'Pools of listed tokens whose accounts are followed.'),
    accountsRead: counter(
      'pool_accounts_read_total',
      'Accounts read: pools and vaults, or unusable ones (malformed, closed, of an unknown program).',
      ['kind'],
    ),
    streams: counter('pool_streams_total', 'Streams of pool accounts that ended, by reason.', [
      'end',
    ]),
  }
}

/** See `createPoolMetrics`. */
export type PoolMetrics = ReturnType<typeof createPoolMetrics>
