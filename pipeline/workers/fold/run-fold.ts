import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { RefoldRequest, SlotMarker } from '../../domain/slot.ts'
import { type LateMark, LateOrder } from '../../log/late-order.ts'
import type { EventLog, LogBatch } from '../../log/log.ts'
import type { RecordMessage } from '../../log/log-message.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import { progressRow } from './event-rows.ts'
import { readProgress } from './stored-events.ts'

/** A record as the log gave it, with what is known of how it came there. */
export interface LoggedRecord extends RecordMessage {
  /** Place of a swap that goes to sockets marked late. */
  readonly mark: LateMark | null
}

/** Slots between `fromSlot` and `toSlot` (the latter among them) that are not on the log. */
export interface SlotGap {
  readonly fromSlot: number
  readonly toSlot: number
}

/** What one flush brings, in the order of each partition. */
export interface Flush {
  readonly records: readonly LoggedRecord[]
  readonly markers: readonly SlotMarker[]
  readonly refolds: readonly RefoldRequest[]
  readonly gaps: readonly SlotGap[]
}

/** What a worker does with what it gets; reading, joining, waiting, progress and commits are the loop's. */
export interface FoldWorker {
  /** Name of its consumer group, and in table `progress`. */
  readonly name: string
  /** Partitions are newly given or taken away: what is held in memory is stale. */
  assigned(partitions: readonly number[]): void
  /** Stores what follows from a flush, each entry at least once handed out. A failure means that they come again. */
  apply(flush: Flush): Promise<void>
  /** Called once when no more records come. */
  finish(): Promise<void>
}

export interface RunningFold {
  /** The newest slot that this process has stored of all its partitions; null before the first. */
  status(): { readonly slot: number | null; readonly blockTime: number | null }
  /** The partitions that this process has. */
  partitions(): readonly number[]
  /** Runs `work` between two flushes, while no partition comes or goes. Rejects with `closed` when the worker stops. */
  between(work: () => Promise<void>): Promise<void>
  /** Takes no more, stores what is held (for at most `graceMs`), and ends. */
  stop(graceMs?: number): Promise<void>
}

export interface FoldDeps {
  readonly store: Store
  readonly log: EventLog
  readonly logger: Logger
  /** How long a flush waits for the other partitions after the first has something. */
  readonly windowMs?: number
  /** Called with what can only be a bug; the process should end, its supervisor starts it at the same place. */
  readonly onBug: (error: unknown) => void
}

interface Waiting {
  readonly batch: LogBatch
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * The loop of every worker: batches of the partitions are joined into one flush, the worker stores what follows from it, then `progress` is
 * stored, then the offsets are committed. Every effect of a flush is idempotent, so a crash at any point only repeats it. A lost store is
 * waited for; what is held meanwhile is one batch a partition.
 */
export async function runFold(
  createWorker: (store: Store) => FoldWorker,
  deps: FoldDeps,
): Promise<RunningFold> {
  const { log, logger, windowMs = 5, onBug } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, logger)
  const worker = createWorker(store)
  const newest = new Map<number, SlotMarker>()
  /** Slot of the newest marker of each partition that is stored, whoever stored it. */
  let stored: ReadonlyMap<number, number> | null = null
  let assigned: readonly number[] = []
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined
  const between: (() => Promise<void>)[] = []

  function begin(work: Promise<void>): void {
    flushing = work.finally(() => {
      flushing = undefined
      wake()
    })
  }

  /** Starts a flush when every partition has something or the window is over; while one runs, batches gather for the next. */
  function wake(isWindowOver = false): void {
    if (flushing) return
    const work = between.shift()
    if (work) {
      begin(work())
      return
    }
    if (waiting.length === 0) return
    if (isWindowOver || waiting.length >= assigned.length) {
      clearTimeout(timer)
      timer = undefined
      const taken = waiting
      waiting = []
      begin(flush(taken))
    } else timer ??= setTimeout(() => wake(true), windowMs)
  }

  async function flush(taken: readonly Waiting[]): Promise<void> {
    try {
      await storeBatches(taken.map(({ batch }) => batch))
      for (const { resolve } of taken) resolve()
    } catch (error) {
      for (const { reject } of taken) reject(error)
      failed(error)
    }
  }

  /** What is in memory may be half of what it should be: it is read again. */
  function failed(error: unknown): void {
    worker.assigned(assigned)
    if (error instanceof ServiceError && error.code === 'closed') return
    // Any other error's message may quote data.
    const reason = error instanceof ServiceError ? error.message : (error as Error)?.name
    logger.error({ worker: worker.name, reason }, 'flush failed for good')
    onBug(error)
  }

  /** Where the log stood: one in memory begins again where storage as a whole stands. */
  async function readStart(): Promise<ReadonlyMap<number, number>> {
    const progress = await readProgress(store, worker.name)
    if (log.epoch === 0) return progress
    const lowest = progress.size < log.partitions ? -1 : Math.min(...progress.values())
    return new Map([...progress.keys()].map((partition) => [partition, lowest]))
  }

  async function storeBatches(batches: readonly LogBatch[]): Promise<void> {
    const records: LoggedRecord[] = []
    const markers: SlotMarker[] = []
    const refolds: RefoldRequest[] = []
    const gaps: SlotGap[] = []
    const reached = new Map<number, SlotMarker>()
    stored ??= await readStart()
    const order = new LateOrder(log.epoch, stored)
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
          if (passed !== null && parent > passed) gaps.push({ fromSlot: passed, toSlot: parent })
          order.pass(partition, slot)
          markers.push(entry.marker)
          reached.set(partition, entry.marker)
        }
      }
    await worker.apply({ records, markers, refolds, gaps })
    await store.insert(
      'progress',
      [...reached].map(([partition, marker]) =>
        progressRow(worker.name, partition, log.partitions, marker),
      ),
    )
    for (const [partition, marker] of reached) newest.set(partition, marker)
    stored = order.all()
  }

  const consumer = await log.consume(
    {
      mode: 'shared',
      group: worker.name,
      async onAssigned(partitions) {
        await flushing
        assigned = partitions
        newest.clear()
        stored = null
        worker.assigned(partitions)
      },
    },
    (batch) =>
      new Promise((resolve, reject) => {
        waiting.push({ batch, resolve, reject })
        wake()
      }),
  )

  let stopped: Promise<void> | undefined
  async function stop(graceMs: number): Promise<void> {
    const giveUp = setTimeout(() => stopping.abort(), graceMs)
    try {
      await consumer.close()
      for (const work of between.splice(0)) await work()
      await flushing
      await worker.finish()
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'closed')) throw error
      logger.warn('stopped before everything was saved; the next start makes up for it')
    } finally {
      clearTimeout(giveUp)
    }
  }

  return {
    status() {
      const markers = assigned.map((partition) => newest.get(partition))
      const [first] = markers
        .filter((marker) => marker !== undefined)
        .sort((a, b) => a.slot - b.slot)
      return first && !markers.includes(undefined)
        ? { slot: first.slot, blockTime: first.blockTime }
        : { slot: null, blockTime: null }
    },
    partitions: () => assigned,
    between: (work) =>
      new Promise((resolve, reject) => {
        between.push(async () => {
          if (stopped) return reject(new ServiceError('closed', 'the worker stops'))
          try {
            resolve(await work())
          } catch (error) {
            reject(error)
            failed(error)
          }
        })
        wake()
      }),
    stop(graceMs = 5000) {
      stopped ??= stop(graceMs)
      return stopped
    },
  }
}
