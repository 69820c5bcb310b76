import type { SlotMarker } from '../../domain/slot.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Store } from '../../store/store.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'

/**
 * Returns the newest slot that needs no ingest (rule K3): the checkpoint of the log, or with a log
 * in memory the storage marker. Null: ingest starts with live slots.
 *
 * A log that ends before what is stored has lost entries, which the feed may have sent (rule K10).
 * Ingest then starts with live slots too. The fold worker finds the slots in between missing on the
 * log, and opens backfills of them, which are never sent.
 */
export async function readResumePoint(deps: {
  readonly log: Pick<EventLog, 'epoch' | 'checkpoint'>
  readonly store: Store
  readonly logger: Logger
}): Promise<SlotMarker | null> {
  const { log, store, logger } = deps
  // Read first, so that it is not newer than the log.
  const stored = await readStorageMarker(store)
  if (log.epoch !== 0) return stored
  const end = await log.checkpoint()
  if (stored === null || (end !== null && end.slot >= stored.slot)) return end
  logger.warn('the log ends before what is stored: ingest starts with live slots')
  return null
}
