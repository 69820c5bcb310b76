import { ServiceError } from '../../domain/service-error.ts'
import type { SlotMarker } from '../../domain/slot.ts'
import type { EventLog, LogBatch, PartitionLease, StartOffsets } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Store } from '../../store/store.ts'
import {
  insertProgress,
  type ProgressRow,
  readProgress,
  type StoredPosition,
} from '../../store/tables/progress.ts'
import { progressRow } from './event-rows.ts'
import { type Fences, fenceOf } from './fence.ts'
import type { ReachedMarkers } from './flush.ts'
import { planStarts } from './plan-start.ts'

/** A slot and its block time in unix seconds; null until there is one. */
export interface FoldStatus {
  readonly slot: number | null
  readonly blockTime: number | null
}

/**
 * Storage progress of each partition: table `progress`, and the markers that this process added.
 */
export class FoldProgress {
  readonly #store: Store
  readonly #log: EventLog
  readonly #worker: string
  readonly #logger: Logger
  /** Newest marker that this process stored, by partition. */
  readonly #newest = new Map<number, SlotMarker>()
  /** Newest stored position by partition, whichever process stored it. */
  #stored = new Map<number, StoredPosition>()
  /** Highest slot of the rows of each partition, whichever process stored them. */
  #highest = new Map<number, number>()
  /** Lowest slot of `#stored` at the last assignment; -1 if a partition has none. */
  #lowest = -1
  /** Identity of the log at the last assignment. */
  #logId = ''
  /** Partitions of which entries after the stored ones are gone; until the next marker. */
  readonly #lost = new Set<number>()
  /** End of each partition at the last assignment: an earlier owner may have read up to there. */
  #ends = new Map<number, bigint>()
  /** Fencing tokens of the last assignment, and its generation. */
  #claim: Promise<Claim> | null = null
  #makeClaim: () => Promise<Claim> = () =>
    Promise.reject(new ServiceError('closed', 'no partition'))

  /** `worker`: name in table `progress`. */
  constructor(store: Store, log: EventLog, worker: string, logger: Logger) {
    this.#store = store
    this.#log = log
    this.#worker = worker
    this.#logger = logger
  }

  /**
   * Reads what is stored and compares it with the log (rule K10). Returns the offsets at which to
   * read. Other processes may have stored newer progress since the last assignment.
   */
  async assign(assignment: PartitionLease): Promise<StartOffsets> {
    const { partitions } = assignment
    const stored = await readProgress(this.#store, this.#worker)
    const extent = await this.#log.extent(timesOf(partitions, stored))
    const starts = planStarts(partitions, stored, extent, this.#isInMemory)
    this.#newest.clear()
    this.#lost.clear()
    this.#stored = new Map(stored)
    this.#highest = new Map([...stored].map(([partition, { highest }]) => [partition, highest]))
    const slots = [...stored.values()].map(({ marker }) => marker.slot)
    this.#lowest = slots.length < this.#log.partitions ? -1 : Math.min(...slots)
    this.#logId = extent.id
    this.#ends = new Map([...extent.partitions].map(([partition, { end }]) => [partition, end]))
    this.#claim = null
    this.#makeClaim = () => this.#claimFor(assignment, stored)
    for (const [partition, { isLost }] of starts) if (isLost) this.#lost.add(partition)
    if (this.#lost.size > 0) {
      const context = { partitions: [...this.#lost] }
      this.#logger.warn(context, 'the log lacks entries after the stored ones: a hole')
    }
    return new Map([...starts].map(([partition, { offset }]) => [partition, offset]))
  }

  /**
   * Fencing tokens of the assigned partitions: higher than those of every owner before. Resolves
   * once the log has told the generation of the assignment.
   */
  readonly fences = async (): Promise<Fences> => (await this.#claimed()).fences

  #claimed(): Promise<Claim> {
    this.#claim ??= this.#makeClaim().catch((error: unknown) => {
      this.#claim = null
      throw error
    })
    return this.#claim
  }

  async #claimFor(
    assignment: PartitionLease,
    stored: ReadonlyMap<number, StoredPosition>,
  ): Promise<Claim> {
    const generation = await assignment.generation()
    const fences = new Map<number, number>()
    const rows: ProgressRow[] = []
    for (const partition of assignment.partitions) {
      const position = stored.get(partition)
      const fence = fenceOf(generation, position)
      fences.set(partition, fence)
      if (position !== undefined && generation > 0)
        rows.push(this.#row(partition, { ...position, fence, generation }))
    }
    // Before any other row with the token: the next owner continues after it.
    await insertProgress(this.#store, rows)
    return { fences, generation }
  }

  /** Partitions of which an earlier owner may have stored entries of these batches. */
  replayed(batches: readonly LogBatch[]): ReadonlySet<number> {
    const replayed = new Set<number>()
    if (this.#isInMemory) return replayed
    for (const { partition, records } of batches) {
      const [first] = records
      if (first && first.offset < (this.#ends.get(partition) ?? 0n)) replayed.add(partition)
    }
    return replayed
  }

  /**
   * The oldest of the newest log entries that are stored, over these partitions, in unix
   * milliseconds; 0 while it is not known.
   */
  logTime(partitions: readonly number[]): number {
    return Math.min(...partitions.map((partition) => this.#stored.get(partition)?.logTime ?? 0))
  }

  /** Partitions of which entries are lost between the stored marker and the next one. */
  get lost(): ReadonlySet<number> {
    return this.#lost
  }

  /**
   * Slot of the newest stored marker of each partition. A log in memory restarts, in every
   * partition, at the lowest slot that storage has.
   */
  passed(): ReadonlyMap<number, number> {
    const slots = new Map<number, number>()
    for (const [partition, { marker, logId }] of this.#stored) {
      const isRestarted = this.#isInMemory && logId !== this.#logId
      slots.set(partition, isRestarted ? this.#lowest : marker.slot)
    }
    return slots
  }

  /** Returns the positions of the partitions once these batches are stored. */
  async advance(
    batches: readonly LogBatch[],
    reached: ReachedMarkers,
  ): Promise<ReadonlyMap<number, StoredPosition>> {
    for (const [partition, marker] of reached) {
      if (marker !== null) this.#newest.set(partition, marker)
      else {
        this.#newest.delete(partition)
        this.#stored.delete(partition)
      }
    }
    const { fences, generation } = await this.#claimed()
    const positions = new Map<number, StoredPosition>()
    for (const { partition, time = 0, records } of batches) {
      const before = positions.get(partition) ?? this.#stored.get(partition)
      const marker = reached.get(partition) ?? before?.marker
      const last = records.at(-1)
      // A position of a log in memory is worth nothing without a new marker.
      if (!marker || !last || (this.#isInMemory && !reached.has(partition))) continue
      const highest = Math.max(marker.slot, this.#highest.get(partition) ?? -1)
      const logTime = Math.max(time, before?.logId === this.#logId ? before.logTime : 0)
      const place = { logId: this.#logId, nextOffset: last.offset + 1n, logTime }
      const fence = fences.get(partition) ?? 0
      positions.set(partition, { marker, highest, ...place, fence, generation })
    }
    return positions
  }

  /** Stores that everything up to these positions is stored. */
  async store(positions: ReadonlyMap<number, StoredPosition>): Promise<void> {
    await insertProgress(
      this.#store,
      [...positions].map(([partition, position]) => this.#row(partition, position)),
    )
    for (const [partition, position] of positions) {
      this.#highest.set(partition, position.highest)
      const before = this.#stored.get(partition)?.marker.slot ?? -1
      if (position.marker.slot > before) this.#lost.delete(partition)
      this.#stored.set(partition, position)
    }
  }

  /** The lowest of the newest markers; null fields while a partition has none. */
  status(partitions: readonly number[]): FoldStatus {
    const markers = partitions.map((partition) => this.#newest.get(partition))
    const [first] = markers.filter((marker) => marker !== undefined).sort((a, b) => a.slot - b.slot)
    return first && !markers.includes(undefined)
      ? { slot: first.slot, blockTime: first.blockTime }
      : { slot: null, blockTime: null }
  }

  #row(partition: number, position: StoredPosition): ProgressRow {
    return progressRow(this.#worker, partition, this.#log.partitions, position)
  }

  get #isInMemory(): boolean {
    return this.#log.epoch !== 0
  }
}

/** The right to write for the assigned partitions. */
interface Claim {
  readonly fences: Fences
  readonly generation: number
}

/** The newest time of what is stored of each partition, as far as it is known. */
function timesOf(
  partitions: readonly number[],
  stored: ReadonlyMap<number, StoredPosition>,
): ReadonlyMap<number, number> {
  const times = partitions.map(
    (partition) => [partition, stored.get(partition)?.logTime ?? 0] as const,
  )
  return new Map(times.filter(([, time]) => time > 0))
}
