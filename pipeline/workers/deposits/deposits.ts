import type { Address } from '../../domain/address.ts'
import { type PaymentAddresses, PURPOSES } from '../../domain/payment.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { HistoryRpc, PaymentRpc, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../../store/store.ts'
import { type DepositAccount, DepositAccounts } from './deposit-accounts.ts'
import { DepositFinder } from './deposit-finder.ts'
import { readDepositHistory } from './deposit-history.ts'
import { accountsPaid, type DepositRow, depositRows } from './deposit-rows.ts'
import type { OnceEach } from './once-each.ts'

/** Payments to the service, in table `deposits` (rule E5). */
export interface DepositIndex {
  /** Stores what a confirmed transaction paid, if anything, as soon as the store takes it. What is lost on the way, `catchUp` finds. */
  note(transaction: Transaction, blockTime: number): void
  /**
   * Resolves when every deposit that was finalized when it was called is stored, finalized: with a number that is another whenever there may be one more than before, whoever stored it.
   * Of accounts that are not associated it reads 50 that may have got something; when strangers see to more of them, the rest are for the next runs.
   * Whoever asks while it runs, or soon after it, shares the next run. Rejects with a retriable `unavailable` when RPC or store do not answer; what was found until then stays.
   */
  catchUp(): Promise<number>
  /** Payment addresses and their known token accounts, for the stream: at most 100 in all. */
  accounts(): readonly Address[]
  /** Catches up now and then, so that a check has little to do. */
  start(): void
  close(): Promise<void>
}

export interface DepositIndexDeps {
  readonly store: Store
  readonly rpc: Pick<
    HistoryRpc & PaymentRpc & SolanaRpc,
    'getSignaturesForAddress' | 'getTransaction' | 'getTokenAmounts' | 'getBlocks'
  >
  readonly payments: PaymentAddresses
  /** The chain begins anew with each process, as a simulator's does: how far another process read is not heeded. */
  readonly startsAnew?: boolean
  readonly logger: Logger
  readonly now?: () => number
  readonly pollMs?: number
  /** A run begins so long after the one before began, at the soonest: however often it is asked for, RPC is asked that often. Default 1 s. */
  readonly restMs?: number
}

/**
 * Indexes payments. The stream brings them first; what is redeemed was read from finalized history over RPC: of the payment addresses and their token accounts of the mint,
 * associated or not, beyond what was read before. Rows are the same however often and by whom they are written.
 */
export function createDepositIndex(deps: DepositIndexDeps): DepositIndex {
  return new Index(deps)
}

interface PositionRow {
  readonly account: Address
  readonly owner: string
  readonly signature: string
  readonly slot: string
}

class Index implements DepositIndex {
  readonly #deps: DepositIndexDeps
  readonly #finder: DepositFinder
  readonly #accounts: DepositAccounts
  /** A slot that was finalized before the last run. */
  #at = 0
  #isLoaded = false
  #revision = 0
  #running: Promise<number> = Promise.resolve(0)
  #queued: Promise<number> | null = null
  #noted: DepositRow[] = []
  #storing: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<unknown> = Promise.resolve()
  readonly #closing = new AbortController()
  /** When the last run began, by the monotonic clock. */
  #ranAt = Number.NEGATIVE_INFINITY
  #failing = false

  constructor(deps: DepositIndexDeps) {
    this.#deps = deps
    this.#finder = new DepositFinder(deps, (transaction) => this.#touch(transaction, this.#at))
    this.#accounts = new DepositAccounts(deps.payments)
  }

  note(transaction: Transaction, blockTime: number): void {
    this.#touch(transaction, Math.max(transaction.slot, this.#at))
    const rows = depositRows(transaction, this.#deps.payments, blockTime, 0)
    // What it cannot tell is left to the finalized history.
    if (
      rows === null ||
      rows.length === 0 ||
      this.#noted.length >= MOST_NOTED ||
      this.#closing.signal.aborted
    )
      return
    this.#noted.push(...rows)
    this.#storing ??= this.#storeNoted().finally(() => {
      this.#storing = null
    })
  }

  accounts(): readonly Address[] {
    return this.#accounts.addresses(MOST_STREAMED)
  }

  catchUp(): Promise<number> {
    this.#queued ??= this.#running
      .catch(() => {})
      .then(() => this.#rest())
      .then(() => {
        this.#running = this.#queued ?? Promise.resolve(0)
        this.#queued = null
        return this.#run()
      })
    return this.#queued
  }

  start(): void {
    const { logger, pollMs = 10_000 } = this.#deps
    const poll = async () => {
      try {
        await this.catchUp()
        await this.#sweep()
        if (this.#failing) logger.info('deposits are read again')
        this.#failing = false
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        if (!this.#failing) logger.warn({ reason: error.message }, 'deposits cannot be read')
        this.#failing = true
      }
      if (!this.#closing.signal.aborted) this.#timer = setTimeout(poll, pollMs)
    }
    void poll()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await this.#storing
    await this.#running.catch(() => {})
    await this.#sweeping.catch(() => {})
  }

  async #storeNoted(): Promise<void> {
    while (this.#noted.length > 0) {
      const rows = this.#noted.splice(0)
      try {
        await this.#finder.insert(rows)
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        this.#deps.logger.debug({ reason: error.message }, 'deposits are left to the next reading')
      }
    }
  }

  async #rest(): Promise<void> {
    const { restMs = 1000 } = this.#deps
    const wait = this.#ranAt + restMs - performance.now()
    const { signal } = this.#closing
    if (wait > 0) await pause(wait, signal)
    this.#ranAt = performance.now()
  }

  async #run(): Promise<number> {
    if (this.#closing.signal.aborted)
      throw new ServiceError('closed', 'deposits are read no longer')
    await this.#load()
    const { rpc, payments } = this.#deps
    const slots = await Promise.all(
      PURPOSES.map(async (purpose) => {
        const { slot, amounts } = await rpc.getTokenAmounts(payments[purpose], payments.mint)
        this.#accounts.listed(purpose, amounts, slot)
        return slot
      }),
    )
    this.#at = Math.max(this.#at, Math.min(...slots))
    const looks = this.#finder.looks()
    const read = new Set<DepositAccount>()
    for (;;) {
      // What was looked at may have named further accounts.
      const unread = this.#accounts.due(MOST_OTHERS, read)
      if (unread.length === 0) return this.#revision
      for (const account of unread) read.add(account)
      await Promise.all(unread.map((account) => this.#read(account, looks)))
    }
  }

  /** Reads a few of the accounts that nothing is known to have come to, for what does not show. */
  async #sweep(): Promise<void> {
    const looks = this.#finder.looks()
    const some = this.#accounts.stalest(SWEPT_AT_ONCE)
    this.#sweeping = Promise.all(some.map((account) => this.#read(account, looks)))
    await this.#sweeping
  }

  async #load(): Promise<void> {
    const { store, payments, startsAnew = false } = this.#deps
    if (this.#isLoaded || startsAnew) return
    // Those of addresses that are paid no longer are left alone.
    const rows = await store.query<PositionRow>(
      `SELECT account, owner, signature, slot FROM deposit_positions FINAL
       WHERE owner IN {owners:Array(String)} ORDER BY slot DESC LIMIT ${MOST_RESTORED}`,
      { owners: PURPOSES.map((purpose) => payments[purpose]) },
    )
    for (const { account, owner, signature, slot } of rows) {
      const purpose = PURPOSES.find((purpose) => payments[purpose] === owner)
      const position = { signature, slot: Number(slot) }
      if (purpose !== undefined) this.#accounts.restore(account, purpose, position)
    }
    this.#isLoaded = true
  }

  /** Reads what is new of an account's finalized history, stores the deposits of it, then how far that went. */
  async #read(account: DepositAccount, looks: OnceEach): Promise<void> {
    const { store, rpc, payments } = this.#deps
    const { address, purpose, history } = account
    const read = await readDepositHistory(rpc, address, history, this.#at, async (infos) => {
      await this.#finder.look(infos, purpose, looks)
      if (infos.length > 0) this.#revision++
    })
    // The sweep, or a run that failed, may be reading it, too.
    if (read.position.slot < account.history.position.slot) return
    account.history = read
    const { stored } = account
    const { slot, signature } = read.position
    if (stored?.signature === signature && slot < stored.slot + STORED_EVERY_SLOTS) return
    const row = { account: address, owner: payments[purpose], signature, slot }
    await store.insert('deposit_positions', [row])
    account.stored = read.position
  }

  /** Accounts of the payment addresses that a transaction names may have got something by a slot. */
  #touch(transaction: Transaction, slot: number): void {
    for (const { address, purpose } of accountsPaid(transaction, this.#deps.payments))
      this.#accounts.touch(address, purpose, slot)
  }
}

/** Some ten minutes: how often it is stored of an account without transactions that there was none. */
const STORED_EVERY_SLOTS = 1500
/** Accounts besides the usual ones that a run reads, and that are read without cause after a run of `start`. */
const MOST_OTHERS = 50
const SWEPT_AT_ONCE = 10
/** Accounts that are restored at a start, and that the stream is asked for by name. */
const MOST_RESTORED = 1000
const MOST_STREAMED = 100
const MOST_NOTED = 10_000
