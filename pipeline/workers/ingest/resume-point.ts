import {
  LIVE_START,
  type PartialSlot,
  type ResumePoint,
  type SlotMarker,
} from '../../domain/slot.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Store } from '../../store/store.ts'
import { findSlotsAfter } from '../../store/tables/decoded-rows.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { readSealedAfter, readUnfinalizedSlots } from '../../store/tables/sealed-slots.ts'

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
  if (log.epoch !== 0) return stored === null ? LIVE_START : resumeFromStorage(store, stored)
  const end = await log.resumePoint()
  const { checkpoint } = end
  if (stored === null || (checkpoint !== null && checkpoint.slot >= stored.slot)) return end
  logger.warn('the log ends before what is stored: ingest starts with live slots')
  // What storage has beyond its marker stays: some partitions do not read it again.
  const [newest = stored] = (await readSealedAfter(store, stored.slot)).slice(-1)
  return { ...LIVE_START, ...(await readUnfinalizedSlots(store, newest.slot)) }
}

/** Continues at the storage marker. Everything that is stored of later slots comes again. */
async function resumeFromStorage(store: Store, checkpoint: SlotMarker): Promise<ResumePoint> {
  const { slot } = checkpoint
  const [unfinalized, sealed, slots] = await Promise.all([
    readUnfinalizedSlots(store, slot),
    readSealedAfter(store, slot),
    findSlotsAfter(store, slot),
  ])
  const partial = new Map<number, PartialSlot>()
  for (const found of slots) partial.set(found, { slot: found, marker: null })
  for (const marker of sealed) partial.set(marker.slot, { slot: marker.slot, marker })
  return {
    checkpoint,
    ...unfinalized,
    withdrawn: new Set(),
    partial: [...partial.values()].sort((a, b) => a.slot - b.slot),
    attempt: 1, // the log in memory is a new one
  }
}
