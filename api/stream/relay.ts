import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import type { Consumer, EventLog, LogBatch, LogRecord } from '../../pipeline/log/log.ts'
import { partitionOf } from '../../pipeline/log/topics.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { OnStage } from '../../pipeline/runtime/slot-stage.ts'
import { BEGINNING, type CursorCodec, endOfSlot, type LatePosition, lateBefore } from '../cursor.ts'
import type { PublishedSwap } from '../items/trade.ts'
import { EntryRenderer, type RelayPosition } from './entry-renderer.ts'
import { findLateDuplicates } from './late-duplicates.ts'
import { type MergerOutput, SlotMerger } from './slot-merger.ts'
import type { FeedMetrics } from './telemetry.ts'
import type { TradeHistory } from './trade-history.ts'
import { type FeedEntry, TradeWindow } from './trade-window.ts'

/** Bounds of a relay; each has a default. */
export interface RelayOptions {
  /** How long trades are kept in memory, in milliseconds. */
  readonly windowMs?: number
  /** How many trades are kept in memory. */
  readonly windowTrades?: number
  /** Swaps and markers buffered for a slow partition before the other partitions pause. */
  readonly maxWaiting?: number
  /** At start the window counts as rebuilt when the log has been silent for this time. */
  readonly quietMs?: number
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
}

type WithdrawnOutput = Extract<MergerOutput, { kind: 'withdrawn' }>
type PublishedOutput = Exclude<MergerOutput, WithdrawnOutput>

/** Listens to a relay. */
export interface RelayListener {
  /**
   * Called with new entries in the order in which they are sent, after they were added to the
   * window. The list is empty when only the position moved.
   */
  onEntries(entries: readonly FeedEntry[]): void
  /**
   * Called when trades are withdrawn that are no longer all in the window. Storage alone has their
   * retractions, after the position `before`.
   */
  onOldWithdrawal(before: RelayPosition): void
}

/** Dependencies of a relay. */
export interface RelayDeps {
  readonly log: EventLog
  readonly cursors: CursorCodec
  /** Says where a log that starts empty continues, and whether a late trade is a duplicate. */
  readonly history: Pick<TradeHistory, 'marker' | 'cameBefore'>
  /** Renders a trade as JSON, as `GET /trades` serves it. */
  readonly render: (swap: PublishedSwap & EventKey) => string
  readonly logger: Logger
  readonly metrics: FeedMetrics
  /** Called when a slot is `arrived`, `merged` and `written`. */
  readonly onStage?: OnStage | undefined
}

/**
 * Reads the log from `windowMs` back. Resolves when the window is rebuilt: listeners see only new
 * trades.
 */
export async function createRelay(deps: RelayDeps, options: RelayOptions = {}): Promise<Relay> {
  const end = await deps.log.checkpoint()
  const stored = await deps.history.marker()
  const relay = new Relay(deps, options, { stored, end })
  await relay.start(end)
  return relay
}

/**
 * Publishes the trades of all tracked wallets in one order as their slots are sealed, and keeps the
 * last minutes of them. It has no state of its own: it is rebuilt from the log.
 */
export class Relay {
  readonly window: TradeWindow
  /** Epoch of the log. */
  readonly epoch: number
  readonly #deps: RelayDeps
  readonly #options: Required<RelayOptions>
  readonly #merger: SlotMerger
  readonly #renderer: EntryRenderer
  readonly #listeners = new Set<RelayListener>()
  #consumer: Consumer | undefined
  #isClosed = false
  /** Counts batches, to notice that the log is silent. */
  #batches = 0
  /** Resumes partitions that wait for a slower one. */
  #resume: (() => void)[] = []
  #onBatch: () => void = () => {}

  /** `stored` and `end`: newest markers of storage and of the log. */
  constructor(
    deps: RelayDeps,
    options: RelayOptions,
    { stored, end }: Readonly<Record<'stored' | 'end', SlotMarker | null>>,
  ) {
    this.#deps = deps
    this.#options = {
      windowMs: 300_000,
      windowTrades: 50_000,
      maxWaiting: 50_000,
      quietMs: 2000,
      now: () => performance.now(),
      ...options,
    }
    const { epoch, partitions } = deps.log
    this.epoch = epoch
    // A log that starts empty continues after the newest stored slot.
    const newest = end === null ? stored : null
    this.#merger = new SlotMerger(partitions, { epoch, newest, followsOther: stored !== null })
    const start = {
      key: newest === null ? BEGINNING : endOfSlot(newest.slot),
      late: lateBefore(epoch, newest?.slot ?? 0),
    }
    const { cursors, render } = deps
    this.#renderer = new EntryRenderer({ cursors, epoch, render }, start)
    const { windowMs, windowTrades } = this.#options
    this.window = new TradeWindow({ maxAgeMs: windowMs, maxTrades: windowTrades }, start)
  }

  /** Marker of the newest published slot; null before the first. */
  get newest(): SlotMarker | null {
    return this.#merger.newest
  }

  /** Everything at or before it was published. */
  get position(): RelayPosition {
    return this.#renderer.position
  }

  /** Cursor of `position`. */
  get cursor(): string {
    return this.#renderer.cursor
  }

  /** Encodes a position as a cursor. */
  encode = (key: EventKey, late: LatePosition) => this.#renderer.encode(key, late)
  /** Decodes a cursor; null for text that is none. */
  decode = (cursor: string) => this.#deps.cursors.decodePosition(cursor)

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: RelayListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Starts reading. `end` is the newest marker that every partition has; null for an empty log. */
  async start(end: SlotMarker | null): Promise<void> {
    const { log, logger } = this.#deps
    this.#consumer = await log.consume(
      { mode: 'follow', sinceMs: this.#options.windowMs },
      (batch) => this.#onLogBatch(batch),
    )
    if (end !== null) {
      await this.#untilRebuilt(end.slot)
      if (this.newest === null) this.#startAt(end)
    }
    const { size } = this.window
    logger.info({ trades: size, partitions: log.partitions }, 'relay follows the log')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#resumePartitions()
    this.#onBatch()
    await this.#consumer?.close()
    this.#listeners.clear()
  }

  /** Starts after the newest marker when everything on the log is older than the window. */
  #startAt(end: SlotMarker): void {
    const key = endOfSlot(end.slot)
    this.#merger.beginAt(end)
    this.window.raiseFloor(key, this.epoch)
    this.#renderer.moveTo({ key, late: lateBefore(this.epoch, end.slot) })
    this.#resumePartitions()
  }

  /**
   * Resolves when the slot was published, or when no batch came for `quietMs`: the newest slot of
   * the log may be older than the window.
   */
  #untilRebuilt(slot: number): Promise<void> {
    const { quietMs } = this.#options
    const isPublished = () => (this.newest?.slot ?? -1) >= slot || this.#isClosed
    return new Promise((resolve) => {
      let seen = -1
      const check = () => {
        if (seen !== this.#batches && !isPublished()) {
          seen = this.#batches
          return
        }
        clearInterval(timer)
        this.#onBatch = () => {}
        resolve()
      }
      const timer = setInterval(check, quietMs)
      this.#onBatch = () => {
        if (isPublished()) check()
      }
      check()
    })
  }

  async #onLogBatch(batch: LogBatch): Promise<void> {
    for (const entry of batch.records)
      if (entry.kind === 'marker') this.#deps.onStage?.('arrived', entry.marker.slot)
    for (const part of aroundWithdrawals(batch)) await this.#readPart(part)
  }

  async #readPart(batch: LogBatch): Promise<void> {
    const received = performance.now()
    while (this.#mustWait(batch)) await new Promise<void>((resolve) => this.#resume.push(resolve))
    if (this.#isClosed) return
    const suspects = this.#merger.findSuspects(batch)
    const duplicates =
      suspects.length === 0 ? undefined : await findLateDuplicates(suspects, this.#deps)
    if (this.#isClosed) return
    const outputs = this.#merger.read(batch, duplicates)
    // A rewind may have made a withdrawal ready that waits.
    if (outputs.length === 0) this.#resumePartitions()
    this.#deps.metrics.waiting.set(this.#merger.size)
    for (const output of outputs) if (output.kind === 'withdrawn') this.#retract(output)
    const others = outputs.filter((output) => output.kind !== 'withdrawn')
    if (others.length > 0) this.#publish(others, received)
    this.#batches++
    this.#onBatch()
  }

  /**
   * Backpressure: at the bound only the slowest partition is read, so memory stays bounded. A
   * withdrawal waits until everything that its partition had passed is released.
   */
  #mustWait({ partition, records: [first] }: LogBatch): boolean {
    if (this.#isClosed) return false
    if (first !== undefined && isWithdrawal(first)) return !this.#merger.isReady(partition)
    if (this.#merger.size < this.#options.maxWaiting) return false
    return !this.#merger.isBehind(partition)
  }

  /** Takes the trades of a withdrawal out of the window, and publishes their retractions. */
  #retract({ withdrawal, mark }: WithdrawnOutput): void {
    const { metrics, log } = this.#deps
    const isVoid = (wallet: number) => partitionOf(wallet, log.partitions) === mark.partition
    const trades = this.window.withdraw(withdrawal.slot, mark, isVoid)
    if (trades !== null) {
      metrics.retractions.inc(trades.length)
      this.#send(this.#renderer.renderRetractions(trades, mark, this.#options.now()))
      return
    }
    metrics.oldWithdrawals.inc()
    const before = this.position
    this.#renderer.moveBehind(mark)
    for (const listener of this.#listeners) listener.onOldWithdrawal(before)
    this.#send([])
  }

  #send(entries: readonly FeedEntry[], at = this.#options.now()): void {
    this.#updateWindow(entries, at)
    // Also called without entries: a connection may wait for this position.
    for (const listener of this.#listeners) listener.onEntries(entries)
    this.#resumePartitions()
  }

  #publish(outputs: readonly PublishedOutput[], received: number): void {
    const { metrics } = this.#deps
    const at = this.#options.now()
    this.#reportStage('merged', outputs)
    const entries = outputs.flatMap((output) => this.#renderer.render(output, at))
    this.#send(entries, at)
    if (entries.length > 0) metrics.relaySeconds.observe((performance.now() - received) / 1000)
    this.#reportStage('written', outputs)
  }

  #updateWindow(entries: readonly FeedEntry[], at: number): void {
    const { incompleteTo } = this.#merger
    if (incompleteTo >= 0) this.window.raiseFloor(endOfSlot(incompleteTo), this.epoch)
    for (const entry of entries) this.window.add(entry)
    const evicted = this.window.evict(at)
    // The evicted slot itself stays known: the window may still have some of its trades, and they
    // would count as new if the log repeated them.
    if (evicted !== null) this.#merger.forget(evicted - 1)
    this.#deps.metrics.windowTrades.set(this.window.size)
  }

  #reportStage(stage: 'merged' | 'written', outputs: readonly PublishedOutput[]): void {
    for (const output of outputs)
      if (output.kind === 'slot') this.#deps.onStage?.(stage, output.marker.slot)
  }

  #resumePartitions(): void {
    const waiting = this.#resume
    this.#resume = []
    for (const resume of waiting) resume()
  }
}

/** Whether an entry withdraws a slot that may have been published. */
function isWithdrawal(entry: LogRecord): boolean {
  return entry.kind === 'withdrawal' && entry.withdrawal.rewind === null
}

/** Splits a batch before and after each withdrawal. Mostly there is none. */
function aroundWithdrawals({ partition, records }: LogBatch): LogBatch[] {
  const parts: LogRecord[][] = []
  for (const entry of records) {
    const last = parts.at(-1)
    const [first] = last ?? []
    if (last === undefined || isWithdrawal(entry) || (first !== undefined && isWithdrawal(first)))
      parts.push([entry])
    else last.push(entry)
  }
  return parts.map((part) => ({ partition, records: part }))
}
