import type { Store } from '../pipeline/store/store.ts'
import { inTime } from '../pipeline/store/timely-store.ts'
import { FairQueue } from './fair-queue.ts'

export interface FairReadsOptions {
  /** Queries of one account at the same time; 0: no limit, and no queue. */
  readonly perAccount: number
  /** How long a query may take, the wait for its turn included, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * The store as it is read for one account, for answers and for the feed's history: queries wait in
 * a fair queue, so that one account that asks for much that no cache has delays no other. Readers
 * that all accounts share (metrics, news, newest swaps) do not go through it.
 */
export class FairReads {
  readonly #store: Store
  readonly #timeoutMs: number
  readonly #queue: FairQueue | null
  /** Answers that are being made, by key. */
  readonly #underWay = new Map<string, Reading>()

  constructor(store: Store, { perAccount, timeoutMs }: FairReadsOptions) {
    this.#store = store
    this.#timeoutMs = timeoutMs
    const atOnce = Math.max(perAccount, QUERIES_AT_ONCE)
    // The embedded engine runs one query at a time: others wait here, where their order is chosen.
    const bounds = store.kind === 'chdb' ? { atOnce: 1, perAccount: 1 } : { atOnce, perAccount }
    this.#queue = perAccount === 0 ? null : new FairQueue(bounds)
  }

  /** The store for what is read for this account alone. */
  storeOf(account: string): Store {
    return this.#storeOf({ accounts: new Set([account]), join: () => {} })
  }

  /** Makes the answer of a key for an account, of the store as the account reads it. */
  async answer<T>(account: string, key: string, make: (store: Store) => Promise<T>): Promise<T> {
    const reading: Reading = { accounts: new Set([account]), join: () => {} }
    this.#underWay.set(key, reading)
    try {
      return await make(this.#storeOf(reading))
    } finally {
      if (this.#underWay.get(key) === reading) this.#underWay.delete(key)
    }
  }

  /** Another account waits for the same answer: it is read in the first turn of any of them. */
  join(account: string, key: string): void {
    const reading = this.#underWay.get(key)
    if (reading === undefined || reading.accounts.has(account)) return
    reading.accounts.add(account)
    reading.join(account)
  }

  #storeOf(reading: Reading): Store {
    const query: Store['query'] = (sql, params, columns) =>
      this.#query(reading, () => this.#store.query(sql, params, columns))
    return { ...this.#store, query }
  }

  async #query<Row>(reading: Reading, read: () => Promise<Row[]>): Promise<Row[]> {
    if (this.#queue === null) return inTime(read(), this.#timeoutMs)
    let isOver = false
    const entered = this.#queue.enter(reading.accounts, read, () => isOver)
    reading.join = entered.join
    try {
      return (await inTime(entered.done, this.#timeoutMs)) ?? [] // null only after the time-out
    } finally {
      isOver = true
    }
  }
}

interface Reading {
  readonly accounts: Set<string>
  join(account: string): void
}

/** Of all accounts, with a server. */
const QUERIES_AT_ONCE = 8
