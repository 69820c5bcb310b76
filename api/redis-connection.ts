import { Redis as Client, type RedisOptions } from 'ioredis'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'

/** A Redis connection. Only this file imports the client library. */
export type Redis = Client

/**
 * Connects to Redis. The client never repeats a command by itself: while the server is away, every
 * command fails at once. It reconnects automatically. Rejects with `unreachable`, or with
 * `bad_config` if user or password are refused; both messages name `REDIS_URL`.
 */
export async function connectRedis(
  url: URL,
  logger: Logger,
  options: Pick<RedisOptions, 'scripts' | 'enableAutoPipelining' | 'commandTimeout'> = {},
): Promise<Redis> {
  const redis = new Client(url.href, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    connectTimeout: 3000,
    commandTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
    ...options,
  })
  let isUp = false
  let reason = ''
  redis.on('error', (error: Error) => {
    reason = error.message
    if (isUp) logger.warn({ reason }, 'redis lost, reconnecting')
    isUp = false
  })
  try {
    await redis.connect()
  } catch (cause) {
    redis.disconnect()
    // The rejection of `connect` says only that the connection was closed.
    if (/^(WRONGPASS|NOAUTH|NOPERM)\b/.test(reason)) {
      const message = `REDIS_URL: Redis at ${url.host} refuses this user and password`
      throw new ServiceError('bad_config', message, { cause })
    }
    throw new ServiceError('unreachable', `REDIS_URL: ${url.host} does not answer`, { cause })
  }
  isUp = true
  redis.on('ready', () => {
    if (!isUp) logger.info('redis is back')
    isUp = true
  })
  return redis
}

/** Awaits a reply of Redis. A failure becomes a retriable ServiceError `unavailable` with `why`. */
export async function orUnavailable<T>(
  reply: Promise<T>,
  why = 'Redis does not answer',
): Promise<T> {
  try {
    return await reply
  } catch (cause) {
    throw new ServiceError('unavailable', why, { cause })
  }
}
