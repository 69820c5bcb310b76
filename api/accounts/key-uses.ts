import type { Logger } from '../../pipeline/runtime/logger.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Account } from '../credits/meter.ts'

/**
 * When accounts last used their keys: kept in memory, and written every ten seconds for those that
 * were seen in them, never for a request.
 */
export class KeyUses {
  readonly #store: Store
  readonly #logger: Logger
  readonly #now: () => number
  /** Not written yet: account to unix milliseconds. */
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
    // Beyond the bound it is forgotten when others were used: the store is away, and memory has an
    // end.
    if (this.#seen.size < MOST || this.#seen.has(account)) this.#seen.set(account, this.#now())
  }

  /**
   * Unix milliseconds; null when it never was. Uses in other processes may be ten seconds behind.
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

  /** Writes what is left to write. */
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
      // Until then whoever asks is told from here.
      for (const [account, at] of seen)
        if (this.#seen.get(account) === at) this.#seen.delete(account)
    } catch {
      this.#logger.warn('uses of keys are not written, trying again')
    }
  }
}

const EVERY_MS = 10_000
const MOST = 100_000
