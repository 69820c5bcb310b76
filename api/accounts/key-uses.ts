import type { Logger } from '../../pipeline/runtime/logger.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Account } from '../credits/meter.ts'

/**
 * When each account last used its key. Uses are kept in memory and written every ten seconds, never
 * during a request.
 */
export class KeyUses {
  readonly #store: Store
  readonly #logger: Logger
  readonly #now: () => number
  /** Uses not written yet: account to unix milliseconds. */
  #seen = new Map<Account, number>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(deps: {
    readonly store: Store
    readonly logger: Logger
    readonly now: () => number
  }) {
    this.#store = deps.store
    this.#logger = deps.logger
    this.#now = deps.now
  }

  mark(account: Account): void {
    // At the bound, uses of further accounts are dropped: the store is down, and memory is bounded.
    if (this.#seen.size < MOST || this.#seen.has(account)) this.#seen.set(account, this.#now())
  }

  /**
   * Returns unix milliseconds, or null if the key was never used. Uses in other processes may
   * arrive ten seconds late.
   */
  async lastUsed(account: Account): Promise<number | null> {
    const [row] = await this.#store.query<{ at: string }>(
      'SELECT toUnixTimestamp64Milli(max(used_at)) AS at FROM key_uses WHERE wallet = {account:String}',
      { account },
    )
    return Math.max(Number(row?.at ?? 0), this.#seen.get(account) ?? 0) || null
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#write())
    }, EVERY_MS)
  }

  /** Stops the timer and stores the key uses that are still in memory. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    await this.#write()
  }

  async #write(): Promise<void> {
    if (this.#seen.size === 0) return
    const seen = [...this.#seen]
    try {
      const rows = seen.map(([wallet, at]) => ({ wallet, used_at: dateTime(at) }))
      await this.#store.insert('key_uses', rows)
      // Until they are stored, reads are answered from memory.
      for (const [account, at] of seen)
        if (this.#seen.get(account) === at) this.#seen.delete(account)
    } catch {
      this.#logger.warn('key uses could not be stored; will retry')
    }
  }
}

const EVERY_MS = 10_000
const MOST = 100_000
