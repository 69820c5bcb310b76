import type { Address } from '../../domain/address.ts'
import { type PaymentAddresses, PURPOSES } from '../../domain/payment.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { HistoryRpc, PaymentRpc, SolanaRpc } from '../../ingest/rpc/solana-rpc.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createOutageLog } from '../../runtime/outage-log.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../../store/store.ts'
import { type DepositAccount, DepositAccounts } from './deposit-accounts.ts'
import { DepositFinder } from './deposit-finder.ts'
import { readDepositHistory } from './deposit-history.ts'
import { readPositions, storePosition } from './deposit-positions.ts'
import { accountsPaid, depositRows } from './deposit-rows.ts'
import type { OncePerKey } from './once-per-key.ts'
import { StreamedDeposits } from './streamed-deposits.ts'

/** Dependencies of the index. */
export interface DepositIndexDeps {
  readonly store: Store
  readonly rpc: Pick<
    HistoryRpc & PaymentRpc & SolanaRpc,
    'getSignaturesForAddress' | 'getTransaction' | 'getTokenAmounts' | 'getBlocks'
  >
  readonly payments: PaymentAddresses
  /**
   * Whether the chain begins with each process, as a simulator's does. Stored positions are
   * ignored.
   */
  readonly startsAnew?: boolean
  readonly logger: Logger
  /** Milliseconds of the wall clock. */
  readonly now?: () => number
  /** Interval of `start`; 10 s by default. */
  readonly pollMs?: number
  /** Minimum time between the starts of two runs, which bounds requests to RPC; 1 s by default. */
  readonly restMs?: number
}

/** Maximum number of accounts, other than the usual ones, that one run reads. */
const MOST_OTHERS = 50
/** Accounts that are read without cause after each interval of `start`. */
const SWEPT_AT_ONCE = 10
/** Maximum number of accounts that the stream subscribes to by name. */
const MOST_STREAMED = 100

/**
 * Payments to the service, kept in table `deposits` (rule E5).
 *
 * The stream reports payments first; what may be redeemed is read from finalized
 * history over RPC. The index reads the payment addresses and their token accounts of the mint,
 * associated or not, beyond what was read before. Rows are the same however often and by whichever
 * process they are written.
 */
export class DepositIndex {
  readonly #deps: DepositIndexDeps
  readonly #finder: DepositFinder
  readonly #accounts: DepositAccounts
  readonly #streamed: StreamedDeposits
  readonly #closing = new AbortController()
  /** A slot that was finalized before the last run. */
  #finalizedSlot = 0
  #isLoaded = false
  /** Counts the times that new transactions were indexed. */
  #revision = 0
  #running: Promise<number> = Promise.resolve(0)
  #queued: Promise<number> | null = null
  #sweeping: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  /** When the last run began, by the monotonic clock. */
  #ranAt = Number.NEGATIVE_INFINITY

  constructor(deps: DepositIndexDeps) {
    this.#deps = deps
    this.#accounts = new DepositAccounts(deps.payments)
    this.#finder = new DepositFinder(deps, (transaction) =>
      this.#touch(transaction, this.#finalizedSlot),
    )
    this.#streamed = new StreamedDeposits((rows) => this.#finder.insert(rows), deps.logger)
  }

  /** Stores what a confirmed transaction paid, soon. `catchUp` finds what is lost on the way. */
  note(transaction: Transaction, blockTime: number): void {
    this.#touch(transaction, Math.max(transaction.slot, this.#finalizedSlot))
    // Null: the payment cannot be read. That is left to the finalized history.
    const rows = depositRows(transaction, this.#deps.payments, blockTime, 0)
    if (rows !== null) this.#streamed.add(rows)
  }

  /** Returns the payment addresses and their known token accounts, at most 100, to subscribe to. */
  accounts(): readonly Address[] {
    return this.#accounts.addresses(MOST_STREAMED)
  }

  /**
   * Resolves when every deposit that was finalized at the time of the call is stored as finalized.
   * Returns a number that changes whenever there may be new deposits, whichever process stored
   * them. Callers that wait for the same run share it. A run reads at most 50 accounts that are not
   * associated token accounts; the rest are left to later runs. Rejects with a retriable
   * `unavailable` when RPC or the store does not answer; deposits found until then stay.
   */
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

  /** Starts catching up at intervals, so that a check has little left to do. */
  start(): void {
    const { logger, pollMs = 10_000 } = this.#deps
    const outage = createOutageLog(logger, 'deposits cannot be read', 'deposits are read again')
    const poll = async () => {
      try {
        await this.catchUp()
        await this.#sweep()
        outage.worked()
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        outage.failed({ reason: error.message })
      }
      if (!this.#closing.signal.aborted) this.#timer = setTimeout(poll, pollMs)
    }
    void poll()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#streamed.close()
    clearTimeout(this.#timer)
    await this.#streamed.idle()
    await this.#running.catch(() => {})
    await this.#sweeping.catch(() => {})
  }

  /** Waits until `restMs` after the start of the last run. */
  async #rest(): Promise<void> {
    const { restMs = 1000 } = this.#deps
    const wait = this.#ranAt + restMs - performance.now()
    if (wait > 0) await pause(wait, this.#closing.signal)
    this.#ranAt = performance.now()
  }

  async #run(): Promise<number> {
    if (this.#closing.signal.aborted)
      throw new ServiceError('closed', 'deposits are read no longer')
    await this.#restorePositions()
    await this.#listAccounts()
    const indexed = this.#finder.createRun()
    const read = new Set<DepositAccount>()
    for (;;) {
      // Indexed transactions may have named further accounts.
      const unread = this.#accounts.due(MOST_OTHERS, read)
      if (unread.length === 0) return this.#revision
      for (const account of unread) read.add(account)
      await Promise.all(unread.map((account) => this.#read(account, indexed)))
    }
  }

  /** Reads a few accounts that look unchanged, because a change may not show in their amount. */
  async #sweep(): Promise<void> {
    const indexed = this.#finder.createRun()
    const some = this.#accounts.stalest(SWEPT_AT_ONCE)
    this.#sweeping = Promise.all(some.map((account) => this.#read(account, indexed)))
    await this.#sweeping
  }

  async #restorePositions(): Promise<void> {
    const { store, payments, startsAnew = false } = this.#deps
    if (this.#isLoaded || startsAnew) return
    for (const { account, purpose, position } of await readPositions(store, payments))
      this.#accounts.restore(account, purpose, position)
    this.#isLoaded = true
  }

  /**
   * Reads the token accounts of the payment addresses, their amounts, and the finalized slot of
   * that read.
   */
  async #listAccounts(): Promise<void> {
    const { rpc, payments } = this.#deps
    const slots = await Promise.all(
      PURPOSES.map(async (purpose) => {
        const { slot, amounts } = await rpc.getTokenAmounts(payments[purpose], payments.mint)
        this.#accounts.setAmounts(purpose, amounts, slot)
        return slot
      }),
    )
    this.#finalizedSlot = Math.max(this.#finalizedSlot, Math.min(...slots))
  }

  /** Reads an account's new finalized history: stores its deposits, then its position. */
  async #read(account: DepositAccount, indexed: OncePerKey): Promise<void> {
    const { store, rpc, payments } = this.#deps
    const { address, purpose, history } = account
    const read = await readDepositHistory(
      rpc,
      address,
      history,
      this.#finalizedSlot,
      async (infos) => {
        await this.#finder.index(infos, purpose, indexed)
        if (infos.length > 0) this.#revision++
      },
    )
    // The sweep, or a run that failed, may have read the account further meanwhile.
    if (read.position.slot < account.history.position.slot) return
    account.history = read
    await storePosition(store, account, payments)
  }

  /** Marks the token accounts that a transaction names as possibly changed at `slot`. */
  #touch(transaction: Transaction, slot: number): void {
    for (const { address, purpose } of accountsPaid(transaction, this.#deps.payments))
      this.#accounts.touch(address, purpose, slot)
  }
}
