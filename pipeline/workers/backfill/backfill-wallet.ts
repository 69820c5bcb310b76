import type { SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import type { BackfillJob } from '../../store/tables/backfills.ts'
import { refuseStopped } from './fetch-transaction.ts'
import { PageFetcher, type PageFetcherDeps, type PageFetcherOptions } from './page-fetcher.ts'
import { PageWriter, type PageWriterDeps } from './page-writer.ts'

/** Dependencies that all backfills of a process share. */
export interface BackfillDeps extends PageFetcherDeps, PageWriterDeps {}

/** A backfill that has reached the end of its history. */
export interface WalkedHistory {
  readonly job: BackfillJob
  /** The oldest transaction listed in the range; null when this process saw none. */
  readonly oldest: SignatureInfo | null
}

/**
 * Runs a backfill from where it stands to the end of the wallet's history: pages of signatures,
 * newest first, then their transactions. The wallet's records go to the log with origin `backfill`.
 * After each page the job is saved, once the page's records would survive a crash. The last page is
 * an exception: its job is saved by the caller, as done.
 *
 * Rejects with `unavailable` when RPC does not answer, with `StoppedError` after `stop`. Running
 * the saved job again resumes after its last page.
 */
export async function backfillWallet(
  options: PageFetcherOptions,
  deps: BackfillDeps,
  onPage: (page: { readonly transactions: number }) => void,
): Promise<WalkedHistory> {
  const { stop } = options
  const pages = await PageFetcher.open(options, deps)
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
