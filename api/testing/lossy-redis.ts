import { createLogger } from '../../pipeline/runtime/logger.ts'
import { connectRedis, type Redis } from '../redis-connection.ts'
import { forwardTo } from './forwarder.ts'

/** The sorted set of revocations. Tests remove entries from it. */
export const REVOCATIONS = 'tw:revoked-tokens'

/**
 * Connects to a numbered database of `REDIS_URL` through a forwarder. The database is separate,
 * because other tests revoke tokens of other stores. `close` deletes the revocations.
 */
export async function connectLossyRedis(database: number): Promise<{
  readonly redis: Redis
  cut(): void
  close(): Promise<void>
}> {
  const way = await forwardTo(new URL(`/${database}`, process.env.REDIS_URL ?? ''))
  const redis = await connectRedis(way.url, createLogger('silent'))
  return {
    redis,
    cut: () => way.cut(),
    async close() {
      await redis.del(REVOCATIONS)
      redis.disconnect()
      way.close()
    },
  }
}
