import { Counter, Gauge, type Registry } from '../../runtime/telemetry.ts'

/** What the watch over pools counts. No label names a mint or a pool. */
export function createPoolMetrics(registry: Registry) {
  const registers = [registry]
  return {
    watched: new Gauge({
      name: 'pools_watched',
      help: 'Pools of listed tokens whose accounts are followed.',
      registers,
    }),
    pictures: new Counter({
      name: 'pool_pictures_total',
      help: 'Accounts of pools and vaults read, by what they were; malformed, other (programs) and closed ones are of no use.',
      labelNames: ['kind'],
      registers,
    }),
    streams: new Counter({
      name: 'pool_streams_total',
      help: 'Streams of pool accounts that ended, by why.',
      labelNames: ['end'],
      registers,
    }),
  }
}

export type PoolMetrics = ReturnType<typeof createPoolMetrics>
