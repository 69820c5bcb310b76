import { Counter, Gauge, type Registry } from '../../runtime/telemetry.ts'

/** The metrics of the pool watch. No label names a mint or a pool. */
export function createPoolMetrics(registry: Registry) {
  const registers = [registry]
  return {
    watched: new Gauge({
      name: 'pools_watched',
      help: 'Pools of listed tokens whose accounts are followed.',
      registers,
    }),
    accountsRead: new Counter({
      name: 'pool_pictures_total',
      help: 'Accounts read: pools and vaults, or unusable ones (malformed, closed, of an unknown program).',
      labelNames: ['kind'],
      registers,
    }),
    streams: new Counter({
      name: 'pool_streams_total',
      help: 'Streams of pool accounts that ended, by reason.',
      labelNames: ['end'],
      registers,
    }),
  }
}

/** See `createPoolMetrics`. */
export type PoolMetrics = ReturnType<typeof createPoolMetrics>
