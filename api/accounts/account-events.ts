import { randomInt } from 'node:crypto'
import { batches } from '../../pipeline/runtime/batches.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { inTime } from '../../pipeline/store/timely-store.ts'
import { ACCOUNT_WALLETS } from './accounts.ts'
import { type CountedEvent, EventCounts } from './event-counts.ts'

/** Events that only the owner of an account can cause. */
export type OwnEventKind =
  | 'signed_in'
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'key_created'
  | 'key_rotated'
  | 'key_deleted'
  | 'session_revoked'
  | 'webhook_created'
  | 'webhook_deleted'
  | 'webhook_secret_rotated'

/**
 * Events that unauthenticated clients can cause: invalid signatures, and uses of a replaced,
 * deleted or expired key.
 */
export type CountedEventKind = 'sign_in_failed' | 'key_refused'

/** A position in the events of a wallet, which are ordered by time and id. */
export interface EventPosition {
  /** Unix milliseconds. */
  readonly at: number
  readonly id: number
}

export interface AccountEvent extends EventPosition {
  readonly kind: OwnEventKind | CountedEventKind
  readonly network: string
  readonly count: number
}

/**
 * Security events of accounts. They are kept in memory and written in batches: those of `add` every
 * second, those of `count` every ten. So no request waits for the store, or fails because of it.
 * While the store does not answer, at most `MOST_KEPT` events wait; the oldest are dropped.
 */
export class AccountEvents {
  readonly #store: Store
  readonly #logger: Logger
  readonly #now: () => number
  readonly #onDropped: () => void
  /** Not stored yet, oldest first. */
  #added: CountedEvent[] = []
  readonly #counts = new EventCounts(MOST_COUNTS, newId)
  /** Wallets of counted events that are known to have an account. */
  #accounts = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #ticks = 0
  #writing: Promise<void> = Promise.resolve()
  /** Writes that run or wait. */
  #writes = 0

  /** `onDropped` is called for each event that is dropped because the buffer is full. */
  constructor(deps: {
    readonly store: Store
    readonly logger: Logger
    readonly now: () => number
    readonly onDropped: () => void
  }) {
    this.#store = deps.store
    this.#logger = deps.logger
    this.#now = deps.now
    this.#onDropped = deps.onDropped
  }

  /** Adds an event of an account. `network`: see `networkOf`. */
  add(wallet: string, kind: OwnEventKind, network: string): void {
    if (this.#added.length >= MOST_KEPT) {
      this.#added.shift()
      this.#onDropped()
    }
    this.#added.push({ wallet, kind, network, at: this.#now(), id: newId(), count: 1 })
  }

  /**
   * Counts an event that unauthenticated clients can cause. The writer drops events of wallets
   * without an account.
   */
  count(wallet: string, kind: CountedEventKind, network: string): void {
    if (!this.#counts.count(wallet, kind, network, this.#now())) this.#onDropped()
  }

  /**
   * Returns the newest events of a wallet before a position, or from the newest if it is null.
   * Events of this process are included at once, those of other processes up to ten seconds later.
   * Rejects with `unavailable`.
   */
  async list(wallet: string, before: EventPosition | null, limit: number): Promise<AccountEvent[]> {
    if (this.#added.some((event) => event.wallet === wallet) || this.#counts.hasUnwritten(wallet))
      await inTime(this.#write(true), WAIT_MS)
    const now = this.#now()
    const rows = await this.#store.query<Omit<AccountEvent, 'at'> & { readonly at_ms: string }>(
      `SELECT toUnixTimestamp64Milli(at) AS at_ms, id, kind, network, count FROM account_events FINAL
       WHERE wallet = {wallet:String} AND at > fromUnixTimestamp64Milli({since:Int64})
         AND (at, id) < (fromUnixTimestamp64Milli({at:Int64}), {id:UInt32})
       ORDER BY at DESC, id DESC LIMIT {limit:UInt32}`,
      { wallet, since: now - KEPT_MS, ...(before ?? { at: now + KEPT_MS, id: 0 }), limit },
    )
    return rows.map(({ at_ms, ...row }) => ({ ...row, at: Number(at_ms) }))
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#ticks++
      if (this.#writes === 0) void this.#write(this.#ticks % TICKS_OF_COUNTS === 0)
    }, EVERY_MS)
  }

  /** Writes the remaining events. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#write(true)
  }

  /**
   * Runs one write at a time. Never rejects: events that were not stored stay for the next write.
   */
  #write(withCounts: boolean): Promise<void> {
    const write = async () => {
      try {
        await this.#writeAll(withCounts)
      } catch {
        this.#logger.debug('account events could not be stored; will retry')
      } finally {
        this.#writes--
      }
    }
    this.#writes++
    this.#writing = this.#writing.then(write)
    return this.#writing
  }

  async #writeAll(withCounts: boolean): Promise<void> {
    const added = this.#added.slice()
    const counted = withCounts ? await this.#ofAccounts(this.#counts.unwritten()) : []
    if (added.length + counted.length === 0) return
    await this.#store.insert('account_events', [...added, ...counted].map(rowOf))
    const stored = new Set(added)
    this.#added = this.#added.filter((event) => !stored.has(event))
    this.#counts.wrote(counted, this.#now())
  }

  /** Returns the events of wallets that have an account, and forgets the counts of all others. */
  async #ofAccounts(events: readonly CountedEvent[]): Promise<CountedEvent[]> {
    const all = [...new Set(events.map(({ wallet }) => wallet))]
    const wallets = all.filter((wallet) => !this.#accounts.has(wallet))
    if (this.#accounts.size > MOST_COUNTS) this.#accounts = new Set()
    const known = new Set(this.#accounts)
    for (const some of batches(wallets, AT_ONCE)) {
      const rows = await this.#store.query<{ wallet: string }>(
        `${ACCOUNT_WALLETS} WHERE wallet IN {wallets:Array(String)}`,
        { wallets: some },
      )
      for (const { wallet } of rows) known.add(wallet)
    }
    this.#accounts = known
    this.#counts.forget(new Set(wallets.filter((wallet) => !known.has(wallet))))
    return events.filter(({ wallet }) => known.has(wallet))
  }
}

function newId(): number {
  return randomInt(2 ** 32)
}

function rowOf({ wallet, kind, network, at, id, count }: CountedEvent): Row {
  return { wallet, at: dateTime(at), id, kind, network, count }
}

/** How long the table keeps a row, as `sql/0131_account_events.sql` says. */
const KEPT_MS = 90 * 86_400_000
const EVERY_MS = 1000
/** How long a reader waits until events of this process are stored. */
const WAIT_MS = 5000
const TICKS_OF_COUNTS = 10
const MOST_KEPT = 10_000
const MOST_COUNTS = 10_000
const AT_ONCE = 1000
