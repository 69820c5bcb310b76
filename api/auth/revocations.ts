import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Redis } from '../redis-connection.ts'
import { createMemorySet, createRedisSet, type ExpiringSet } from './expiring-set.ts'
import { CLOCK_SKEW_SECONDS, TOKEN_SECONDS } from './tokens.ts'

/** A token's id, and until when it is to be known as revoked: unix milliseconds. */
type Revoked = readonly [tokenId: string, until: number]

/**
 * Tokens that were taken back before their end, by id. Asked of memory, or of Redis where there are several processes, so that a logout holds everywhere at once; written
 * down in the store too, so that neither a restart nor the loss of Redis undoes it: what was written down is read again whenever Redis may have lost some of it, before
 * any token is taken for valid.
 */
export class Revocations {
  readonly #set: ExpiringSet
  readonly #store: Store
  readonly #logger: Logger
  readonly #now: () => number
  /** What the store has not taken yet. */
  readonly #unwritten = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #reading: Promise<void> | null = null
  /** How often the connection to Redis was lost, and how often it had been when all was last read. */
  #losses = 0
  #lossesAtRead = -1

  constructor(deps: {
    readonly store: Store
    readonly redis: Redis | null
    readonly logger: Logger
    readonly now: () => number
  }) {
    this.#store = deps.store
    this.#logger = deps.logger
    this.#now = deps.now
    const options = { limit: MOST, now: deps.now }
    this.#set =
      deps.redis === null
        ? createMemorySet(options)
        : createRedisSet(deps.redis, 'revoked-tokens', options)
    // Who answers next may be a replica, or have lost its last second.
    deps.redis?.on('close', () => {
      this.#losses++
    })
  }

  /** Reads what was written down; before the first question. */
  async start(): Promise<void> {
    await this.#read()
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#writeRest())
    }, EVERY_MS)
  }

  /** Writes what is left to write. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await this.#writeRest()
  }

  /** Rejects with `unavailable` when it cannot be told. */
  async has(tokenId: string): Promise<boolean> {
    for (let attempt = 0; attempt < 3; attempt++) {
      // The mark is asked for after the token, so that of a loss in between it is the mark that is missing.
      const [isRevoked, isWhole] = await Promise.all([this.#set.has(tokenId), this.#set.has(WHOLE)])
      if (isRevoked || (isWhole && this.#lossesAtRead === this.#losses)) return isRevoked
      await this.#read()
    }
    throw new ServiceError('unavailable', 'Redis loses what it is told', { retriable: true })
  }

  /** Rejects with `unavailable` when it may not hold everywhere, or not be written down yet, which is then tried again; may be repeated. */
  async add(tokenId: string): Promise<void> {
    const until = this.#now() + LONGEST_MS
    const [oldest] = this.#unwritten.keys()
    if (this.#unwritten.size >= MOST_UNWRITTEN && oldest !== undefined)
      this.#unwritten.delete(oldest)
    this.#unwritten.set(tokenId, until)
    const done = await Promise.allSettled([
      this.#set.add(tokenId, until),
      this.#write([[tokenId, until]]),
    ])
    for (const one of done) if (one.status === 'rejected') throw one.reason
  }

  /** Once at a time, whoever asks. */
  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readAll(): Promise<void> {
    const losses = this.#losses
    const unwritten = [...this.#unwritten]
    const rows = await this.#store.query<{ token_id: string; until: string }>(
      `SELECT token_id, toUnixTimestamp64Milli(max(forget_at)) AS until FROM revoked_tokens
       WHERE forget_at > fromUnixTimestamp64Milli({now:Int64}) GROUP BY token_id ORDER BY until LIMIT ${MOST}`,
      { now: this.#now() },
    )
    const written = rows.map(({ token_id, until }): Revoked => [token_id, Number(until)])
    const all = [...written, ...unwritten]
    for (let from = 0; from < all.length; from += AT_ONCE)
      await Promise.all(
        all.slice(from, from + AT_ONCE).map(([tokenId, until]) => this.#set.add(tokenId, until)),
      )
    await this.#set.add(WHOLE, this.#now() + LONGEST_MS)
    this.#lossesAtRead = losses
  }

  async #write(revoked: readonly Revoked[]): Promise<void> {
    const rows = revoked.map(([token_id, until]) => ({ token_id, forget_at: dateTime(until) }))
    await this.#store.insert('revoked_tokens', rows)
    for (const [tokenId] of revoked) this.#unwritten.delete(tokenId)
  }

  async #writeRest(): Promise<void> {
    if (this.#unwritten.size === 0) return
    try {
      await this.#write([...this.#unwritten])
    } catch {
      this.#logger.warn('revoked tokens are not written, trying again')
    }
  }
}

/** Stands in the set, where no token's id is like it, for as long as all that was written down does. */
const WHOLE = 'whole'
/** No token lives longer, also one issued by a clock that is ahead, and looked at by one that is behind. */
const LONGEST_MS = (TOKEN_SECONDS + 2 * CLOCK_SKEW_SECONDS) * 1000
const MOST = 1_000_000
const MOST_UNWRITTEN = 100_000
const AT_ONCE = 1000
const EVERY_MS = 10_000
