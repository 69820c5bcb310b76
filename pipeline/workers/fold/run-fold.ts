import { ServiceError } from '../../domain/service-error.ts'
import type { SlotMarker } from '../../domain/slot.ts'
import { LateOrder } from '../../log/late-order.ts'
import type { EventLog, LogBatch, PartitionLease, StartOffsets } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { orClosed } from '../../runtime/pause.ts'
import type { OnStage } from '../../runtime/slot-stage.ts'
import { createFencedStore } from '../../store/fenced-store.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import type { StoredPosition } from '../../store/tables/progress.ts'
import type { Fences } from './fence.ts'
import { type Flush, joinBatches, splitAtWithdrawals } from './flush.ts'
import { type BackgroundWork, createFlushScheduler } from './flush-scheduler.ts'
import { FoldProgress, type FoldStatus } from './fold-progress.ts'
import { StatePublisher } from './state-publisher.ts'

/**
 * Handles the batches of one flush. `runFold` does the rest: reading, joining, progress, commits.
 */
export interface FoldWorker {
  /** Name of the consumer group, and key in table `progress`. */
  readonly name: string
  /**
   * Called when partitions are assigned or revoked: memory is stale, except of partitions that were
   * kept (rule K23). `fences`: versions of rows begin with the fencing token of their partition
   * (rule K15).
   */
  assigned(partitions: readonly number[], fences: () => Promise<Fences>): void
  /** Called after a failure: all memory is stale. */
  forget(): void
  /**
   * Stores everything that follows from a flush. Idempotent: after a rejection the entries come
   * again. Returns whether an earlier owner of the partitions may have stored some of it.
   */
  apply(flush: Flush): Promise<boolean>
  /** Work that no flush waits for; none after `assigned` or `forget`, until the next flush. */
  readonly background: BackgroundWork
  /** Called once, after the last flush. */
  finish(): Promise<void>
}

/** A running worker loop. */
export interface RunningFold {
  /** The newest slot stored for every assigned partition; null until each has one. */
  status(): FoldStatus
  /** The partitions assigned to this process. */
  partitions(): readonly number[]
  /** Runs `work` between two flushes. Rejects with `closed` when the worker stops. */
  between(work: () => Promise<void>): Promise<void>
  /** Stops reading, stores what was read (within `graceMs`), then ends. */
  stop(graceMs?: number): Promise<void>
}

/** Dependencies of a worker loop. */
export interface FoldDeps {
  readonly store: Store
  readonly log: EventLog
  readonly logger: Logger
  /** How long a flush waits for the other partitions once one has a batch. Default 5 ms. */
  readonly windowMs?: number
  /** Called with an error that only a bug can cause. The process should end; a restart resumes. */
  readonly onBug: (error: unknown) => void
  /** Called when a slot is `read`, `folded` and `stored`. */
  readonly onStage?: OnStage | undefined
}

/**
 * Runs the loop of a worker. It joins batches of the partitions into one flush, lets the worker
 * store it, appends what was stored to the log of states, stores `progress`, appends that to the
 * log of states, then lets the log commit the offsets. Every write of a flush is idempotent, so a
 * crash at any point only repeats the flush. While the store is down the loop waits, and memory
 * holds one batch a partition.
 */
export async function runFold(
  createWorker: (store: Store) => FoldWorker,
  deps: FoldDeps,
): Promise<RunningFold> {
  const { log, logger, onStage, windowMs = 5 } = deps
  const stopping = new AbortController()
  let assignment: PartitionLease | null = null
  /** Whether the group was left in order: what is written now has no effect on other owners. */
  let hasLeft = false
  const confirm = async () => {
    if (!hasLeft) await assignment?.confirm(stopping.signal)
  }
  const fenced = createFencedStore(deps.store, confirm)
  const store = createPatientStore(fenced, stopping.signal, logger)
  const states = new StatePublisher(store, log.states)
  const worker = createWorker(states.store)
  const progress = new FoldProgress(store, log, worker.name, logger)
  let assigned: readonly number[] = []

  async function flush(batches: readonly LogBatch[]): Promise<void> {
    for (const { records } of batches)
      for (const entry of records) if (entry.kind === 'marker') onStage?.('read', entry.marker.slot)
    const order = new LateOrder(log.epoch, progress.passed())
    const lost = new Set(progress.lost)
    const newest = new Map<number, SlotMarker | null>()
    for (const part of splitAtWithdrawals(batches)) {
      const { flush, reached } = joinBatches(part, order, lost)
      for (const [partition, marker] of reached) newest.set(partition, marker)
      if (await worker.apply({ ...flush, replayed: progress.replayed(batches) })) states.readAgain()
    }
    const slots = [...newest.values()].flatMap((marker) => marker?.slot ?? [])
    if (slots.length > 0) onStage?.('folded', Math.max(...slots))
    const positions = await progress.advance(batches, newest)
    await appendStates(NO_MARKS)
    await progress.store(positions)
    // Last, so that what readers serve as stored is where a restart goes on.
    await appendStates(marksOf(positions))
    const { slot } = progress.status(assigned)
    if (slot !== null) onStage?.('stored', slot)
  }

  async function appendStates(marks: Parameters<StatePublisher['append']>[1]): Promise<void> {
    await orClosed(states.append(await progress.fences(), marks), stopping.signal)
  }

  /** Runs work between flushes. What it stores is covered by the next mark. */
  const runBetween = (work: () => Promise<void>) =>
    guarded(async () => {
      await work()
      await appendStates(NO_MARKS)
    })

  /**
   * Runs work on the worker's memory. After a failure that memory may be half updated, so it is
   * dropped.
   */
  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      worker.forget()
      if (!isClosed(error)) reportBug(error, worker.name, deps)
      throw error
    }
  }

  const scheduler = createFlushScheduler({
    windowMs,
    partitionCount: () => assigned.length,
    flush: (batches) => guarded(() => flush(batches)),
    background: {
      isDue: () => worker.background.isDue(),
      runSlice: () => runBetween(() => worker.background.runSlice()),
    },
  })
  const consumer = await log.consume(
    {
      mode: 'shared',
      group: worker.name,
      async onAssigned(next) {
        let starts: StartOffsets = new Map()
        // Nothing else runs meanwhile, so nothing has the tokens of one assignment and writes in
        // another.
        await scheduler.runNext(async () => {
          assignment = next
          assigned = next.partitions
          worker.assigned(assigned, progress.fences)
          starts = await progress.assign(next)
          states.assigned(assigned, progress.logTime(assigned), Date.now())
        })
        return starts
      },
    },
    scheduler.add,
  )

  async function stop(graceMs: number): Promise<void> {
    const giveUp = setTimeout(() => stopping.abort(), graceMs)
    try {
      scheduler.refuseWork()
      await consumer.close()
      hasLeft = true
      await scheduler.drain()
      await worker.finish()
    } catch (error) {
      if (!isClosed(error)) throw error
      logger.warn('stopped before everything was saved; the next start makes up for it')
    } finally {
      clearTimeout(giveUp)
    }
  }

  let ending: Promise<void> | undefined
  return {
    status: () => progress.status(assigned),
    partitions: () => assigned,
    between: (work) => scheduler.runBetween(() => runBetween(work)),
    stop(graceMs = 5000) {
      ending ??= stop(graceMs)
      return ending
    },
  }
}

const NO_MARKS = new Map<number, never>()

/** What readers of the log of states are told of the partitions. */
function marksOf(positions: ReadonlyMap<number, StoredPosition>) {
  const marks = [...positions].map(([partition, { marker }]) => {
    const { slot, blockTime } = marker
    return [partition, { slot, blockTime }] as const
  })
  return new Map(marks)
}

/** Whether the worker stops, or its partitions have another owner. */
function isClosed(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'closed' || error.code === 'fenced')
}

function reportBug(error: unknown, worker: string, { logger, onBug }: FoldDeps): void {
  // The message of an error that is not ours may quote data.
  const reason = error instanceof ServiceError ? error.message : (error as Error)?.name
  logger.error({ worker, reason }, 'flush failed for good')
  onBug(error)
}
