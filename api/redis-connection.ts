import { Redis as Client, type RedisOptions } from 'ioredis'
import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import { type RedisUrl, redisAddresses, type SentinelUrl } from './redis-url.ts'

/** A Redis connection. Only this file imports the client library. */
export type Redis = Client

/**
 * Connects to Redis, with Sentinels to the master that they name. The client never repeats a
 * command by itself: while the server is away, every command fails at once. It reconnects
 * automatically: to the new master after a failover, and when the server has become a replica. Only
 * `disconnect()` ends it; after `quit()` it would reconnect too.
 * Rejects with `unreachable`, or with `bad_config` if user, password or master are refused; both
 * messages name `REDIS_URL`.
 */
export async function connectRedis(
  url: RedisUrl,
  logger: Logger,
  options: Pick<RedisOptions, 'scripts' | 'enableAutoPipelining' | 'commandTimeout'> = {},
): Promise<Redis> {
  let hasStarted = false
  let reason = ''
  let sentinelReason = ''
  const settings = {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    connectTimeout: 3000,
    commandTimeout: 2000,
    socketTimeout: 3000,
    disconnectTimeout: 500,
    retryStrategy: retryAfterMs,
    // Redis 6 reports the error of a command within a script in the middle of a message.
    reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
    // At the start each Sentinel is asked once.
    sentinelRetryStrategy: (attempt: number) => (hasStarted ? retryAfterMs(attempt) : null),
    ...options,
  }
  const redis =
    url instanceof URL
      ? new Client(url.href, settings)
      : new Client({ ...settings, ...sentinelOptions(url) })
  redis.on('error', (error: Error) => {
    reason = error.message
  })
  redis.on('sentinelError', (error: Error) => {
    sentinelReason = error.message
  })
  try {
    await redis.connect()
  } catch (cause) {
    redis.disconnect()
    // The rejection of `connect` says only that the connection was closed.
    throw startFault(url, reason, sentinelReason, cause)
  }
  hasStarted = true
  reconnectWhenEnded(redis)
  let isLost = false
  redis.on('close', () => {
    if (isLost || redis.status === 'end') return // `end`: this process closes it
    isLost = true
    logger.warn({ reason }, 'redis lost, reconnecting')
  })
  redis.on('ready', () => {
    if (isLost) logger.info('redis is back')
    isLost = false
    reason = ''
  })
  return redis
}

/**
 * Connects again when the client gives up although nobody called `disconnect`: a failover that
 * `failoverDetector` hears of while the client asks the Sentinels ends its attempt, and ioredis
 * 6.0.0 takes that for the wish of the caller (`SentinelConnector.connect`).
 */
function reconnectWhenEnded(redis: Redis): void {
  let isClosed = false
  const disconnect = redis.disconnect.bind(redis)
  redis.disconnect = (reconnect) => {
    if (!reconnect) isClosed = true
    disconnect(reconnect)
  }
  redis.on('end', () => {
    if (!isClosed) redis.connect().catch(() => {}) // if it fails, it ends again
  })
}

const retryAfterMs = (attempt: number) => Math.min(attempt * 50, 1000)

function sentinelOptions(url: SentinelUrl) {
  return {
    sentinels: [...url.sentinels],
    name: url.masterName,
    db: url.database,
    ...(url.username && { username: url.username }),
    ...(url.password && { password: url.password }),
    ...(url.sentinelUsername && { sentinelUsername: url.sentinelUsername }),
    ...(url.sentinelPassword && { sentinelPassword: url.sentinelPassword }),
    ...(url.tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    // Leaves a master that hangs, or is cut off, as soon as a Sentinel announces another one.
    failoverDetector: true,
    sentinelReconnectStrategy: retryAfterMs,
    sentinelCommandTimeout: 1000,
  }
}

function startFault(
  url: RedisUrl,
  reason: string,
  sentinelReason: string,
  cause: unknown,
): ServiceError {
  const at = redisAddresses(url).join(', ')
  const fault = (code: 'bad_config' | 'unreachable', what: string) =>
    new ServiceError(code, `REDIS_URL: ${what}`, { cause })
  if (/^(WRONGPASS|NOAUTH|NOPERM)\b/.test(reason)) {
    const server = url instanceof URL ? url.host : url.masterName
    return fault('bad_config', `Redis at ${server} refuses this user and password`)
  }
  if (url instanceof URL) return fault('unreachable', `${url.host} does not answer`)
  if (/\b(WRONGPASS|NOAUTH|NOPERM)\b/.test(sentinelReason))
    return fault('bad_config', `Sentinel at ${at} refuses sentinel_username or sentinel_password`)
  if (/\bNo such master\b|invalid reply: null$/.test(sentinelReason))
    return fault('bad_config', `Sentinel at ${at} knows no master ${url.masterName}`)
  return fault('unreachable', `Sentinel at ${at} names no master that answers`)
}

/**
 * Resolves once a replica has every write that this connection sent before, so that a failover
 * keeps them; at once without Sentinels. Meanwhile Redis executes no other command of the
 * connection. Rejects with a retriable `unavailable` if no replica confirms within four fifths of
 * the connection's `commandTimeout`.
 */
export async function replicated(redis: Redis): Promise<void> {
  const { sentinels, commandTimeout = 2000 } = redis.options
  if (!sentinels) return
  const replicas = await orUnavailable(redis.wait(1, Math.round(0.8 * commandTimeout)))
  if (replicas < 1) throw new ServiceError('unavailable', 'no replica of Redis confirms the write')
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
