import type { Store } from '../pipeline/store/store.ts'
import { inTime } from '../pipeline/store/timely-store.ts'
import { FairQueue } from './fair-queue.ts'

/** Limits of the reads of one account. */
export interface FairReadsOptions {
  /** Queries of one account at the same time; 0: no limit, and no queue. */
  readonly perAccount: number
  /** Timeout of a query in milliseconds, with its wait in the queue. */
  readonly timeoutMs: number
}

/**
 * Reads of the store on behalf of accounts, for responses and for the history of the feed. Queries
 * wait in a fair queue, so that an account with many cache misses does not delay others. Reads
 * shared by all accounts (metrics, changed positions, newest swaps) bypass it.
 */
export class FairReads {
  readonly #store: Store
  readonly #timeoutMs: number
  readonly #queue: FairQueue | null
  /** Responses that are being computed, by cache key. */
  readonly #inFlight = new Map<string, SharedRead>()
  /** For whom a store reads. */
  readonly #sharedBy = new WeakMap<Store, SharedRead>()

  constructor(store: Store, { perAccount, timeoutMs }: FairReadsOptions) {
    this.#store = store
    this.#timeoutMs = timeoutMs
    const atOnce = Math.max(perAccount, QUERIES_AT_ONCE)
    // The embedded engine runs one query at a time: others wait in this queue, which is fair.
    const bounds = store.kind === 'chdb' ? { atOnce: 1, perAccount: 1 } : { atOnce, perAccount }
    this.#queue = perAccount === 0 ? null : new FairQueue(bounds)
  }

  /** The store for reads of this account alone. */
  storeOf(account: string): Store {
    return this.#storeOf({ accounts: new Set([account]), join: () => {} })
  }

  /** The store for a read on behalf of the accounts of several stores: the first that is next. */
  storeOfAll(stores: readonly Store[]): Store {
    const members = stores.flatMap((store) => this.#sharedBy.get(store) ?? [])
    const accounts = new Set(members.flatMap((member) => [...member.accounts]))
    const shared: SharedRead = { accounts, join: () => {} }
    for (const member of members) member.join = (account) => shared.join(account)
    return this.#storeOf(shared)
  }

  /** Computes the response of a cache key with the account's store. */
  async answer<T>(account: string, key: string, make: (store: Store) => Promise<T>): Promise<T> {
    const shared: SharedRead = { accounts: new Set([account]), join: () => {} }
    this.#inFlight.set(key, shared)
    try {
      return await make(this.#storeOf(shared))
    } finally {
      if (this.#inFlight.get(key) === shared) this.#inFlight.delete(key)
    }
  }

  /** Another account waits for the same response: its query runs when any of them is next. */
  join(account: string, key: string): void {
    const shared = this.#inFlight.get(key)
    if (shared === undefined || shared.accounts.has(account)) return
    shared.accounts.add(account)
    shared.join(account)
  }

  #storeOf(shared: SharedRead): Store {
    const query: Store['query'] = (sql, params, columns) =>
      this.#query(shared, () => this.#store.query(sql, params, columns))
    const own = { ...this.#store, query }
    this.#sharedBy.set(own, shared)
    return own
  }

  async #query<Row>(shared: SharedRead, read: () => Promise<Row[]>): Promise<Row[]> {
    if (this.#queue === null) return inTime(read(), this.#timeoutMs)
    let isOver = false
    const entered = this.#queue.enter(shared.accounts, read, () => isOver)
    shared.join = entered.join
    try {
      return (await inTime(entered.done, this.#timeoutMs)) ?? [] // null only after the timeout
    } finally {
      isOver = true
    }
  }
}

/** A read, and the accounts that wait for it. */
interface SharedRead {
  readonly accounts: Set<string>
  join(account: string): void
}

/** Concurrent queries of all accounts on a ClickHouse server. */
const QUERIES_AT_ONCE = 8
