import { randomUUID } from 'node:crypto'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { connectRedis, orUnavailable, type Redis } from '../redis-connection.ts'
import type { RedisUrl } from '../redis-url.ts'
import type { AccountChannel, AccountListener } from './account-channel.ts'

/**
 * Creates the channel over Redis. Its keys, each under `prefix`:
 * - `connections:<account>`: sorted set of `<process>/<connection>`, by the microsecond of Redis'
 *   clock in which the connection was opened;
 * - `process:<process>`: expires when its process dies, whose connections then no longer count.
 *
 * Events go over the pub/sub topic `news:<database>`. `aliveMs`: expiry of a process in
 * milliseconds.
 */
export async function createRedisChannel(
  url: RedisUrl,
  logger: Logger,
  options: { readonly prefix?: string; readonly aliveMs?: number } = {},
): Promise<AccountChannel> {
  const { prefix = 'tw:{credits}:', aliveMs = 60_000 } = options
  const scripts = { channelOpen: { numberOfKeys: 2, lua: OPEN } }
  const commands = await connectRedis(url, logger, { scripts })
  const subscriber = await connectRedis(url, logger)
  const channel = new RedisChannel(commands, subscriber, prefix, aliveMs)
  await channel.start()
  return channel
}

class RedisChannel implements AccountChannel {
  readonly #commands: Redis
  readonly #subscriber: Redis
  readonly #prefix: string
  readonly #topic: string
  readonly #aliveMs: number
  readonly #process = randomUUID()
  readonly #listeners: AccountListener[] = []
  #downSince: number | null = null
  #heartbeat: NodeJS.Timeout | undefined

  constructor(commands: Redis, subscriber: Redis, prefix: string, aliveMs: number) {
    this.#commands = commands
    this.#subscriber = subscriber
    this.#prefix = prefix
    // Pub/sub topics are not separated by database, as keys are.
    this.#topic = `${prefix}news:${commands.options.db ?? 0}`
    this.#aliveMs = aliveMs
  }

  get isUp(): boolean {
    return this.#downSince === null
  }

  async start(): Promise<void> {
    await this.#keepAlive()
    this.#heartbeat = setInterval(() => void this.#keepAlive().catch(() => {}), this.#aliveMs / 3)
    this.#heartbeat.unref()
    this.#subscriber.on('message', (_topic: string, text: string) => this.#onMessage(text))
    this.#subscriber.on('close', () => {
      this.#downSince ??= Date.now()
    })
    // After an outage the last of the two connections to be ready completes the subscription.
    for (const redis of [this.#commands, this.#subscriber])
      redis.on('ready', () => void this.#subscribe())
    await this.#subscribe()
  }

  listen(listener: AccountListener): void {
    this.#listeners.push(listener)
  }

  async opened(account: string, connection: string, limit: number, orderKey = ''): Promise<string> {
    const client = this.#commands as unknown as {
      // ioredis adds scripts as methods at run time, which its types do not show.
      channelOpen(...args: (string | number)[]): Promise<string>
    }
    return orUnavailable(
      client.channelOpen(
        ...[`${this.#prefix}connections:${account}`, `${this.#prefix}process:`],
        ...[this.#process, connection, limit, orderKey, this.#topic, account],
      ),
    )
  }

  async closed(account: string, connection: string): Promise<void> {
    const key = `${this.#prefix}connections:${account}`
    await orUnavailable(this.#commands.zrem(key, `${this.#process}/${connection}`))
  }

  async rotated(account: string, keySha256: string): Promise<void> {
    for (const listener of this.#listeners) listener.onRotated(account, keySha256)
    await orUnavailable(this.#commands.publish(this.#topic, `rotated ${account} ${keySha256}`))
  }

  async keyDeleted(account: string, keySha256: string): Promise<void> {
    for (const listener of this.#listeners) listener.onKeyDeleted(account, keySha256)
    await orUnavailable(this.#commands.publish(this.#topic, `key_deleted ${account} ${keySha256}`))
  }

  async accessChanged(account: string, isDisabled: boolean): Promise<void> {
    for (const listener of this.#listeners) listener.onAccessChanged(account, isDisabled)
    const what = isDisabled ? 'disabled' : 'enabled'
    await orUnavailable(this.#commands.publish(this.#topic, `access ${account} ${what}`))
  }

  async loggedOut(tokenId: string): Promise<void> {
    for (const listener of this.#listeners) listener.onLoggedOut(tokenId)
    await orUnavailable(this.#commands.publish(this.#topic, `logged_out ${tokenId}`))
  }

  async loggedOutEverywhere(wallet: string, generation: number): Promise<void> {
    for (const listener of this.#listeners) listener.onLoggedOutEverywhere(wallet, generation)
    await orUnavailable(
      this.#commands.publish(this.#topic, `logged_out_everywhere ${wallet} ${generation}`),
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    await this.#commands.del(`${this.#prefix}process:${this.#process}`).catch(() => {})
    this.#subscriber.disconnect()
    this.#commands.disconnect()
  }

  async #keepAlive(): Promise<void> {
    const key = `${this.#prefix}process:${this.#process}`
    await orUnavailable(this.#commands.set(key, '1', 'PX', this.#aliveMs))
  }

  async #subscribe(): Promise<void> {
    try {
      if (this.#downSince !== null) await this.#keepAlive()
      // Subscribe last: an outage after this sets `#downSince` again.
      await this.#subscriber.subscribe(this.#topic)
      const since = this.#downSince
      if (since === null) return
      this.#downSince = null
      for (const listener of this.#listeners) listener.onBack(since)
    } catch {
      // The connection was lost again; the next `ready` event retries.
    }
  }

  #onMessage(text: string): void {
    const [kind, subject, detail] = text.split(' ')
    if (subject === undefined) return
    for (const listener of this.#listeners) {
      if (kind === 'logged_out') listener.onLoggedOut(subject)
      else if (detail === undefined) return
      else if (kind === 'rotated') listener.onRotated(subject, detail)
      else if (kind === 'key_deleted') listener.onKeyDeleted(subject, detail)
      else if (kind === 'access') listener.onAccessChanged(subject, detail === 'disabled')
      else if (kind === 'logged_out_everywhere')
        listener.onLoggedOutEverywhere(subject, Number(detail))
      else if (kind === 'superseded') {
        const [process, connection] = detail.split('/')
        if (process === this.#process && connection) listener.onSuperseded(subject, connection)
      }
    }
  }
}

/**
 * Registers a connection and returns its order key. Over the limit it removes connections of dead
 * processes, then the oldest. KEYS: connections, prefix of processes. ARGV: process, connection,
 * limit, order key (or empty), topic, account.
 */
const OPEN = `
local orderKey = ARGV[4]
if orderKey == '' then
  local now = redis.call('TIME')
  orderKey = now[1] .. string.format('%06d', now[2])
end
redis.call('ZADD', KEYS[1], orderKey, ARGV[1] .. '/' .. ARGV[2])
redis.call('EXPIRE', KEYS[1], 604800)
local limit = tonumber(ARGV[3])
if redis.call('ZCARD', KEYS[1]) > limit then
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local process = string.match(member, '^[^/]+')
    if process ~= ARGV[1] and redis.call('EXISTS', KEYS[2] .. process) == 0 then
      redis.call('ZREM', KEYS[1], member)
    end
  end
  local excess = redis.call('ZCARD', KEYS[1]) - limit
  if excess > 0 then
    for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, excess - 1)) do
      redis.call('ZREM', KEYS[1], member)
      redis.call('PUBLISH', ARGV[5], 'superseded ' .. ARGV[6] .. ' ' .. member)
    end
  end
end
return orderKey`
