import { ServiceError } from '../pipeline/domain/service-error.ts'
import type { Consumer, EventLog, LogBatch } from '../pipeline/log/log.ts'
import {
  STATE_TABLES,
  type StateChange,
  type StateEntry,
  type StoredMark,
} from '../pipeline/log/state-log.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../pipeline/runtime/outage-log.ts'
import { pause } from '../pipeline/runtime/pause.ts'
import type { OnStage } from '../pipeline/runtime/slot-stage.ts'
import type { Store } from '../pipeline/store/store.ts'
import { readProgress } from '../pipeline/store/tables/progress.ts'

/** The newest slot that every worker has stored completely. */
export interface StoredSlot {
  readonly slot: number
  readonly blockTime: number
}

/** Tables in memory that follow the log of states. */
export interface StateModel {
  /**
   * Reads the tables, which have everything up to the marker `stored` (null: before the first
   * slot). What is stored meanwhile also comes to `apply`, in order.
   */
  load(store: Store, stored: StoredSlot | null): Promise<void>
  /** Takes what a new marker covers, in the order in which it was stored. */
  apply(changes: readonly StateChange[], stored: StoredSlot): void
}

/** Dependencies of a `StateReader`. */
export interface StateReaderDeps {
  readonly store: Store
  readonly log: Pick<EventLog, 'partitions' | 'states'>
  readonly logger: Logger
  /** Called when entries are missing: the process cannot go on, and a new one reads the tables. */
  readonly onGap: (error: ServiceError) => void
  /** Called when a slot is `stored`. */
  readonly onStage?: OnStage | undefined
}

/** Changes of a partition up to a mark. */
interface Segment {
  readonly changes: readonly StateChange[]
  slot: number
}

/** A partition of the log of states, as far as it was read. */
class Part {
  readonly segments: Segment[] = []
  /** Changes after the last mark. */
  open: StateChange[] = []
  /** Slots of the newest mark, and of the newest one that the models have. */
  newest = -1
  applied = -1
  blockTime = 0
  /** Offset of the next entry; null before the first one. */
  next: bigint | null = null
  /** Highest fencing token. */
  fence = 0
  /** Number of changes that the models do not have. */
  size = 0

  /** Whether the models lack something that they need for a marker. */
  isDue(slot: number): boolean {
    const [next] = this.segments
    return next !== undefined && (next.slot <= slot || this.applied < slot)
  }

  /** Adds what came since the last mark. A mark without changes joins one of that kind. */
  mark({ slot, blockTime }: StoredMark): void {
    const last = this.segments.at(-1)
    const isEmpty = this.open.length === 0 && last?.changes.length === 0
    if (isEmpty) last.slot = Math.max(last.slot, slot)
    else this.segments.push({ changes: this.open, slot })
    this.open = []
    this.newest = Math.max(this.newest, slot)
    this.blockTime = blockTime
  }

  /** Removes the next segment, and returns its changes. */
  take(): readonly StateChange[] {
    const next = this.segments.shift()
    if (next === undefined) return []
    this.applied = Math.max(this.applied, next.slot)
    this.size -= next.changes.length
    return next.changes
  }
}

/**
 * Follows the log of states (rule K26): it reads the tables once, then brings them to each new
 * storage marker, the lowest slot that every partition has reached. So everything in memory is what
 * storage has up to one marker. A partition that is ahead waits; it is at most one flush ahead in
 * what is served, where a flush covers the marker and later slots.
 */
export class StateReader {
  readonly #deps: StateReaderDeps
  readonly #models: StateModel[] = []
  readonly #parts: readonly Part[]
  readonly #closing = new AbortController()
  readonly #outage: OutageLog
  #consumer: Consumer | null = null
  /** Whether the tables were read. */
  #isServing = false
  #stored: StoredSlot | null = null
  /** Called after each marker. */
  #wake: (() => void)[] = []
  #isMoving = false

  constructor(deps: StateReaderDeps) {
    this.#deps = deps
    this.#outage = createOutageLog(
      deps.logger,
      'ClickHouse does not catch up with the log of states; will retry',
      'ClickHouse has caught up with the log of states',
    )
    this.#parts = Array.from({ length: deps.log.partitions }, () => new Part())
  }

  /** Adds a model. Call it before `start`. */
  add(model: StateModel): void {
    this.#models.push(model)
  }

  /** The storage marker that the models are at; null before the first slot. Never goes back. */
  stored(): StoredSlot | null {
    return this.#stored
  }

  /** Reads the tables. Rejects when the store does not answer. */
  async start(): Promise<void> {
    const { store, log } = this.#deps
    this.#consumer = await log.states.follow((batch) => this.#take(batch))
    await this.#readProgress()
    for (const part of this.#parts) part.applied = part.newest
    const stored = this.#lowestMark()
    await Promise.all(this.#models.map((model) => model.load(store, stored)))
    await this.#readProgress()
    const ahead = Math.max(...this.#parts.map(({ newest }) => newest))
    // Rows of partitions that are ahead were read too.
    for (const deadline = performance.now() + START_MS; this.#lowest().newest < ahead; ) {
      const left = deadline - performance.now()
      if (left <= 0 || this.#closing.signal.aborted) break
      await Promise.race([this.#moved(), pause(left, this.#closing.signal)])
    }
    this.#isServing = true
    await this.#advance()
  }

  async stop(): Promise<void> {
    this.#closing.abort()
    this.#notify()
    await this.#consumer?.close()
  }

  async #take({ partition, records }: LogBatch<StateEntry>): Promise<void> {
    const part = this.#parts[partition]
    if (part === undefined) return
    for (const entry of records) {
      const { changes, mark } = entry
      const isAhead = mark !== null && mark.slot > part.newest
      const next = part.next ?? entry.offset
      if (entry.offset > next || (entry.offset < next && isAhead)) return this.#miss(partition)
      if (entry.offset < next) continue // was handed out before
      part.next = next + 1n
      if (entry.fence !== null) {
        if (entry.fence < part.fence) continue // of a worker that has lost the partition
        part.fence = entry.fence
      }
      for (const change of changes) part.open.push(change)
      part.size += changes.length
      if (mark !== null) part.mark(mark)
    }
    this.#notify()
    await this.#advance()
    // A partition that another one holds up is read on later.
    while (this.#isTooFar(part) && !this.#closing.signal.aborted) await this.#moved()
  }

  /** Whether too many changes wait, and not for this partition. */
  #isTooFar(part: Part): boolean {
    return (
      part !== this.#lowest() && this.#parts.reduce((all, { size }) => all + size, 0) > MOST_WAITING
    )
  }

  /** Entries are gone, or the topic is another one. */
  #miss(partition: number): void {
    this.#closing.abort()
    const text = `entries of the log of states are missing (partition ${partition}): start again`
    this.#deps.onGap(new ServiceError('internal', text))
  }

  async #readProgress(): Promise<void> {
    for (const [partition, { marker }] of await readProgress(this.#deps.store, 'fold')) {
      const part = this.#parts[partition]
      if (part === undefined || part.newest >= marker.slot) continue
      part.newest = marker.slot
      part.blockTime = marker.blockTime
    }
  }

  /** The partition that is furthest behind. */
  #lowest(): Part {
    return this.#parts.reduce((lowest, part) => (part.newest < lowest.newest ? part : lowest))
  }

  /** The newest slot that every partition has; null before the first one. */
  #lowestMark(): StoredSlot | null {
    const { newest: slot, blockTime } = this.#lowest()
    return slot < 0 ? null : { slot, blockTime }
  }

  /** Brings the models to the newest marker that every partition has. */
  async #advance(): Promise<void> {
    if (!this.#isServing || this.#isMoving) return
    this.#isMoving = true
    try {
      while (this.#isDue() && (await this.#hasArrived())) this.#move()
    } finally {
      this.#isMoving = false
    }
  }

  #isDue(): boolean {
    const { newest } = this.#lowest()
    const isNew = newest > (this.#stored?.slot ?? -1)
    return newest >= 0 && (isNew || this.#parts.some((part) => part.isDue(newest)))
  }

  /**
   * Waits until the server in use has every row of the next marker that answers read: a replica
   * gets them after the server that the fold wrote to (rule K13). Returns whether it has; false
   * once this stops.
   */
  async #hasArrived(): Promise<boolean> {
    const { replicas } = this.#deps.store
    if (replicas === undefined) return true
    for (; !this.#closing.signal.aborted; await pause(RETRY_MS, this.#closing.signal))
      try {
        const { newest: slot } = this.#lowest()
        replicas.remember([{ worker: 'fold', partition: null, slot }])
        await replicas.catchUp(STATE_TABLES)
        this.#outage.worked()
        return true
      } catch (error) {
        const reason = error instanceof ServiceError ? error.message : 'failed'
        this.#outage.failed({ reason })
      }
    return false
  }

  #move(): void {
    const stored = this.#lowestMark()
    if (stored === null) return
    const changes: StateChange[] = []
    for (const part of this.#parts)
      while (part.isDue(stored.slot)) for (const change of part.take()) changes.push(change)
    for (const model of this.#models) model.apply(changes, stored)
    this.#stored = stored
    this.#deps.onStage?.('stored', stored.slot)
    this.#notify()
  }

  #moved(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}

/** Longest time that a start waits for partitions that are behind others. */
const START_MS = 5000
const RETRY_MS = 100
/** Changes that wait for a partition. */
const MOST_WAITING = 100_000
