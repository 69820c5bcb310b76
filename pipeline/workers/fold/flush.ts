import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import type { RefoldRequest, SlotMarker, Withdrawal } from '../../domain/slot.ts'
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

/** A withdrawal and its place on the log. */
export interface PlacedWithdrawal extends Withdrawal {
  readonly epoch: number
  readonly partition: number
  readonly offset: number
  /** Slot of the newest marker before it in its partition. */
  readonly passedSlot: number
}

/** The entries that a worker stores together, in log order within each partition. */
export interface Flush {
  readonly records: readonly LoggedRecord[]
  readonly markers: readonly SlotMarker[]
  /** The markers of partition 0: each sealed slot once. */
  readonly sealed: readonly SlotMarker[]
  readonly refolds: readonly RefoldRequest[]
  readonly gaps: readonly SlotGap[]
  /** Those of a partition follow all its other entries. */
  readonly withdrawals: readonly PlacedWithdrawal[]
  /**
   * Partitions of which another owner may have stored some of these entries, even after this
   * process has read what is stored (rule K15).
   */
  readonly replayed: ReadonlySet<number>
}

/**
 * The newest marker of each partition that has one; after a rewind its checkpoint, null if it has
 * none.
 */
export type ReachedMarkers = ReadonlyMap<number, SlotMarker | null>

/**
 * Splits batches after withdrawals, so that a flush ends with them. Mostly there is none, and the
 * batches are returned as they are.
 */
export function splitAtWithdrawals(batches: readonly LogBatch[]): readonly (readonly LogBatch[])[] {
  const isWithdrawal = ({ kind }: LogBatch['records'][number]) => kind === 'withdrawal'
  if (!batches.some(({ records }) => records.some(isWithdrawal))) return [batches]
  const parts: LogBatch[][] = []
  for (const { partition, records } of batches)
    for (let from = 0, part = 0; from < records.length; part += 1) {
      const first = records.findIndex((entry, index) => index >= from && isWithdrawal(entry))
      const next = records.findIndex((entry, index) => index > first && !isWithdrawal(entry))
      const end = first < 0 || next < 0 ? records.length : next
      parts[part] ??= []
      parts[part]?.push({ partition, records: records.slice(from, end) })
      from = end
    }
  return parts
}

/**
 * Joins batches into one flush, and advances `order`.
 *
 * A marker whose parent is above the partition's previous marker reveals a gap. In a partition of
 * `lost`, of which entries are gone, so does the first new marker, whatever its parent (rule K10).
 * The partition is then deleted from `lost`.
 */
export function joinBatches(
  batches: readonly LogBatch[],
  order: LateOrder,
  lost: Set<number> = new Set(),
): { readonly flush: Omit<Flush, 'replayed'>; readonly reached: ReachedMarkers } {
  const records: LoggedRecord[] = []
  const markers: SlotMarker[] = []
  const sealed: SlotMarker[] = []
  const refolds: RefoldRequest[] = []
  const gaps: SlotGap[] = []
  const withdrawals: PlacedWithdrawal[] = []
  const reached = new Map<number, SlotMarker | null>()
  for (const { partition, records: entries } of batches)
    for (const entry of entries) {
      if (entry.kind === 'record')
        records.push({
          record: entry.record,
          late: entry.late,
          blockId: entry.blockId ?? null,
          decoderVersion: entry.decoderVersion ?? DECODER_VERSION,
          mark: order.markOf(partition, entry),
        })
      else if (entry.kind === 'refold') refolds.push(entry.refold)
      else if (entry.kind === 'withdrawal') {
        const { slot, rewind } = entry.withdrawal
        if (rewind !== null) {
          order.goBack(partition, rewind)
          reached.set(partition, rewind.checkpoint)
        }
        const passedSlot = order.passed(partition) ?? slot
        const place = { epoch: order.epoch, partition, offset: Number(entry.offset), passedSlot }
        withdrawals.push({ ...entry.withdrawal, ...place })
      } else {
        const { slot, parent } = entry.marker
        const passed = order.passed(partition)
        const isLost = lost.has(partition)
        if (passed !== null && (parent > passed || (isLost && slot > passed))) {
          lost.delete(partition)
          gaps.push({ partition, fromSlot: passed, toSlot: Math.max(parent, passed), isLost })
        }
        order.pass(partition, slot)
        markers.push(entry.marker)
        if (partition === 0) sealed.push(entry.marker)
        reached.set(partition, entry.marker)
      }
    }
  return { flush: { records, markers, sealed, refolds, gaps, withdrawals }, reached }
}
