import type { Swap } from '../../pipeline/domain/event.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { SlotMarker } from '../../pipeline/domain/slot.ts'
import type { Consumer, EventLog, LogBatch } from '../../pipeline/log/log.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { OnStage } from '../../pipeline/runtime/slot-stage.ts'
import { BEGINNING, type CursorCodec, endOfSlot } from '../cursor.ts'
import { tradeItem } from '../items/trade.ts'
import { type Merged, SlotMerger } from './slot-merger.ts'
import type { FeedMetrics } from './telemetry.ts'
import { type FeedTrade, TradeWindow } from './trade-window.ts'

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
  /** The newest slot that has passed; null before the first. */
  readonly newest: SlotMarker | null
  /** Cursor of the newest position passed: everything at or before it has been handed out. */
  readonly cursor: string
  encode: (position: EventKey) => string
  decode: (cursor: string) => EventKey | null
  /** Calls the listener with new trades, in the order to send them, after they are in the window. Gives what ends it. */
  listen(listener: TradesListener): () => void
  close(): Promise<void>
}

export type TradesListener = (trades: readonly FeedTrade[]) => void

/** Follows the log from `windowMs` back; resolves when the window is rebuilt, so that nobody is sent what came before. */
export async function createRelay(
  deps: {
    readonly log: EventLog
    readonly cursors: CursorCodec
    readonly logger: Logger
    readonly metrics: FeedMetrics
    /** Told when a slot is `merged` and, if it has trades, `written`. */
    readonly onStage?: OnStage | undefined
  },
  options: RelayOptions = {},
): Promise<Relay> {
  const relay = new LogRelay(deps, options)
  await relay.start()
  return relay
}

class LogRelay implements Relay {
  readonly window: TradeWindow
  readonly #metrics: FeedMetrics
  readonly #log: EventLog
  readonly #cursors: CursorCodec
  readonly #logger: Logger
  readonly #options: Required<RelayOptions>
  readonly #onStage: OnStage | undefined
  readonly #merger: SlotMerger
  readonly #listeners = new Set<TradesListener>()
  #consumer: Consumer | undefined
  #isClosed = false
  #cursor: { readonly slot: number; readonly text: string } | null = null
  #batches = 0
  /** Wakes the partitions that wait for one that is behind. */
  #wake: (() => void)[] = []
  #onBatch: () => void = () => {}

  constructor(deps: Parameters<typeof createRelay>[0], options: RelayOptions) {
    this.#log = deps.log
    this.#cursors = deps.cursors
    this.#logger = deps.logger
    this.#options = {
      windowMs: 300_000,
      windowTrades: 50_000,
      maxWaiting: 50_000,
      quietMs: 2000,
      now: () => performance.now(),
      ...options,
    }
    const { windowMs, windowTrades } = this.#options
    this.#metrics = deps.metrics
    this.#onStage = deps.onStage
    this.window = new TradeWindow({ maxAgeMs: windowMs, maxTrades: windowTrades }, BEGINNING)
    this.#merger = new SlotMerger(deps.log.partitions)
  }

  get newest(): SlotMarker | null {
    return this.#merger.newest
  }

  get cursor(): string {
    const slot = this.newest?.slot
    if (slot === undefined) return this.encode(BEGINNING)
    if (this.#cursor?.slot !== slot) this.#cursor = { slot, text: this.encode(endOfSlot(slot)) }
    return this.#cursor.text
  }

  encode = (position: EventKey) => this.#cursors.encode('trades', position)
  decode = (cursor: string) => this.#cursors.decode('trades', cursor)

  listen(listener: TradesListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(): Promise<void> {
    const end = await this.#log.checkpoint()
    this.#consumer = await this.#log.consume(
      { mode: 'follow', sinceMs: this.#options.windowMs },
      (batch) => this.#handle(batch),
    )
    if (end !== null) await this.#rebuilt(end.slot)
    const { size } = this.window
    this.#logger.info({ trades: size, partitions: this.#log.partitions }, 'relay follows the log')
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
    const dropped = this.#merger.dropped
    const merged = this.#merger.read(batch)
    this.#metrics.dropped.inc(this.#merger.dropped - dropped)
    this.#metrics.waiting.set(this.#merger.size)
    if (merged.length > 0) this.#pass(merged, received)
    this.#batches++
    this.#onBatch()
  }

  /** A partition that is ahead waits: nothing is lost, order is kept, and memory has a bound. */
  #isFull(partition: number): boolean {
    if (this.#isClosed || this.#merger.size < this.#options.maxWaiting) return false
    return !this.#merger.isBehind(partition)
  }

  #pass(merged: readonly Merged[], received: number): void {
    const at = this.#options.now()
    this.#tell('merged', merged)
    const trades = merged.flatMap((one) =>
      one.kind === 'late'
        ? [this.#renderLate(one.swap, endOfSlot(one.passedSlot), at)]
        : one.swaps.map((swap) => this.#render(swap, at)),
    )
    for (const trade of trades) this.window.add(trade)
    const { incompleteTo } = this.#merger
    if (incompleteTo >= 0) this.window.raiseFloor(endOfSlot(incompleteTo))
    const evicted = this.window.evict(at)
    // A slot some of whose trades are still held is kept whole, or those would count as new when they come again.
    if (evicted !== null) this.#merger.forget(evicted - 1)
    this.#metrics.windowTrades.set(this.window.size)
    if (trades.length > 0) {
      for (const listener of this.#listeners) listener(trades)
      this.#metrics.relaySeconds.observe((performance.now() - received) / 1000)
      this.#tell('written', merged)
    }
    this.#wakeAll()
  }

  #tell(stage: 'merged' | 'written', merged: readonly Merged[]): void {
    if (this.#onStage === undefined) return
    for (const one of merged) {
      if (one.kind === 'late' || (stage === 'written' && one.swaps.length === 0)) continue
      this.#onStage(stage, one.marker.slot)
    }
  }

  #render(swap: Swap, at: number): FeedTrade {
    const key = keyOf(swap)
    const message = Buffer.from(
      `{"channel":"trades","id":"${this.encode(key)}","data":${JSON.stringify(tradeItem(swap))}}`,
    )
    const before = { ...key, eventIndex: key.eventIndex - 1 }
    return { key, before, mint: swap.baseMint, late: false, live: message, inPlace: message, at }
  }

  /** Sent live, its id is the position passed by then: whoever resumes there has had every trade in order before it, and this one. */
  #renderLate(swap: Swap, before: EventKey, at: number): FeedTrade {
    const data = JSON.stringify(tradeItem(swap))
    const live = Buffer.from(
      `{"channel":"trades","id":"${this.encode(before)}","late":true,"data":${data}}`,
    )
    return { ...this.#render(swap, at), before, late: true, live }
  }

  #wakeAll(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }
}

function keyOf({ slot, txIndex, wallet, eventIndex }: Swap): EventKey {
  return { slot, txIndex, wallet, eventIndex }
}
