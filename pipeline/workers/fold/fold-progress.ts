import type { SlotMarker } from '../../domain/slot.ts'
import type { EventLog } from '../../log/log.ts'
import type { Store } from '../../store/store.ts'
import { insertProgress, readProgress } from '../../store/tables/progress.ts'
import { progressRow } from './event-rows.ts'

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
  /** Newest marker that this process stored, by partition. */
  readonly #newest = new Map<number, SlotMarker>()
  /** Slot of the newest stored marker by partition, whichever process stored it; null: not read. */
  #stored: ReadonlyMap<number, number> | null = null

  /** `worker`: name in table `progress`. */
  constructor(store: Store, log: EventLog, worker: string) {
    this.#store = store
    this.#log = log
    this.#worker = worker
  }

  /** Slot of the newest stored marker of each partition. */
  async stored(): Promise<ReadonlyMap<number, number>> {
    this.#stored ??= await this.#readStart()
    return this.#stored
  }

  /** Stores rows of `progress`. `passed`: slot of the newest marker of every known partition. */
  async store(
    reached: ReadonlyMap<number, SlotMarker>,
    passed: ReadonlyMap<number, number>,
  ): Promise<void> {
    const { partitions } = this.#log
    const rows = [...reached].map(([partition, marker]) =>
      progressRow(this.#worker, partition, partitions, marker),
    )
    await insertProgress(this.#store, rows)
    for (const [partition, marker] of reached) this.#newest.set(partition, marker)
    this.#stored = passed
  }

  /** Clears the cached progress, because other processes may have stored newer progress. */
  forget(): void {
    this.#newest.clear()
    this.#stored = null
  }

  /** The lowest of the newest markers; null fields while a partition has none. */
  status(partitions: readonly number[]): FoldStatus {
    const markers = partitions.map((partition) => this.#newest.get(partition))
    const [first] = markers.filter((marker) => marker !== undefined).sort((a, b) => a.slot - b.slot)
    return first && !markers.includes(undefined)
      ? { slot: first.slot, blockTime: first.blockTime }
      : { slot: null, blockTime: null }
  }

  /** A log in memory restarts, in every partition, at the lowest slot that storage has. */
  async #readStart(): Promise<ReadonlyMap<number, number>> {
    const progress = await readProgress(this.#store, this.#worker)
    if (this.#log.epoch === 0) return progress
    const lowest = progress.size < this.#log.partitions ? -1 : Math.min(...progress.values())
    return new Map([...progress.keys()].map((partition) => [partition, lowest]))
  }
}
