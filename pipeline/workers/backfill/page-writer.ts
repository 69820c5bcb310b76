import type { WalletRecord } from '../../domain/slot.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { LateOrigin } from '../../log/log-message.ts'
import { batches } from '../../runtime/batches.ts'
import type { Store } from '../../store/store.ts'
import type { BackfillJob, BackfillJobs } from '../../store/tables/backfills.ts'
import { readSettledSolPrices } from '../../store/tables/sol-prices.ts'
import { refuseStopped } from './fetch-transaction.ts'
import type { BackfillPage } from './page-fetcher.ts'

/** Dependencies of appending fetched records. */
export interface AppendDeps {
  /** Waits while the server is down. */
  readonly store: Store
  readonly log: EventLog
  readonly metrics: IngestMetrics
  readonly priceMaxAgeSeconds: number
}

/** Dependencies of writing pages. */
export interface PageWriterDeps extends AppendDeps {
  readonly jobs: BackfillJobs
  /** Resolves when everything that the log has acknowledged would survive a crash. */
  readonly untilDurable: (stop: AbortSignal) => Promise<void>
}

const RECORDS_PER_APPEND = 1000

/**
 * Appends pages to the log, and saves the job behind each page once the page is durable. One page
 * is written while the next is fetched, so two are in memory.
 */
export class PageWriter {
  readonly #deps: PageWriterDeps
  readonly #stop: AbortSignal
  readonly #onPage: (page: { readonly transactions: number }) => void
  #writing: Promise<void> = Promise.resolve()
  #saving: Promise<void> = Promise.resolve()

  constructor(
    deps: PageWriterDeps,
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
    await appendFetched(records, 'backfill', this.#deps)
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
 * Appends fetched records of one wallet in chain order, with SOL prices. Records of one transaction
 * are in key order already.
 */
export async function appendFetched(
  fetched: readonly WalletRecord[],
  origin: LateOrigin,
  deps: AppendDeps,
): Promise<void> {
  const inOrder = [...fetched].sort((a, b) => a.slot - b.slot || a.txIndex - b.txIndex)
  const records = await withPrices(inOrder, deps)
  for (const some of batches(records, RECORDS_PER_APPEND)) await deps.log.appendLate(some, origin)
  for (const { kind } of records) deps.metrics.records.inc({ kind })
}

/**
 * Adds to swaps the SOL price at their time, as far as it is stored (rules C1, J7). The worker of
 * `price-fill.ts` adds the others later.
 */
async function withPrices(
  records: readonly WalletRecord[],
  { store, priceMaxAgeSeconds }: AppendDeps,
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
