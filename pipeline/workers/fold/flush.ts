import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { RefoldRequest, SlotMarker } from '../../domain/slot.ts'
import type { LateMark, LateOrder } from '../../log/late-order.ts'
import type { LogBatch } from '../../log/log.ts'
import type { RecordMessage } from '../../log/log-message.ts'

/** A record read from the log, with its origin. */
export interface LoggedRecord extends RecordMessage {
  readonly decoderVersion: number
  /** Place of a swap that sockets receive marked as late; null for every other record. */
  readonly mark: LateMark | null
}

/**
 * Slots after `fromSlot` and up to `toSlot` (included) that a partition of the log does not have.
 */
export interface SlotGap {
  readonly partition: number
  readonly fromSlot: number
  readonly toSlot: number
  /**
   * Entries of the log itself were lost, so also late records of slots up to `fromSlot` may be
   * missing. `toSlot` may then equal `fromSlot`.
   */
  readonly isLost: boolean
}

/** The entries that a worker stores together, in log order within each partition. */
export interface Flush {
  readonly records: readonly LoggedRecord[]
  readonly markers: readonly SlotMarker[]
  readonly refolds: readonly RefoldRequest[]
  readonly gaps: readonly SlotGap[]
}

/**
 * Joins batches into one flush. `reached` holds the newest marker of each partition that has one.
 * Advances `order`.
 *
 * A marker whose parent is above the partition's previous marker reveals a gap. In a partition of
 * `lost`, of which entries are gone, so does the first new marker, whatever its parent (rule K10).
 */
export function joinBatches(
  batches: readonly LogBatch[],
  order: LateOrder,
  lost: ReadonlySet<number> = new Set(),
): { readonly flush: Flush; readonly reached: ReadonlyMap<number, SlotMarker> } {
  const records: LoggedRecord[] = []
  const markers: SlotMarker[] = []
  const refolds: RefoldRequest[] = []
  const gaps: SlotGap[] = []
  const reached = new Map<number, SlotMarker>()
  const unresolved = new Set(lost)
  for (const { partition, records: entries } of batches)
    for (const entry of entries) {
      if (entry.kind === 'record')
        records.push({
          record: entry.record,
          late: entry.late,
          decoderVersion: entry.decoderVersion ?? DECODER_VERSION,
          mark: order.markOf(partition, entry),
        })
      else if (entry.kind === 'refold') refolds.push(entry.refold)
      else {
        const { slot, parent } = entry.marker
        const passed = order.passed(partition)
        const isLost = unresolved.has(partition)
        if (passed !== null && (parent > passed || (isLost && slot > passed))) {
          unresolved.delete(partition)
          gaps.push({ partition, fromSlot: passed, toSlot: Math.max(parent, passed), isLost })
        }
        order.pass(partition, slot)
        markers.push(entry.marker)
        reached.set(partition, entry.marker)
      }
    }
  return { flush: { records, markers, refolds, gaps }, reached }
}
