import pMap from 'p-map'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../pipeline/runtime/outage-log.ts'
import { repeat } from '../../pipeline/runtime/repeat.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { inTime } from '../../pipeline/store/timely-store.ts'
import { type Redis, replicated } from '../redis-connection.ts'
import { createMemorySet, createRedisSet, type ExpiringSet } from './expiring-set.ts'
import { RevocationTable } from './revocation-table.ts'
import { CLOCK_SKEW_SECONDS, type Session, TOKEN_SECONDS } from './session.ts'

/**
 * Dashboard tokens that were revoked before they expire: single tokens by id, or all tokens of a
 * wallet. A set in memory, or in Redis for several processes, makes a revocation effective
 * everywhere at once. Tables store it too, so that it survives a restart and the loss of Redis.
 * Whenever Redis may have lost entries, the tables are read again before any token is accepted.
 *
 * Tokens of a wallet have a generation. A logout everywhere starts the next generation and revokes
 * all earlier ones. No clock is compared: a token issued in the same millisecond after the logout
 * is valid, and a token issued before it by a process whose clock is ahead is revoked. A generation
 * is an increasing number: the unix milliseconds until which it is kept. By then every token of an
 * earlier generation has expired.
 */
export class Revocations {
  readonly #set: ExpiringSet
  readonly #redis: Redis | null
  /** Revoked tokens by id. */
  readonly #tokens: RevocationTable
  /** The current generation by wallet. */
  readonly #wallets: RevocationTable
  readonly #outage: OutageLog
  readonly #now: () => number
  readonly #waitMs: number
  #stopRepeating: () => Promise<void> = async () => {}
  #reading: Promise<void> | null = null
  /** Number of times the connection to Redis was lost, now and when the tables were last read. */
  #losses = 0
  #lossesAtRead = -1

  constructor(deps: {
    readonly store: Store
    readonly redis: Redis | null
    readonly logger: Logger
    readonly now: () => number
    /** How long a request waits for the store to accept its row, in milliseconds. */
    readonly waitMs: number
  }) {
    const { store, redis, logger, now, waitMs } = deps
    this.#waitMs = waitMs
    this.#redis = redis
    this.#tokens = new RevocationTable(store, 'revoked_tokens')
    this.#wallets = new RevocationTable(store, 'token_generations')
    this.#outage = createOutageLog(
      logger,
      'revoked tokens could not be stored; will retry',
      'revoked tokens are stored again',
    )
    this.#now = now
    const options = { limit: MOST, now }
    this.#set =
      redis === null ? createMemorySet(options) : createRedisSet(redis, 'revoked-tokens', options)
    // After a reconnect, Redis may be a replica, or may have lost its last second of writes.
    redis?.on('close', () => {
      this.#losses++
    })
  }

  /** Reads the tables. Call it before any other method. */
  async start(): Promise<void> {
    await this.#read()
    this.#stopRepeating = repeat(EVERY_MS, () => this.#writeRest())
  }

  /** Writes the rows that the store has not accepted yet. */
  async stop(): Promise<void> {
    await this.#stopRepeating()
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
   * Returns the generation for new tokens of a wallet. Rejects with `unavailable` when it is
   * unknown.
   */
  generationOf(wallet: string): Promise<number> {
    return this.#ask(
      () => this.#set.untilOf(wallet),
      () => false,
    )
  }

  /**
   * Returns a generation after the current one of a wallet, for `begin`. Rejects with
   * `unavailable`.
   */
  async nextGeneration(wallet: string): Promise<number> {
    return Math.max(this.#now() + LONGEST_MS, (await this.generationOf(wallet)) + 1)
  }

  /**
   * Revokes a token; idempotent. Rejects with `unavailable` when the revocation may not be in force
   * in every process, or is not stored yet. Storing is retried.
   */
  add(tokenId: string): Promise<void> {
    return this.#put(this.#tokens, tokenId, this.#now() + LONGEST_MS)
  }

  /** Revokes every token of a wallet with an earlier generation. Rejects as `add` does. */
  begin(wallet: string, generation: number): Promise<void> {
    return this.#put(this.#wallets, wallet, generation)
  }

  async #put(table: RevocationTable, text: string, until: number): Promise<void> {
    const done = await Promise.allSettled([
      this.#share(text, until),
      inTime(table.put(text, until), this.#waitMs), // the table retries after that
    ])
    for (const one of done) if (one.status === 'rejected') throw one.reason
  }

  /** Puts a revocation in force in every process, also after a failover of Redis. */
  async #share(text: string, until: number): Promise<void> {
    await this.#set.add(text, until)
    if (this.#redis !== null) await replicated(this.#redis)
  }

  /**
   * Runs `ask`, which reads the set. If the set may have lost entries, the tables are read first,
   * unless the result is final in any case.
   */
  async #ask<T>(ask: () => Promise<T>, isFinal: (answer: T) => boolean): Promise<T> {
    for (let attempt = 0; attempt < 3; attempt++) {
      // The mark is read last: if entries are lost in between, the mark is lost too.
      const [answer, isWhole] = await Promise.all([ask(), this.#set.has(WHOLE)])
      if (isFinal(answer) || (isWhole && this.#lossesAtRead === this.#losses)) return answer
      await this.#read()
    }
    throw new ServiceError('unavailable', 'Redis loses entries')
  }

  /** Reads the tables, once for all callers that wait. */
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
      this.#outage.worked()
    } catch {
      this.#outage.failed()
    }
  }
}

/**
 * A mark in the set: its presence says that the set holds every row of the tables. No token id or
 * wallet is equal to it.
 */
const WHOLE = 'whole'
/**
 * The longest life of a token, including one whose issuer's clock is ahead and whose verifier's
 * clock is behind.
 */
const LONGEST_MS = (TOKEN_SECONDS + 2 * CLOCK_SKEW_SECONDS) * 1000
const MOST = 1_000_000
const AT_ONCE = 1000
const EVERY_MS = 10_000
