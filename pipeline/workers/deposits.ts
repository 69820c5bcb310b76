import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from '../domain/address.ts'
import { type PaymentAddresses, PURPOSES, type Purpose } from '../domain/payment.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { Transaction } from '../domain/transaction.ts'
import { normalizeRpc } from '../ingest/normalize-rpc.ts'
import type { HistoryRpc, PaymentRpc, SignatureInfo, SolanaRpc } from '../ingest/rpc.ts'
import type { Logger } from '../runtime/logger.ts'
import { dateTime } from '../store/date-time.ts'
import type { Store } from '../store/store.ts'
import {
  type DepositPosition,
  type ReadHistory,
  readDepositHistory,
  UNREAD,
} from './deposit-history.ts'
import { accountsPaid, type DepositRow, depositRows } from './deposit-rows.ts'
import { createOnceEach, type OnceEach } from './once-each.ts'

/** Payments to the service, in table `deposits` (decisions E5). */
export interface DepositIndex {
  /** Stores what a confirmed transaction paid, if anything, as soon as the store takes it. What is lost on the way, `catchUp` finds. */
  note(transaction: Transaction, blockTime: number): void
  /**
   * Resolves when every deposit that was finalized when it was called is stored, finalized: with a number that is another whenever there may be one more than before, whoever stored it.
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
 * Indexes payments. The stream brings them first; what is redeemed was read from finalized history over RPC: of the payment addresses and all of their token accounts of the
 * mint, associated or not, from the last transaction seen on. Rows are the same however often and by whom they are written.
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
  readonly #now: () => number
  /** Whose history is read, and for which purpose it is paid. */
  readonly #accounts = new Map<Address, Purpose>()
  readonly #known = new Map<Address, ReadHistory>()
  /** Positions as they are stored. */
  readonly #storedUpTo = new Map<Address, DepositPosition>()
  /** A slot that was finalized before the last run. */
  #at = 0
  #isLoaded = false
  #revision = 0
  #running: Promise<number> = Promise.resolve(0)
  #queued: Promise<number> | null = null
  #noted: DepositRow[] = []
  #storing: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  readonly #closing = new AbortController()
  /** When the last run began, by the monotonic clock. */
  #ranAt = Number.NEGATIVE_INFINITY
  #failing = false

  constructor(deps: DepositIndexDeps) {
    this.#deps = deps
    this.#now = deps.now ?? Date.now
    for (const purpose of PURPOSES) this.#accounts.set(deps.payments[purpose], purpose)
  }

  note(transaction: Transaction, blockTime: number): void {
    const rows = this.#rowsOf(transaction, blockTime, 0)
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
    return [...this.#accounts.keys()].slice(0, MOST_FOLLOWED)
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
  }

  async #storeNoted(): Promise<void> {
    while (this.#noted.length > 0) {
      const rows = this.#noted.splice(0)
      try {
        await this.#insert(rows)
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
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {})
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
        for (const account of amounts.keys()) this.#follow(account, purpose)
        return slot
      }),
    )
    this.#at = Math.max(this.#at, Math.min(...slots))
    // What is looked at may name further accounts.
    const looks = createOnceEach(MOST_LOOKS, STORED_AT_ONCE)
    const read = new Set<Address>()
    for (;;) {
      const unread = [...this.#accounts].filter(([account]) => !read.has(account))
      if (unread.length === 0) return this.#revision
      for (const [account] of unread) read.add(account)
      await Promise.all(unread.map(([account, purpose]) => this.#read(account, purpose, looks)))
    }
  }

  async #load(): Promise<void> {
    const { store, payments, startsAnew = false } = this.#deps
    if (this.#isLoaded || startsAnew) return
    // Those of addresses that are paid no longer are left alone.
    const rows = await store.query<PositionRow>(
      `SELECT account, owner, signature, slot FROM deposit_positions FINAL
       WHERE owner IN {owners:Array(String)} ORDER BY slot DESC LIMIT ${MOST_READ}`,
      { owners: PURPOSES.map((purpose) => payments[purpose]) },
    )
    for (const { account, owner, signature, slot } of rows) {
      const position = { signature, slot: Number(slot) }
      this.#known.set(account, { ...UNREAD, position })
      this.#storedUpTo.set(account, position)
      for (const purpose of PURPOSES)
        if (payments[purpose] === owner) this.#follow(account, purpose)
    }
    this.#isLoaded = true
  }

  #follow(account: Address, purpose: Purpose): void {
    if (this.#accounts.has(account)) return
    if (this.#accounts.size < MOST_READ) this.#accounts.set(account, purpose)
  }

  /** Reads what is new of an account's finalized history, stores the deposits of it, then how far that went. */
  async #read(account: Address, purpose: Purpose, looks: OnceEach): Promise<void> {
    const { store, rpc, payments } = this.#deps
    const known = () => this.#known.get(account) ?? UNREAD
    const read = await readDepositHistory(rpc, account, known(), this.#at, async (infos) => {
      await this.#look(infos, purpose, looks)
      if (infos.length > 0) this.#revision++
    })
    // A run that failed may still be reading, too.
    if (read.position.slot < known().position.slot) return
    this.#known.set(account, read)
    const { slot, signature } = read.position
    const stored = this.#storedUpTo.get(account)
    if (stored?.signature === signature && slot < stored.slot + STORED_EVERY_SLOTS) return
    await store.insert('deposit_positions', [
      { account, owner: payments[purpose], signature, slot },
    ])
    this.#storedUpTo.set(account, read.position)
  }

  /** Stores the deposits of finalized transactions; one that several accounts name is looked at once. */
  async #look(infos: readonly SignatureInfo[], purpose: Purpose, looks: OnceEach): Promise<void> {
    const bySignature = new Map<string, SignatureInfo>()
    for (const info of infos) if (!info.failed) bySignature.set(info.signature, info)
    const index = (signatures: readonly string[]) =>
      this.#index(
        signatures.flatMap((signature) => bySignature.get(signature) ?? []),
        purpose,
      )
    await looks.all([...bySignature.keys()], index)
  }

  async #index(infos: readonly SignatureInfo[], purpose: Purpose): Promise<void> {
    const stored = await this.#stored(infos)
    const found = await Promise.all(
      infos.map((info) => {
        const known = stored.get(info.signature) ?? []
        if (known.some(({ finalized }) => finalized === 1)) return []
        const isSame = known.length > 0 && known.every(({ slot }) => Number(slot) === info.slot)
        if (isSame) return known.map((row): DepositRow => ({ ...row, finalized: 1 }))
        return this.#fetch(info, purpose)
      }),
    )
    await this.#insert(found.flat())
  }

  async #stored(infos: readonly SignatureInfo[]): Promise<Map<string, DepositRow[]>> {
    const rows = await this.#deps.store.query<DepositRow>(
      `SELECT wallet, purpose, signature, slot, tx_index, block_time, amount, finalized FROM deposits FINAL
       WHERE signature IN {signatures:Array(String)}`,
      { signatures: infos.map(({ signature }) => signature) },
    )
    const bySignature = new Map<string, DepositRow[]>()
    for (const row of rows)
      bySignature.set(row.signature, [...(bySignature.get(row.signature) ?? []), row])
    return bySignature
  }

  async #fetch(info: SignatureInfo, purpose: Purpose): Promise<DepositRow[]> {
    const { signature, slot, blockTime } = info
    const json = await this.#deps.rpc.getTransaction(signature)
    if (json === null)
      throw new ServiceError('unavailable', 'SOLANA_RPC_URL: a listed transaction is not there', {
        retriable: true,
      })
    const transaction = normalizeRpc(json, { slot })
    const isRead = transaction.kind === 'transaction'
    const rows = isRead ? this.#rowsOf(transaction, blockTime ?? 0, 1) : null
    if (rows !== null) return rows
    const reason = isRead ? 'no_inner_instructions' : transaction.reason
    this.#deps.logger.error({ reason }, 'a transaction of a payment account cannot be read')
    const place = { slot, tx_index: 0, block_time: blockTime ?? 0, finalized: 1 as const }
    return [{ wallet: '', purpose, signature, amount: 0n, ...place }]
  }

  /** What a transaction paid, as of `depositRows`; accounts of the payment addresses that it names are followed from now on. */
  #rowsOf(transaction: Transaction, blockTime: number, finalized: 0 | 1): DepositRow[] | null {
    const { payments } = this.#deps
    for (const { address, purpose } of accountsPaid(transaction, payments))
      this.#follow(address, purpose)
    return depositRows(transaction, payments, blockTime, finalized)
  }

  async #insert(rows: readonly DepositRow[]): Promise<void> {
    const seen_at = dateTime(this.#now())
    await this.#deps.store.insert(
      'deposits',
      rows.map((row) => ({ ...row, seen_at })),
    )
  }
}

const STORED_AT_ONCE = 50
/** Transactions of a run that are remembered, so that one that several accounts name is looked at once. */
const MOST_LOOKS = 10_000
/** Some ten minutes: how often it is stored of an account without transactions that there was none. */
const STORED_EVERY_SLOTS = 1500
/** Accounts whose history is read, and that the stream is asked for by name; opening one costs its maker 0.002 SOL. */
const MOST_READ = 1000
const MOST_FOLLOWED = 100
const MOST_NOTED = 10_000
