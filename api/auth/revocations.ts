import pMap from 'p-map'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { inTime } from '../../pipeline/store/timely-store.ts'
import type { Redis } from '../redis-connection.ts'
import { createMemorySet, createRedisSet, type ExpiringSet } from './expiring-set.ts'
import { RevocationTable } from './revocation-table.ts'
import { CLOCK_SKEW_SECONDS, type Session, TOKEN_SECONDS } from './session.ts'

/**
 * Dashboard tokens that were revoked before their end: one by one, by id, or all tokens of a
 * wallet. The set in memory, or in Redis where there are several processes, makes a revocation hold
 * everywhere at once. Tables keep it too, so that neither a restart nor the loss of Redis undoes
 * it: they are read again whenever Redis may have lost entries, before any token is accepted.
 *
 * A wallet's tokens belong to generations. "Sign out everywhere" begins the next one and revokes
 * all earlier ones, so no clock is compared: a token that is issued in the same millisecond after
 * it is valid, and one that was issued by a process whose clock is ahead is not. A generation is a
 * number that only rises, the unix milliseconds until which it is remembered: by then every token
 * of an earlier generation has expired.
 */
export class Revocations {
  readonly #set: ExpiringSet
  /** Revoked tokens by id. */
  readonly #tokens: RevocationTable
  /** The current generation by wallet. */
  readonly #wallets: RevocationTable
  readonly #logger: Logger
  readonly #now: () => number
  readonly #waitMs: number
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #reading: Promise<void> | null = null
  /**
   * How often the connection to Redis was lost, and how often it had been when the tables were last
   * read.
   */
  #losses = 0
  #lossesAtRead = -1

  constructor(deps: {
    readonly store: Store
    readonly redis: Redis | null
    readonly logger: Logger
    readonly now: () => number
    /** How long a request waits for the store to take its row, in milliseconds. */
    readonly waitMs: number
  }) {
    const { store, redis, logger, now, waitMs } = deps
    this.#waitMs = waitMs
    this.#tokens = new RevocationTable(store, { name: 'revoked_tokens', column: 'token_id' })
    this.#wallets = new RevocationTable(store, { name: 'token_generations', column: 'wallet' })
    this.#logger = logger
    this.#now = now
    const options = { limit: MOST, now }
    this.#set =
      redis === null ? createMemorySet(options) : createRedisSet(redis, 'revoked-tokens', options)
    // The server that answers next may be a replica, or have lost its last second.
    redis?.on('close', () => {
      this.#losses++
    })
  }

  /** Reads the tables; before the first question. */
  async start(): Promise<void> {
    await this.#read()
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#writeRest())
    }, EVERY_MS)
  }

  /** Writes the rows that the store has not taken yet. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await this.#writeRest()
  }

  /** Whether a token was revoked. Rejects with `unavailable` when that is unknown. */
  has({ tokenId, wallet, generation }: Omit<Session, 'expiresAt'>): Promise<boolean> {
    return this.#ask(
      async () => {
        const [isRevoked, current] = await Promise.all([
          this.#set.has(tokenId),
          this.#set.untilOf(wallet),
        ])
        return isRevoked || generation < current
      },
      (isRevoked) => isRevoked,
    )
  }

  /**
   * The generation of the tokens that are issued to a wallet now. Rejects with `unavailable` when
   * it is unknown.
   */
  generationOf(wallet: string): Promise<number> {
    return this.#ask(
      () => this.#set.untilOf(wallet),
      () => false,
    )
  }

  /** A generation after the current one of a wallet, for `begin`. Rejects with `unavailable`. */
  async nextGeneration(wallet: string): Promise<number> {
    return Math.max(this.#now() + LONGEST_MS, (await this.generationOf(wallet)) + 1)
  }

  /**
   * Revokes a token. Rejects with `unavailable` when it may not hold everywhere, or is not stored
   * yet, which is retried; may be repeated.
   */
  add(tokenId: string): Promise<void> {
    return this.#put(this.#tokens, tokenId, this.#now() + LONGEST_MS)
  }

  /** Revokes every token of a wallet that is of an earlier generation. Rejects as `add` does. */
  begin(wallet: string, generation: number): Promise<void> {
    return this.#put(this.#wallets, wallet, generation)
  }

  async #put(table: RevocationTable, text: string, until: number): Promise<void> {
    const done = await Promise.allSettled([
      this.#set.add(text, until),
      inTime(table.put(text, until), this.#waitMs), // the table goes on with it
    ])
    for (const one of done) if (one.status === 'rejected') throw one.reason
  }

  /**
   * What `ask` reads of the set; where the set may have lost entries the tables are read first,
   * unless the answer is final without them.
   */
  async #ask<T>(ask: () => Promise<T>, isFinal: (answer: T) => boolean): Promise<T> {
    for (let attempt = 0; attempt < 3; attempt++) {
      // The mark is asked for last: when entries are lost in between, the mark is missing too.
      const [answer, isWhole] = await Promise.all([ask(), this.#set.has(WHOLE)])
      if (isFinal(answer) || (isWhole && this.#lossesAtRead === this.#losses)) return answer
      await this.#read()
    }
    throw new ServiceError('unavailable', 'Redis loses entries', { retriable: true })
  }

  /** One reading at a time, shared by all who wait for it. */
  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readAll(): Promise<void> {
    const losses = this.#losses
    const now = this.#now()
    const tables = [this.#tokens, this.#wallets]
    const all = (await Promise.all(tables.map((table) => table.read(now, MOST)))).flat()
    await pMap(all, ([text, until]) => this.#set.add(text, until), { concurrency: AT_ONCE })
    await this.#set.add(WHOLE, now + LONGEST_MS)
    this.#lossesAtRead = losses
  }

  async #writeRest(): Promise<void> {
    try {
      await this.#tokens.writeRest()
      await this.#wallets.writeRest()
    } catch {
      this.#logger.warn('revoked tokens are not stored, trying again')
    }
  }
}

/** A member of the set that no token id or wallet equals: the set holds every row of the tables. */
const WHOLE = 'whole'
/**
 * No token lives longer, also one issued by a clock that is ahead and verified by one that is
 * behind.
 */
const LONGEST_MS = (TOKEN_SECONDS + 2 * CLOCK_SKEW_SECONDS) * 1000
const MOST = 1_000_000
const AT_ONCE = 1000
const EVERY_MS = 10_000
