import type { Address } from '../../domain/address.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import { type WalletHistory, walkHistory } from '../../ingest/rpc/wallet-history.ts'
import type { BackfillJob, BackfillJobs } from '../../store/tables/backfills.ts'
import {
  createWalletDecoder,
  type FetchDeps,
  fetchTransaction,
  type WalletDecoder,
} from './fetch-transaction.ts'
import { mapConcurrently } from './map-concurrently.ts'

/** Dependencies of fetching pages. */
export interface PageFetcherDeps extends FetchDeps {
  readonly rpc: HistoryRpc
  readonly jobs: BackfillJobs
}

/** Maximum number of transactions of one wallet requested at a time. */
const REQUESTS_AT_ONCE = 32

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

  static async read(wallet: number, address: Address, deps: PageFetcherDeps): Promise<AccountList> {
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

/** One page of a backfill: the records of some whole slots, and the job's state after them. */
export interface BackfillPage {
  readonly records: WalletRecord[]
  readonly transactions: number
  readonly job: BackfillJob
  readonly isLast: boolean
}

/** Which history is fetched. */
export interface PageFetcherOptions {
  readonly job: BackfillJob
  readonly address: Address
  /**
   * Missing transactions from this slot on are no loss: live data has them. Null: there is none.
   */
  readonly coveredFrom: number | null
  readonly stop: AbortSignal
}

/** Fetches a wallet's history page by page, newest slots first. */
export class PageFetcher {
  /** State of the job after the last page. */
  job: BackfillJob
  /** The oldest transaction listed so far; null when there was none. */
  oldest: SignatureInfo | null = null
  readonly #decoder: WalletDecoder
  readonly #coveredFrom: number | null
  readonly #history: WalletHistory
  readonly #accounts: AccountList
  readonly #deps: PageFetcherDeps
  readonly #stop: AbortSignal

  private constructor(
    options: PageFetcherOptions,
    history: WalletHistory,
    accounts: AccountList,
    deps: PageFetcherDeps,
  ) {
    this.job = options.job
    this.#decoder = createWalletDecoder(options.job.wallet, options.address, deps.programs)
    this.#coveredFrom = options.coveredFrom
    this.#history = history
    this.#accounts = accounts
    this.#deps = deps
    this.#stop = options.stop
  }

  /** Opens the history behind the job's position. Rejects with `unavailable` when RPC fails. */
  static async open(options: PageFetcherOptions, deps: PageFetcherDeps): Promise<PageFetcher> {
    const { job, address } = options
    const accounts = await AccountList.read(job.wallet, address, deps)
    const history = walkHistory(
      {
        wallet: address,
        accounts: accounts.all(),
        range: job.range,
        after: job.position,
        minContextSlot: job.newestSlot,
      },
      deps.rpc,
    )
    return new PageFetcher(options, history, accounts, deps)
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
