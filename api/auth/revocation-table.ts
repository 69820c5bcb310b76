import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** A revoked token or wallet, and until when the revocation is kept, in unix milliseconds. */
export type Revoked = readonly [text: string, until: number]

/** The column that identifies what a row of each table revokes. */
const COLUMNS = { revoked_tokens: 'token_id', token_generations: 'wallet' } as const

/**
 * A table of revocations with the columns `column` and `forget_at`. Rows that the store does not
 * accept are kept in memory, at most `MOST_UNWRITTEN`, and written later.
 */
export class RevocationTable {
  readonly #store: Store
  readonly #name: string
  readonly #column: string
  readonly #unwritten = new Map<string, number>()

  constructor(store: Store, name: keyof typeof COLUMNS) {
    this.#store = store
    this.#name = name
    this.#column = COLUMNS[name]
  }

  /** Stores a row. Rejects if the store does not accept it; `writeRest` then retries. */
  async put(text: string, until: number): Promise<void> {
    const [oldest] = this.#unwritten.keys()
    if (this.#unwritten.size >= MOST_UNWRITTEN && oldest !== undefined)
      this.#unwritten.delete(oldest)
    this.#unwritten.set(text, until)
    await this.#write([[text, until]])
  }

  async writeRest(): Promise<void> {
    if (this.#unwritten.size > 0) await this.#write([...this.#unwritten])
  }

  /**
   * Returns the revocations in force at `now`, oldest first: at most `limit` stored rows, then
   * those that are not stored yet.
   */
  async read(now: number, limit: number): Promise<Revoked[]> {
    const unwritten = [...this.#unwritten]
    const rows = await this.#store.query<{ text: string; until: string }>(
      `SELECT ${this.#column} AS text, toUnixTimestamp64Milli(max(forget_at)) AS until FROM ${this.#name}
       WHERE forget_at > fromUnixTimestamp64Milli({now:Int64}) GROUP BY ${this.#column} ORDER BY until LIMIT {limit:UInt32}`,
      { now, limit },
    )
    return [...rows.map(({ text, until }): Revoked => [text, Number(until)]), ...unwritten]
  }

  async #write(revoked: readonly Revoked[]): Promise<void> {
    const rows = revoked.map(([text, until]) => ({
      [this.#column]: text,
      forget_at: dateTime(until),
    }))
    await this.#store.insert(this.#name, rows)
    for (const [text, until] of revoked)
      if (this.#unwritten.get(text) === until) this.#unwritten.delete(text)
  }
}

const MOST_UNWRITTEN = 100_000
