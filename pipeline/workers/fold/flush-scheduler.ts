import { ServiceError } from '../../domain/service-error.ts'
import type { LogBatch } from '../../log/log.ts'

/** Decides when batches are flushed, and runs flushes and other exclusive work one at a time. */
export interface FlushScheduler {
  /** Adds a batch of one partition. Settles with the result of the flush. */
  add(batch: LogBatch): Promise<void>
  /** Runs `work` between two flushes, before waiting batches. Rejects as `work` does. */
  runBetween(work: () => Promise<void>): Promise<void>
  /**
   * Runs `work` when the flush or work that runs now has ended, before everything that waits, also
   * after `refuseWork`. Rejects as `work` does.
   */
  runNext(work: () => Promise<void>): Promise<void>
  /**
   * From now on `runBetween` rejects with `closed`, also for work that has not started. No slice of
   * background work starts.
   */
  refuseWork(): void
  /** Resolves when nothing runs and nothing is ready to run. Never rejects. */
  drain(): Promise<void>
}

/** Options of the flush scheduler. */
export interface FlushSchedulerOptions {
  /** Stores the batches. If it rejects, `add` of every batch rejects. */
  readonly flush: (batches: readonly LogBatch[]) => Promise<void>
  /** How long a flush waits for the other partitions once one has a batch. */
  readonly windowMs: number
  /** How many partitions are assigned; a flush starts as soon as that many batches wait. */
  readonly partitionCount: () => number
  /** Work that no flush waits for. */
  readonly background?: BackgroundWork
}

/**
 * Work in small slices. One runs between two flushes, and one after the other while no flush is
 * due.
 */
export interface BackgroundWork {
  /** Whether there is a slice to run. */
  isDue(): boolean
  /** Runs a slice. After a rejection, `isDue` returns false. */
  runSlice(): Promise<void>
}

interface WaitingBatch {
  readonly batch: LogBatch
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Creates a scheduler. While a flush runs, the batches that arrive gather for the next one. */
export function createFlushScheduler(options: FlushSchedulerOptions): FlushScheduler {
  let waiting: WaitingBatch[] = []
  let timer: NodeJS.Timeout | undefined
  /** Whether the batches that wait need not wait for other partitions. */
  let isWindowOver = false
  let running: Promise<void> | undefined
  let isRefusing = false
  /** Whether a flush has run since the last slice of background work. */
  let hasFlushed = true
  const exclusive: (() => Promise<void>)[] = []

  /** Starts the next piece of work, unless one is running. */
  function wake(): void {
    if (running) return
    const work = exclusive.shift()
    if (work) {
      start(work())
      return
    }
    const isReady = isWindowOver || waiting.length >= options.partitionCount()
    const isFlushDue = waiting.length > 0 && isReady
    if (waiting.length > 0 && !isReady) timer ??= setTimeout(endWindow, options.windowMs)
    if ((hasFlushed || !isFlushDue) && !isRefusing && options.background?.isDue()) {
      hasFlushed = false
      // `runSlice` has handled its own failure.
      start(options.background.runSlice().catch(() => {}))
    } else if (isFlushDue) startFlush()
  }

  function startFlush(): void {
    clearTimeout(timer)
    timer = undefined
    isWindowOver = false
    hasFlushed = true
    const taken = waiting
    waiting = []
    start(settle(taken, options.flush))
  }

  /** Exclusive work may be running; the batches are then flushed after it. */
  function endWindow(): void {
    timer = undefined
    isWindowOver = true
    wake()
  }

  /** `work` never rejects. */
  function start(work: Promise<void>): void {
    running = work.finally(() => {
      running = undefined
      wake()
    })
  }

  return {
    add: (batch) =>
      new Promise((resolve, reject) => {
        waiting.push({ batch, resolve, reject })
        wake()
      }),
    runBetween: (work) =>
      new Promise((resolve, reject) => {
        exclusive.push(async () => {
          if (isRefusing) reject(new ServiceError('closed', 'the worker stops'))
          else await work().then(resolve, reject)
        })
        wake()
      }),
    runNext: (work) =>
      new Promise((resolve, reject) => {
        exclusive.unshift(() => work().then(resolve, reject))
        wake()
      }),
    refuseWork() {
      isRefusing = true
    },
    async drain() {
      while (running) await running
    },
  }
}

/** Flushes batches, and settles each of them as the flush does. Never rejects. */
async function settle(
  waiting: readonly WaitingBatch[],
  flush: FlushSchedulerOptions['flush'],
): Promise<void> {
  try {
    await flush(waiting.map(({ batch }) => batch))
    for (const { resolve } of waiting) resolve()
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}
