import { randomUUID } from 'node:crypto'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { connectRedis, orUnavailable, type Redis } from '../redis-connection.ts'
import type { AccountChannel, AccountNews } from './account-channel.ts'

/**
 * The channel over Redis. Keys, each under `prefix`: `connections:<account>` sorted set of `<process>/<connection>` by the microsecond of Redis' clock in which it was opened;
 * `process:<process>` lives as long as its process (a connection of a process that died gives up its place); messages go over pub/sub channel `news:<database>`.
 */
export async function createRedisChannel(
  url: URL,
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
  readonly #listeners: AccountNews[] = []
  #downSince: number | null = null
  #beat: NodeJS.Timeout | undefined

  constructor(commands: Redis, subscriber: Redis, prefix: string, aliveMs: number) {
    this.#commands = commands
    this.#subscriber = subscriber
    this.#prefix = prefix
    // Messages know no databases, keys do.
    this.#topic = `${prefix}news:${commands.options.db ?? 0}`
    this.#aliveMs = aliveMs
  }

  get isUp(): boolean {
    return this.#downSince === null
  }

  async start(): Promise<void> {
    await this.#live()
    this.#beat = setInterval(() => void this.#live().catch(() => {}), this.#aliveMs / 3)
    this.#beat.unref()
    this.#subscriber.on('message', (_topic: string, text: string) => this.#hear(text))
    this.#subscriber.on('close', () => {
      this.#downSince ??= Date.now()
    })
    // Whichever of the two comes back last.
    for (const redis of [this.#commands, this.#subscriber])
      redis.on('ready', () => void this.#subscribe())
    await this.#subscribe()
  }

  listen(news: AccountNews): void {
    this.#listeners.push(news)
  }

  async opened(account: string, connection: string, limit: number, place = ''): Promise<string> {
    const client = this.#commands as unknown as {
      // ioredis puts defined commands on the client, where TypeScript cannot see them.
      channelOpen(...args: (string | number)[]): Promise<string>
    }
    return orUnavailable(
      client.channelOpen(
        ...[`${this.#prefix}connections:${account}`, `${this.#prefix}process:`],
        ...[this.#process, connection, limit, place, this.#topic, account],
      ),
    )
  }

  async closed(account: string, connection: string): Promise<void> {
    const key = `${this.#prefix}connections:${account}`
    await orUnavailable(this.#commands.zrem(key, `${this.#process}/${connection}`))
  }

  async rotated(account: string, keySha256: string): Promise<void> {
    for (const news of this.#listeners) news.onRotated(account, keySha256)
    await orUnavailable(this.#commands.publish(this.#topic, `rotated ${account} ${keySha256}`))
  }

  async loggedOut(tokenId: string): Promise<void> {
    for (const news of this.#listeners) news.onLoggedOut(tokenId)
    await orUnavailable(this.#commands.publish(this.#topic, `logged_out ${tokenId}`))
  }

  async loggedOutEverywhere(wallet: string, generation: number): Promise<void> {
    for (const news of this.#listeners) news.onLoggedOutEverywhere(wallet, generation)
    await orUnavailable(
      this.#commands.publish(this.#topic, `logged_out_everywhere ${wallet} ${generation}`),
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#beat)
    await this.#commands.del(`${this.#prefix}process:${this.#process}`).catch(() => {})
    this.#subscriber.disconnect()
    this.#commands.disconnect()
  }

  async #live(): Promise<void> {
    const key = `${this.#prefix}process:${this.#process}`
    await orUnavailable(this.#commands.set(key, '1', 'PX', this.#aliveMs))
  }

  async #subscribe(): Promise<void> {
    try {
      if (this.#downSince !== null) await this.#live()
      // Last: nothing is between it and `isUp` in which it could be lost again unseen.
      await this.#subscriber.subscribe(this.#topic)
      const since = this.#downSince
      if (since === null) return
      this.#downSince = null
      for (const news of this.#listeners) news.onBack(since)
    } catch {
      // Lost again: the next connection tries again.
    }
  }

  #hear(text: string): void {
    const [kind, whose, what] = text.split(' ')
    if (whose === undefined) return
    for (const news of this.#listeners) {
      if (kind === 'logged_out') news.onLoggedOut(whose)
      else if (what === undefined) return
      else if (kind === 'rotated') news.onRotated(whose, what)
      else if (kind === 'logged_out_everywhere') news.onLoggedOutEverywhere(whose, Number(what))
      else if (kind === 'superseded') {
        const [process, connection] = what.split('/')
        if (process === this.#process && connection) news.onSuperseded(whose, connection)
      }
    }
  }
}

/**
 * KEYS: connections, prefix of processes. ARGV: process, connection, limit, place (or empty), topic, account. Gives the place. Connections of dead processes go
 * first, then the oldest.
 */
const OPEN = `
local place = ARGV[4]
if place == '' then
  local now = redis.call('TIME')
  place = now[1] .. string.format('%06d', now[2])
end
redis.call('ZADD', KEYS[1], place, ARGV[1] .. '/' .. ARGV[2])
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
return place`
