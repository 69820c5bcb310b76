import { LIVE_START, type ResumePoint } from '../../domain/slot.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Store } from '../../store/store.ts'
import { findSlotsAfter } from '../../store/tables/decoded-rows.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { readUnfinalizedSlots } from '../../store/tables/sealed-slots.ts'

/**
 * Returns where ingest continues (rules K3, K9): what the log says, or with a log in memory, what
 * storage says.
 *
 * A log that ends before what is stored has lost entries, which the feed may have sent (rule K10).
 * Ingest then starts with live slots. The fold worker finds the slots in between missing on the
 * log, and opens backfills of them, which are never sent.
 */
export async function readResumePoint(deps: {
  readonly log: Pick<EventLog, 'epoch' | 'resumePoint'>
  readonly store: Store
  readonly logger: Logger
}): Promise<ResumePoint> {
  const { log, store, logger } = deps
  // Read first, so that it is not newer than the log.
  const stored = await readStorageMarker(store)
  if (log.epoch !== 0) {
    if (stored === null) return LIVE_START
    const [unfinalized, partial] = await Promise.all([
      readUnfinalizedSlots(store, stored.slot),
      findSlotsAfter(store, stored.slot),
    ])
    return { checkpoint: stored, ...unfinalized, partial }
  }
  const end = await log.resumePoint()
  const { checkpoint } = end
  if (stored === null || (checkpoint !== null && checkpoint.slot >= stored.slot)) return end
  logger.warn('the log ends before what is stored: ingest starts with live slots')
  return { ...LIVE_START, ...(await readUnfinalizedSlots(store, stored.slot)) }
}
