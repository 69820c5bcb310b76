import type { Address } from '../../domain/address.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/rpc.ts'
import { type WalletHistory, walkHistory } from '../../ingest/rpc/wallet-history.ts'
import type { EventLog } from '../../log/log.ts'
import { readSettledSolPrices } from '../../store/read-sol-prices.ts'
import type { Store } from '../../store/store.ts'
import type { BackfillJob, BackfillJobs } from './backfill-jobs.ts'
import {
  createWalletDecoder,
  type FetchDeps,
  fetchTransaction,
  refuseStopped,
  type WalletDecoder,
} from './fetch-transaction.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** What every backfill of a process shares. */
export interface BackfillDeps extends FetchDeps {
  /** Waits while the server is down. */
  readonly store: Store
  readonly log: EventLog
  readonly rpc: HistoryRpc
  readonly jobs: BackfillJobs
  readonly priceMaxAgeSeconds: number
  /** Resolves when everything that the log has acknowledged would survive a crash. */
  readonly untilDurable: (stop: AbortSignal) => Promise<void>
}

/** A backfill that has reached the end of its history. */
export interface WalkedHistory {
  readonly job: BackfillJob
  /** The oldest transaction listed in the range; null when this process saw none. */
  readonly oldest: SignatureInfo | null
}

/** Most transactions of one wallet requested at a time. */
const REQUESTS_AT_ONCE = 32
const RECORDS_PER_APPEND = 1000

/**
 * Runs a backfill from where it stands to the end of the wallet's history: pages of signatures,
 * newest first, then their transactions. The wallet's records go to the log with origin `backfill`.
 * After each page the job is saved, once the page's records would survive a crash. The last page is
 * an exception: its job is saved by the caller, as done.
 *
 * Rejects with `unavailable` when RPC does not answer, with `Stopped` after `stop`. Running the
 * saved job again resumes after its last page.
 */
export async function backfillWallet(
  begun: BackfillJob,
  address: Address,
  /**
   * Missing transactions from this slot on are no loss: live data has them. Null: there is none.
   */
  coveredFrom: number | null,
  deps: BackfillDeps,
  stop: AbortSignal,
  onPage: (page: { readonly transactions: number }) => void,
): Promise<WalkedHistory> {
  const accounts = await AccountList.read(begun.wallet, address, deps)
  const history = walkHistory(
    {
      wallet: address,
      accounts: accounts.all(),
      range: begun.range,
      after: begun.position,
      minContextSlot: begun.newestSlot,
    },
    deps.rpc,
  )
  const pages = new PageFetcher(begun, address, coveredFrom, history, accounts, deps, stop)
  const writer = new PageWriter(deps, stop, onPage)
  try {
    for (;;) {
      refuseStopped(stop)
      const page = await pages.next()
      if (page === null) break
      await writer.write(page)
    }
  } finally {
    await writer.idle() // after a failure, no append may go on behind the caller's back
  }
  await writer.done()
  return { job: pages.job, oldest: pages.oldest }
}

/** The token accounts of a wallet, kept in table `token_accounts`. */
class AccountList {
  readonly #wallet: number
  readonly #jobs: BackfillJobs
  readonly #stored: Set<Address>
  /** Accounts that RPC lists now. They are stored with the first page. */
  readonly #live: readonly Address[]

  private constructor(
    wallet: number,
    jobs: BackfillJobs,
    stored: Iterable<Address>,
    live: readonly Address[],
  ) {
    this.#wallet = wallet
    this.#jobs = jobs
    this.#stored = new Set(stored)
    this.#live = live
  }

  static async read(wallet: number, address: Address, deps: BackfillDeps): Promise<AccountList> {
    const stored = await deps.jobs.accounts(wallet)
    const live = await deps.rpc.getTokenAccountsByOwner(address)
    return new AccountList(wallet, deps.jobs, stored, live)
  }

  all(): Address[] {
    return [...this.#stored, ...this.#live]
  }

  /** Stores accounts that are not stored yet, and returns those. */
  async add(found: Iterable<Address>): Promise<Address[]> {
    const all = new Set([...this.#live, ...found])
    const added = [...all].filter((account) => !this.#stored.has(account))
    await this.#jobs.addAccounts(this.#wallet, added)
    for (const account of added) this.#stored.add(account)
    return added
  }
}

/** One step of a walk: the records of some whole slots, and the job as it stands behind them. */
interface BackfillPage {
  readonly records: WalletRecord[]
  readonly transactions: number
  readonly job: BackfillJob
  readonly isLast: boolean
}

/** Fetches a wallet's history page by page, newest slots first. */
class PageFetcher {
  /** The job as it stands behind the last page. */
  job: BackfillJob
  oldest: SignatureInfo | null = null
  readonly #decoder: WalletDecoder
  readonly #coveredFrom: number | null
  readonly #history: WalletHistory
  readonly #accounts: AccountList
  readonly #deps: BackfillDeps
  readonly #stop: AbortSignal

  constructor(
    job: BackfillJob,
    address: Address,
    coveredFrom: number | null,
    history: WalletHistory,
    accounts: AccountList,
    deps: BackfillDeps,
    stop: AbortSignal,
  ) {
    this.job = job
    this.#decoder = createWalletDecoder(job.wallet, address)
    this.#coveredFrom = coveredFrom
    this.#history = history
    this.#accounts = accounts
    this.#deps = deps
    this.#stop = stop
  }

  /** Returns the next page; null at the end of the history. */
  async next(): Promise<BackfillPage | null> {
    const listed = await this.#history.next()
    if (listed === null) return null
    const records: WalletRecord[] = []
    let transactions = 0
    // Transactions may show further token accounts, whose transactions belong to the same page.
    for (let infos = listed; infos.length > 0; ) {
      const found = await this.#fetch(infos, records)
      transactions += infos.length
      infos = await this.#history.follow(await this.#accounts.add(found))
    }
    this.job = {
      ...this.job,
      position: this.#history.position,
      transactions: this.job.transactions + transactions,
      records: this.job.records + records.length,
    }
    return { records, transactions, job: this.job, isLast: this.#history.isAtEnd }
  }

  /** Adds the records of transactions to `records`. Returns the token accounts that they show. */
  async #fetch(infos: readonly SignatureInfo[], records: WalletRecord[]): Promise<Set<Address>> {
    const fetched = await mapConcurrently(infos, REQUESTS_AT_ONCE, (info) =>
      fetchTransaction(info, this.#decoder, this.#deps, this.#stop),
    )
    const accounts = new Set<Address>()
    for (const [at, info] of infos.entries()) {
      const transaction = fetched[at] ?? null
      if (transaction === null) this.job = withMissing(this.job, info, this.#coveredFrom)
      else {
        records.push(...transaction.records)
        for (const account of transaction.accounts) accounts.add(account)
      }
      if (this.oldest === null || info.slot <= this.oldest.slot) this.oldest = info
    }
    return accounts
  }
}

/**
 * Counts a transaction that was listed and not returned, and remembers the newest not seen live.
 */
function withMissing(
  job: BackfillJob,
  { slot, blockTime }: SignatureInfo,
  coveredFrom: number | null,
): BackfillJob {
  const isLost = coveredFrom === null || slot < coveredFrom
  const isNewest = slot > (job.missingAt?.slot ?? 0)
  return {
    ...job,
    missing: job.missing + 1,
    missingAt: isLost && isNewest ? { slot, time: blockTime } : job.missingAt,
  }
}

/**
 * Appends pages to the log, and saves the job behind each page once the page is durable. One page
 * is written while the next is fetched, so two are in memory.
 */
class PageWriter {
  readonly #deps: BackfillDeps
  readonly #stop: AbortSignal
  readonly #onPage: (page: { readonly transactions: number }) => void
  #writing: Promise<void> = Promise.resolve()
  #saving: Promise<void> = Promise.resolve()

  constructor(
    deps: BackfillDeps,
    stop: AbortSignal,
    onPage: (page: { readonly transactions: number }) => void,
  ) {
    this.#deps = deps
    this.#stop = stop
    this.#onPage = onPage
  }

  /**
   * Starts writing a page, once the one before is on the log. Rejects when an earlier page failed.
   */
  async write(page: BackfillPage): Promise<void> {
    await this.#writing
    this.#writing = this.#write(page)
    this.#writing.catch(() => {}) // reported by the next `write`, or by `done`
  }

  /** Resolves when no append is running. Never rejects. */
  async idle(): Promise<void> {
    await this.#writing.catch(() => {})
  }

  /** Resolves when every page is on the log and durable. */
  async done(): Promise<void> {
    await this.#writing
    await this.#saving
  }

  async #write({ records, transactions, job, isLast }: BackfillPage): Promise<void> {
    await append(records, this.#deps)
    this.#onPage({ transactions })
    await this.#saving
    this.#saving = this.#save(isLast ? [] : [job])
    this.#saving.catch(() => {}) // reported by the next page, or by `done`
  }

  async #save(jobs: readonly BackfillJob[]): Promise<void> {
    await this.#deps.untilDurable(this.#stop)
    refuseStopped(this.#stop)
    await this.#deps.jobs.save(jobs)
  }
}

/**
 * Appends the records of a page in chain order. Records of one transaction are in key order
 * already.
 */
async function append(page: WalletRecord[], deps: BackfillDeps): Promise<void> {
  const inOrder = page.sort((a, b) => a.slot - b.slot || a.txIndex - b.txIndex)
  const records = await withPrices(inOrder, deps)
  for (let at = 0; at < records.length; at += RECORDS_PER_APPEND)
    await deps.log.appendLate(records.slice(at, at + RECORDS_PER_APPEND), 'backfill')
  for (const { kind } of records) deps.metrics.records.inc({ kind })
}

/**
 * Adds to swaps the SOL price at their time, as far as it is stored (rules C1, J7). The worker of
 * `price-fill.ts` adds the others later.
 */
async function withPrices(
  records: readonly WalletRecord[],
  { store, priceMaxAgeSeconds }: BackfillDeps,
): Promise<readonly WalletRecord[]> {
  const times = records.flatMap((record) =>
    record.kind === 'swap' && record.quoteMint !== null ? [record.blockTime] : [],
  )
  const { prices } = await readSettledSolPrices(store, times, priceMaxAgeSeconds)
  return records.map((record) => {
    if (record.kind !== 'swap' || record.quoteMint === null) return record
    return { ...record, solPriceUsdE9: prices.get(record.blockTime) ?? null }
  })
}
