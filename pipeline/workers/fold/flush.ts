import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { RefoldRequest, SlotMarker } from '../../domain/slot.ts'
import type { LateMark, LateOrder } from '../../log/late-order.ts'
import type { LogBatch } from '../../log/log.ts'
import type { RecordMessage } from '../../log/log-message.ts'

/** A record read from the log, with its origin. */
export interface LoggedRecord extends RecordMessage {
  /** Place of a swap that sockets receive marked as late; null for every other record. */
  readonly mark: LateMark | null
}

/** Slots after `fromSlot` and up to `toSlot` (included) that are not on the log. */
export interface SlotGap {
  readonly fromSlot: number
  readonly toSlot: number
}

/** The entries that a worker stores together, in log order within each partition. */
export interface Flush {
  readonly records: readonly LoggedRecord[]
  readonly markers: readonly SlotMarker[]
  /** The markers of partition 0: each sealed slot once. */
  readonly sealed: readonly SlotMarker[]
  readonly refolds: readonly RefoldRequest[]
  readonly gaps: readonly SlotGap[]
}

/**
 * Joins batches into one flush. `reached` holds the newest marker of each partition that has one.
 * A marker whose parent is above the partition's previous marker reveals a gap. Advances `order`.
 */
export function joinBatches(
  batches: readonly LogBatch[],
  order: LateOrder,
): { readonly flush: Flush; readonly reached: ReadonlyMap<number, SlotMarker> } {
  const records: LoggedRecord[] = []
  const markers: SlotMarker[] = []
  const sealed: SlotMarker[] = []
  const refolds: RefoldRequest[] = []
  const gaps: SlotGap[] = []
  const reached = new Map<number, SlotMarker>()
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
      else if (entry.kind === 'marker') {
        const { slot, parent } = entry.marker
        const passed = order.passed(partition)
        if (passed !== null && parent > passed) gaps.push({ fromSlot: passed, toSlot: parent })
        order.pass(partition, slot)
        markers.push(entry.marker)
        if (partition === 0) sealed.push(entry.marker)
        reached.set(partition, entry.marker)
      }
    }
  return { flush: { records, markers, sealed, refolds, gaps }, reached }
}
