import { partitionOf } from '../../log/topics.ts'
import type { Store } from '../../store/store.ts'
import { type BackfillJob, createBackfillJobs, newJob } from '../../store/tables/backfills.ts'
import { insertSlotGaps } from '../../store/tables/slot-gaps.ts'
import { readTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { createWalletCoverage } from '../../store/tables/wallet-coverage.ts'
import { gapRow } from './event-rows.ts'
import type { SlotGap } from './flush.ts'

/**
 * Ingest finds late transactions in this many sealed slots, also after a restart
 * (`restartRecheckSlots`). Their records may be among lost entries of the log.
 */
const LATE_SLOTS = 512

/**
 * Opens a backfill of every wallet whose records are missing in `gaps`, and notes the gaps for
 * followers of the feed (rules K2, K10). Call it before `progress` passes the gaps: a crash before
 * that repeats the call, which opens nothing twice. The process of role `ingest` runs the
 * backfills. Until they are done, the coverage of the wallets does not reach behind the gap.
 */
export async function openHoles(
  store: Store,
  gaps: readonly SlotGap[],
  { partitions, now }: { readonly partitions: number; readonly now: () => number },
): Promise<void> {
  if (gaps.length === 0) return
  await insertSlotGaps(store, gaps.filter((gap) => gap.toSlot > gap.fromSlot).map(gapRow))
  const jobs = createBackfillJobs(store)
  const wallets = (await readTrackedWallets(store)).map((_, at) => at + 1)
  const running = oldestFetched(await jobs.open(['operator', 'gap', 'added']))
  const coverage = await createWalletCoverage(store).of(wallets)
  const opened = gaps.flatMap(({ partition, fromSlot: passed, toSlot, isLost }) => {
    const first = passed + 1
    const late = Math.max(1, first - LATE_SLOTS)
    return wallets
      .filter((wallet) => partitionOf(wallet, partitions) === partition)
      .map((wallet) => {
        // What lies before the coverage of the wallet is not missed.
        const since = Math.min(first, Math.max(late, coverage.get(wallet)?.slot ?? late))
        const fromSlot = isLost ? Math.min(since, running.get(wallet) ?? since) : first
        return newJob(wallet, 'gap', { fromSlot, toSlot }, now())
      })
  })
  await jobs.saveNew(opened)
}

/**
 * Returns, by wallet, the oldest slot that an unfinished backfill has fetched. Its pages count as
 * done once the log has them, so they may be lost too.
 */
function oldestFetched(jobs: readonly BackfillJob[]): Map<number, number> {
  const oldest = new Map<number, number>()
  for (const { wallet, position } of jobs)
    if (position !== null)
      oldest.set(wallet, Math.min(position.slot, oldest.get(wallet) ?? position.slot))
  return oldest
}
