import type { LogExtent, OffsetRange } from '../../log/log.ts'
import type { StoredPosition } from '../../store/tables/progress.ts'

/** Where a partition is read from. */
export interface PartitionStart {
  readonly offset: bigint
  /** Whether entries after the stored ones are gone. Everything from `offset` on is new. */
  readonly isLost: boolean
}

/**
 * Compares what a worker has stored of a partition with what the log has of it (rule K10). `stored`
 * is null if nothing is stored. Returns null if the committed offset of the group decides: an
 * earlier version of the service stored no offset.
 *
 * - The log has the next entry: reading starts there, even if the group has committed more, because
 *   storage may have been restored from a backup.
 * - The next entry is below the oldest one: entries were deleted or have expired. What is left is
 *   read from its start.
 * - The next entry is after the end, or an entry before it was appended after everything that is
 *   stored: the log was restored from an older copy. Reading starts at the first entry after it.
 * - Another Kafka topic: the same. A log in memory is a new one at each start, but ingest resumes
 *   at the storage marker then (rule K3), so nothing is lost.
 */
export function planStart(
  stored: StoredPosition | null,
  log: OffsetRange & { readonly id: string },
  isInMemory: boolean,
): PartitionStart | null {
  const { id, low, end, later } = log
  if (stored === null) return { offset: low, isLost: false }
  const { logId, nextOffset } = stored
  if (logId === '') return null
  // Brokers that tell no id: only the offsets can be compared.
  const isOther = logId !== id && id !== ''
  if (isOther) return { offset: low, isLost: !isInMemory }
  if (nextOffset < low) return { offset: low, isLost: true }
  if (nextOffset > end || nextOffset > (later ?? end)) return { offset: later ?? low, isLost: true }
  return { offset: nextOffset, isLost: false }
}

/** `planStart` for several partitions of a log. */
export function planStarts(
  partitions: readonly number[],
  stored: ReadonlyMap<number, StoredPosition>,
  { id, partitions: ranges }: LogExtent,
  isInMemory: boolean,
): ReadonlyMap<number, PartitionStart> {
  const starts = new Map<number, PartitionStart>()
  for (const partition of partitions) {
    const range = ranges.get(partition)
    if (range === undefined) continue
    const start = planStart(stored.get(partition) ?? null, { id, ...range }, isInMemory)
    if (start !== null) starts.set(partition, start)
  }
  return starts
}
