import type { Address } from '../../domain/address.ts'
import type { SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import type { BackfillJob } from '../../store/tables/backfills.ts'
import type { CoverageStart, WalletCoverage } from '../../store/tables/wallet-coverage.ts'
import { waitUntilFolded } from '../fold/refold.ts'
import { type BackfillDeps, backfillWallet } from './backfill-wallet.ts'
import type { SlotTimes } from './slot-times.ts'

/** Dependencies of a backfill job. */
export interface BackfillJobDeps extends BackfillDeps {
  readonly coverage: WalletCoverage
  readonly slotTimes: SlotTimes
  /** Whether a fold worker stores what is appended, in this process or another. */
  readonly hasFold: boolean
}

/** A job to run. */
export interface JobRun {
  readonly job: BackfillJob
  readonly address: Address
  /** For a wallet that joined: a slot up to which history is wanted. Live data has what follows. */
  readonly liveSlot: number
}

/**
 * Runs a job from where it stands to its end, and returns it as it ended: fetches the history,
 * waits until the books include it, then updates coverage, then marks the job done. A job that was
 * cut off resumes; a crash before the last write repeats the coverage update, which is idempotent.
 * Rejects with `unavailable` when a server does not answer, with `StoppedError` or `closed` after
 * `stop`.
 */
export async function runBackfillJob(
  { job: opened, address, liveSlot }: JobRun,
  deps: BackfillJobDeps,
  stop: AbortSignal,
  onPage: (page: { readonly transactions: number }) => void = () => {},
): Promise<BackfillJob> {
  const { coverage, store, log, metrics } = deps
  const { reason } = opened
  let covered = await coverage.ofWallet(opened.wallet)
  let begun = opened
  if (opened.newestSlot === null) {
    begun = await begin(opened, covered, liveSlot, deps)
    if (opened.reason === 'added') covered = await coverage.ofWallet(opened.wallet)
  }
  const coveredFrom = begun.reason === 'gap' ? null : (covered?.slot ?? null)
  const options = { job: begun, address, coveredFrom, stop }
  const { job, oldest } = await backfillWallet(options, deps, (page) => {
    metrics.backfillTransactions.inc({ reason }, page.transactions)
    onPage(page)
  })
  if (deps.hasFold) await waitUntilFolded({ store, log }, [job.wallet], stop)
  await finish(job, oldest, deps)
  metrics.doneBackfills.inc({ reason })
  return job
}

/** Sets the slot at which the job begins, and starts the coverage of a wallet that joined. */
async function begin(
  job: BackfillJob,
  covered: CoverageStart | undefined,
  liveSlot: number,
  { coverage, slotTimes, jobs }: BackfillJobDeps,
): Promise<BackfillJob> {
  // History is fetched up to where live data begins, once that is final (rule K9).
  const newestSlot = await slotTimes.finalizedSlot(
    job.reason === 'added' ? liveSlot : (job.range.toSlot ?? covered?.slot ?? 0),
  )
  const begun = { ...job, newestSlot }
  if (job.reason === 'added') {
    // The subscription has had the wallet since before this slot.
    await coverage.begin([job.wallet], await slotTimes.withTime(newestSlot))
    await jobs.save([begun]) // views show how far the gap of an open job reaches
  }
  return begun
}

/** Stores what is complete now, then that the job is done. */
async function finish(
  job: BackfillJob,
  oldest: SignatureInfo | null,
  deps: BackfillJobDeps,
): Promise<void> {
  const { coverage, jobs } = deps
  const { wallet, range, missingAt } = job
  const afterMissing = missingAt && {
    slot: missingAt.slot + 1,
    time: missingAt.time ?? Math.floor(Date.now() / 1000),
  }
  const to = Math.min(range.toSlot ?? Number.MAX_SAFE_INTEGER, job.newestSlot ?? 0)
  if (job.reason === 'gap') {
    if (afterMissing) await coverage.cut([wallet], afterMissing)
  } else {
    const from = later(await reachOf(job, oldest, deps), afterMissing)
    await coverage.extend(wallet, from, to)
    const inside = (await jobs.open(['gap'], wallet)).filter(
      (gap) => (gap.range.fromSlot ?? 0) >= from.slot && (gap.range.toSlot ?? to) <= to,
    )
    await jobs.save(inside.map((gap) => ({ ...gap, state: 'done' })))
  }
  await jobs.save([{ ...job, state: 'done' }])
}

/**
 * Returns the oldest slot down to which a finished job has read everything: the start of its range,
 * or the server's first available block. A server that does not say which block that is counts as
 * reaching the oldest transaction that it listed.
 */
async function reachOf(
  job: BackfillJob,
  oldest: SignatureInfo | null,
  { rpc, slotTimes }: BackfillJobDeps,
): Promise<CoverageStart> {
  const first = await rpc.getFirstAvailableBlock()
  const listed = oldest?.slot ?? job.position?.slot ?? job.newestSlot ?? 0
  return slotTimes.withTime(Math.max(first ?? listed, job.range.fromSlot ?? 0))
}

function later(a: CoverageStart, b: CoverageStart | null): CoverageStart {
  return b === null || a.slot >= b.slot ? a : b
}
