import type { Swap } from '../../pipeline/domain/event.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import type { Consumer, EventLog, LogBatch } from '../../pipeline/log/log.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { OnStage } from '../../pipeline/runtime/slot-stage.ts'
import {
  BEGINNING,
  type CursorCodec,
  endOfSlot,
  type FeedPosition,
  type LatePosition,
  lateAfter,
  lateBefore,
} from '../cursor.ts'
import { frameText } from './frame.ts'
import type { TradeHistory } from './history.ts'
import { gapText, tradeText } from './protocol.ts'
import { type Merged, SlotMerger } from './slot-merger.ts'
import type { FeedMetrics } from './telemetry.ts'
import { type FeedEntry, type FeedTrade, TradeWindow } from './trade-window.ts'

export interface RelayOptions {
  /** How long and how many trades are kept in memory. */
  readonly windowMs?: number
  readonly windowTrades?: number
  /** Swaps and markers held back for a partition that is behind, before the others wait for it. */
  readonly maxWaiting?: number
  /** At start the window counts as rebuilt when the log has been silent for so long, or at its newest marker. */
  readonly quietMs?: number
  /** Milliseconds of a clock that does not go back. */
  readonly now?: () => number
}

/** The trades of every tracked wallet as they are sealed, in one order, and the last minutes of them. Nothing in it can be lost. */
export interface Relay {
  readonly window: TradeWindow
  readonly epoch: number
  /** The newest slot that has passed; null before the first. */
  readonly newest: SlotMarker | null
  /** Everything at or before it has been handed out. */
  readonly position: Required<FeedPosition> & { readonly late: LatePosition }
  /** Cursor of `position`. */
  readonly cursor: string
  encode: (key: EventKey, late: LatePosition) => string
  decode: (cursor: string) => FeedPosition | null
  /** Calls the listener with what is new, in the order to send it, after it is in the window. Gives what ends it. */
  listen(listener: EntriesListener): () => void
  close(): Promise<void>
}

export type EntriesListener = (entries: readonly FeedEntry[]) => void

export interface RelayDeps {
  readonly log: EventLog
  readonly cursors: CursorCodec
  /** What is stored: where a log that starts empty goes on, and whether a late trade of long ago is new. */
  readonly history: Pick<TradeHistory, 'marker' | 'cameBefore'>
  /** JSON of a trade, as it is served everywhere. */
  readonly render: (swap: Swap) => string
  readonly logger: Logger
  readonly metrics: FeedMetrics
  /** Told when a slot is `merged` and, if it has trades, `written`. */
  readonly onStage?: OnStage | undefined
}

/** Follows the log from `windowMs` back; resolves when the window is rebuilt, so that nobody is sent what came before. */
export async function createRelay(deps: RelayDeps, options: RelayOptions = {}): Promise<Relay> {
  const end = await deps.log.checkpoint()
  // A log that starts empty goes on where storage stands.
  const stored = end === null ? await deps.history.marker() : null
  const relay = new LogRelay(deps, options, stored)
  await relay.start(end)
  return relay
}

class LogRelay implements Relay {
  readonly window: TradeWindow
  readonly epoch: number
  readonly #deps: RelayDeps
  readonly #options: Required<RelayOptions>
  readonly #merger: SlotMerger
  readonly #listeners = new Set<EntriesListener>()
  #consumer: Consumer | undefined
  #isClosed = false
  #position: FeedPosition & { readonly late: LatePosition }
  #cursor: string | null = null
  #batches = 0
  /** Wakes the partitions that wait for one that is behind. */
  #wake: (() => void)[] = []
  #onBatch: () => void = () => {}

  constructor(deps: RelayDeps, options: RelayOptions, stored: SlotMarker | null) {
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
    this.#merger = new SlotMerger(partitions, { epoch, newest: stored })
    const slot = stored?.slot ?? 0
    const key = stored === null ? BEGINNING : endOfSlot(slot)
    this.#position = { key, late: lateBefore(epoch, slot) }
    const { windowMs, windowTrades } = this.#options
    this.window = new TradeWindow(
      { maxAgeMs: windowMs, maxTrades: windowTrades },
      { key, late: lateBefore(epoch, slot) },
    )
  }

  get newest(): SlotMarker | null {
    return this.#merger.newest
  }

  get position() {
    return this.#position
  }

  get cursor(): string {
    this.#cursor ??= this.encode(this.#position.key, this.#position.late)
    return this.#cursor
  }

  encode = (key: EventKey, late: LatePosition) => this.#deps.cursors.encode('trades', key, late)
  decode = (cursor: string) => this.#deps.cursors.decodePosition(cursor)

  listen(listener: EntriesListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** `end`: the newest marker that every partition has. */
  async start(end: SlotMarker | null): Promise<void> {
    const { log, logger } = this.#deps
    this.#consumer = await log.consume(
      { mode: 'follow', sinceMs: this.#options.windowMs },
      (batch) => this.#handle(batch),
    )
    if (end !== null) {
      await this.#rebuilt(end.slot)
      // Nothing was appended for long: what comes next comes after the newest marker.
      if (this.newest === null) {
        this.#merger.beginAt(end)
        this.window.raiseFloor(endOfSlot(end.slot), this.epoch)
        this.#reach({ key: endOfSlot(end.slot), late: lateBefore(this.epoch, end.slot) })
      }
    }
    const { size } = this.window
    logger.info({ trades: size, partitions: log.partitions }, 'relay follows the log')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wakeAll()
    this.#onBatch()
    await this.#consumer?.close()
    this.#listeners.clear()
  }

  /** Resolves when the slot has passed, or nothing has come for a while: the log's newest slot may be older than the window. */
  #rebuilt(slot: number): Promise<void> {
    const { quietMs } = this.#options
    return new Promise((resolve) => {
      let seen = -1
      const check = () => {
        if (seen !== this.#batches && (this.newest?.slot ?? -1) < slot && !this.#isClosed) {
          seen = this.#batches
          return
        }
        clearInterval(timer)
        this.#onBatch = () => {}
        resolve()
      }
      const timer = setInterval(check, quietMs)
      this.#onBatch = () => {
        if ((this.newest?.slot ?? -1) >= slot || this.#isClosed) check()
      }
      check()
    })
  }

  async #handle(batch: LogBatch): Promise<void> {
    const received = performance.now()
    while (this.#isFull(batch.partition))
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    if (this.#isClosed) return
    const doubtful = this.#merger.doubtful(batch)
    const out = doubtful.length === 0 ? undefined : await this.#cameBefore(doubtful)
    if (this.#isClosed) return
    const merged = this.#merger.read(batch, out)
    this.#deps.metrics.waiting.set(this.#merger.size)
    if (merged.length > 0) this.#pass(merged, received)
    this.#batches++
    this.#onBatch()
  }

  /** Of late swaps whose slots are out of memory, those that came out before: storage knows. */
  async #cameBefore(
    late: readonly { readonly swap: Swap; readonly mark: LateMark }[],
  ): Promise<ReadonlySet<string>> {
    const { history, metrics, logger } = this.#deps
    let timer: NodeJS.Timeout | undefined
    const overdue = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), MAX_ASK_MS)
    })
    try {
      const before = await Promise.race([history.cameBefore(late), overdue])
      if (before !== null) {
        metrics.repeated.inc(before.size)
        return before
      }
      logger.warn({ swaps: late.length }, 'storage does not say whether late swaps are new')
    } catch {
      logger.warn({ swaps: late.length }, 'storage cannot say whether late swaps are new')
    } finally {
      clearTimeout(timer)
    }
    return new Set() // a swap that came twice is rarer than one that came late
  }

  /** A partition that is ahead waits: nothing is lost, order is kept, and memory has a bound. */
  #isFull(partition: number): boolean {
    if (this.#isClosed || this.#merger.size < this.#options.maxWaiting) return false
    return !this.#merger.isBehind(partition)
  }

  #pass(merged: readonly Merged[], received: number): void {
    const { metrics } = this.#deps
    const at = this.#options.now()
    this.#tell('merged', merged)
    const entries = merged.flatMap((one) => this.#entriesOf(one, at))
    const { incompleteTo } = this.#merger
    if (incompleteTo >= 0) this.window.raiseFloor(endOfSlot(incompleteTo), this.epoch)
    for (const entry of entries) this.window.add(entry)
    const evicted = this.window.evict(at)
    // A slot some of whose trades are still held is kept whole, or those would count as new when they come again.
    if (evicted !== null) this.#merger.forget(evicted - 1)
    metrics.windowTrades.set(this.window.size)
    // Also without entries: somebody may wait for this position.
    for (const listener of this.#listeners) listener(entries)
    if (entries.length > 0) {
      metrics.relaySeconds.observe((performance.now() - received) / 1000)
      this.#tell('written', merged)
    }
    this.#wakeAll()
  }

  #tell(stage: 'merged' | 'written', merged: readonly Merged[]): void {
    const { onStage } = this.#deps
    if (onStage === undefined) return
    for (const one of merged) {
      if (one.kind !== 'slot' || (stage === 'written' && one.swaps.length === 0)) continue
      onStage(stage, one.marker.slot)
    }
  }

  #entriesOf(one: Merged, at: number): FeedEntry[] {
    const { key, late } = this.#position
    if (one.kind === 'late') {
      const after = lateAfter(late, one.mark)
      this.#reach({ key, late: after })
      const { swap, mark } = one
      return [this.#render(swap, { mark, id: { key, late: after }, before: { key, late }, at })]
    }
    if (one.kind === 'gap') {
      const end = endOfSlot(one.toSlot)
      const before = { key, late }
      this.#reach({ key: end, late: lateBefore(this.epoch, one.toSlot) })
      return [{ kind: 'gap', key: end, live: frameText(gapText(this.cursor)), before, at }]
    }
    const { slot } = one.marker
    const from = lateBefore(this.epoch, slot)
    this.#reach({ key: endOfSlot(slot), late: from })
    return one.swaps.map((swap, index) => {
      const last = one.swaps[index - 1]
      const before = { key: last === undefined ? key : keyOf(last), late: from }
      return this.#render(swap, { mark: null, id: { key: keyOf(swap), late: from }, before, at })
    })
  }

  #reach(position: FeedPosition & { readonly late: LatePosition }): void {
    this.#position = position
    this.#cursor = null
  }

  /** Sent live, its id is the position passed by then: whoever resumes there has had every trade in order before it, and the late ones up to it. */
  #render(
    swap: Swap,
    as: Pick<FeedTrade, 'mark' | 'before' | 'at'> & {
      readonly id: FeedPosition & { readonly late: LatePosition }
    },
  ): FeedTrade {
    const { mark, before, at, id } = as
    const data = this.#deps.render(swap)
    const live = frameText(tradeText(this.encode(id.key, id.late), data, mark !== null))
    return { kind: 'trade', key: keyOf(swap), mint: swap.baseMint, mark, live, data, before, at }
  }

  #wakeAll(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }
}

/** How long a partition waits for storage to say whether a late swap is new. */
const MAX_ASK_MS = 2000

function keyOf({ slot, txIndex, wallet, eventIndex }: Swap): EventKey {
  return { slot, txIndex, wallet, eventIndex }
}
