import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Redis } from '../redis-connection.ts'
import { createMemorySet, createRedisSet, type ExpiringSet } from './expiring-set.ts'
import { TOKEN_SECONDS } from './tokens.ts'

/**
 * Tokens that were taken back before their end, by id. Asked of memory, or of Redis where there are several processes, so that a logout holds everywhere at once; written
 * down in the store too, so that neither a restart nor the loss of Redis undoes it.
 */
export class Revocations {
  readonly #set: ExpiringSet
  readonly #store: Store
  readonly #now: () => number

  constructor(deps: { readonly store: Store; readonly redis: Redis | null; now: () => number }) {
    this.#store = deps.store
    this.#now = deps.now
    const options = { limit: MOST, now: deps.now }
    this.#set =
      deps.redis === null
        ? createMemorySet(options)
        : createRedisSet(deps.redis, 'revoked-tokens', options)
  }

  /** Reads what was written down; before the first question. */
  async start(): Promise<void> {
    const rows = await this.#store.query<{ token_id: string; until: string }>(
      `SELECT token_id, toUnixTimestamp64Milli(max(forget_at)) AS until FROM revoked_tokens
       WHERE forget_at > fromUnixTimestamp64Milli({now:Int64}) GROUP BY token_id ORDER BY until LIMIT ${MOST}`,
      { now: this.#now() },
    )
    for (let from = 0; from < rows.length; from += AT_ONCE)
      await Promise.all(
        rows
          .slice(from, from + AT_ONCE)
          .map(({ token_id, until }) => this.#set.add(token_id, Number(until))),
      )
  }

  has(tokenId: string): Promise<boolean> {
    return this.#set.has(tokenId)
  }

  /** Rejects with `unavailable` when it may not hold everywhere, or for good; may be repeated. */
  async add(tokenId: string): Promise<void> {
    // No token lives longer, so this one has ended by then.
    const until = this.#now() + TOKEN_SECONDS * 1000
    await this.#set.add(tokenId, until)
    await this.#store.insert('revoked_tokens', [{ token_id: tokenId, forget_at: dateTime(until) }])
  }
}

const MOST = 1_000_000
const AT_ONCE = 1000
