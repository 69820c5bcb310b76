import { ServiceError } from '../../domain/service-error.ts'
import type { SlotMarker } from '../../domain/slot.ts'
import { LateOrder } from '../../log/late-order.ts'
import type { EventLog, LogBatch } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { progressRow } from './event-rows.ts'
import { type Flush, joinBatches } from './flush.ts'
import { createFlushScheduler } from './flush-scheduler.ts'
import { readProgress } from './stored-events.ts'

/** What one flush does. `runFold` does the rest: reading, joining, progress, commits. */
export interface FoldWorker {
  /** Name of its consumer group, and its key in table `progress`. */
  readonly name: string
  /** Called when partitions are assigned or revoked, and after a failure: memory is stale. */
  assigned(partitions: readonly number[]): void
  /**
   * Stores everything that follows from a flush. Idempotent: after a rejection the entries come
   * again.
   */
  apply(flush: Flush): Promise<void>
  /** Called once, after the last flush. */
  finish(): Promise<void>
}

/** A running worker loop. */
export interface RunningFold {
  /** The newest slot stored for every assigned partition; null until each has one. */
  status(): { readonly slot: number | null; readonly blockTime: number | null }
  /** The partitions assigned to this process. */
  partitions(): readonly number[]
  /** Runs `work` between two flushes. Rejects with `closed` when the worker stops. */
  between(work: () => Promise<void>): Promise<void>
  /** Stops reading, stores what was read (within `graceMs`), then ends. */
  stop(graceMs?: number): Promise<void>
}

/** What a worker loop needs. */
export interface FoldDeps {
  readonly store: Store
  readonly log: EventLog
  readonly logger: Logger
  /** How long a flush waits for the other partitions once one has a batch. Default 5 ms. */
  readonly windowMs?: number
  /** Called with an error that only a bug can cause. The process should end; a restart resumes. */
  readonly onBug: (error: unknown) => void
}

/**
 * Runs the loop of a worker. It joins batches of the partitions into one flush, lets the worker
 * store it, then stores `progress`, then lets the log commit the offsets. Every write of a flush is
 * idempotent, so a crash at any point only repeats the flush. While the store is down the loop
 * waits, and memory holds one batch a partition.
 */
export async function runFold(
  createWorker: (store: Store) => FoldWorker,
  deps: FoldDeps,
): Promise<RunningFold> {
  const { log, logger, windowMs = 5 } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)
  const worker = createWorker(store)
  const progress = new FoldProgress(store, log, worker.name)
  let assigned: readonly number[] = []

  async function flush(batches: readonly LogBatch[]): Promise<void> {
    const order = new LateOrder(log.epoch, await progress.stored())
    const { flush, reached } = joinBatches(batches, order)
    await worker.apply(flush)
    await progress.store(reached, order.all())
  }

  /**
   * Runs work on the worker's memory. After a failure that memory may be half updated, so it is
   * dropped.
   */
  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      worker.assigned(assigned)
      if (!(error instanceof ServiceError && error.code === 'closed')) reportBug(error)
      throw error
    }
  }

  function reportBug(error: unknown): void {
    // The message of an error that is not ours may quote data.
    const reason = error instanceof ServiceError ? error.message : (error as Error)?.name
    logger.error({ worker: worker.name, reason }, 'flush failed for good')
    deps.onBug(error)
  }

  const scheduler = createFlushScheduler({
    windowMs,
    partitionCount: () => assigned.length,
    flush: (batches) => guarded(() => flush(batches)),
  })
  const consumer = await log.consume(
    {
      mode: 'shared',
      group: worker.name,
      async onAssigned(partitions) {
        await scheduler.current()
        assigned = partitions
        progress.forget()
        worker.assigned(partitions)
      },
    },
    scheduler.add,
  )

  async function stop(graceMs: number): Promise<void> {
    const giveUp = setTimeout(() => stopping.abort(), graceMs)
    try {
      scheduler.refuseWork()
      await consumer.close()
      await scheduler.drain()
      await worker.finish()
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'closed')) throw error
      logger.warn('stopped before everything was saved; the next start makes up for it')
    } finally {
      clearTimeout(giveUp)
    }
  }

  let stopped: Promise<void> | undefined
  return {
    status: () => progress.status(assigned),
    partitions: () => assigned,
    between: (work) => scheduler.runBetween(() => guarded(work)),
    stop(graceMs = 5000) {
      stopped ??= stop(graceMs)
      return stopped
    },
  }
}

/** How far each partition is stored: table `progress`, and what this process added to it. */
class FoldProgress {
  readonly #store: Store
  readonly #log: EventLog
  readonly #worker: string
  /** Newest marker that this process stored, by partition. */
  readonly #newest = new Map<number, SlotMarker>()
  /** Slot of the newest stored marker by partition, whichever process stored it; null: not read. */
  #stored: ReadonlyMap<number, number> | null = null

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
    await this.#store.insert('progress', rows)
    for (const [partition, marker] of reached) this.#newest.set(partition, marker)
    this.#stored = passed
  }

  /** Drops what is in memory. Other processes may have stored more since. */
  forget(): void {
    this.#newest.clear()
    this.#stored = null
  }

  /** The lowest of the newest markers; null fields while a partition has none. */
  status(partitions: readonly number[]): ReturnType<RunningFold['status']> {
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
