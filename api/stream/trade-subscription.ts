import type { Account } from '../credits/meter.ts'
import type { FeedPosition } from '../cursor.ts'
import type { Filter } from '../rows/filter.ts'
import type { CatchUpStep } from './catch-up-step.ts'
import { catchUpSteps, hasReadLate, isPassed } from './catch-up-steps.ts'
import type { HistoryPage, PageRequest } from './history-page.ts'
import type { ProtocolHandler, Transport } from './protocol-handler.ts'
import type { Relay } from './relay.ts'
import type { TradeHistory } from './trade-history.ts'

/** Dependencies of a subscription: its connection and the feed. */
export interface TradeSubscriptionDeps {
  readonly account: Account
  readonly transport: Transport
  readonly relay: Relay
  readonly history: Pick<TradeHistory, 'hasMore' | 'page'>
  /** Schedules a retry of a failed read of storage; default: after 200 ms. */
  readonly scheduleRetry?: ((run: () => void) => void) | undefined
  readonly protocol: Pick<ProtocolHandler<FeedPosition>, 'isOpen' | 'isSlow' | 'end'>
  /** Spends one credit for a trade; false when none is reserved. */
  takeCredit(): boolean
  /** Called after each charged trade. */
  onTrade(): void
  /** Called after a retraction of each of these trades, by `trade_id`. */
  onRetracted(tradeIds: readonly string[]): void
  /** Called with the number of trades sent together. */
  onSent(trades: number): void
}

/**
 * The filter of a trade connection and its position (rule F4). Without a position the subscription
 * is live: everything published was sent. With one it catches up: it sends pages from storage, then
 * the rest from the relay's window, as fast as the client reads and pays.
 */
export class TradeSubscription {
  readonly #deps: TradeSubscriptionDeps
  #filter: Filter | null = null
  /** Null: live. */
  #position: FeedPosition | null = null
  /**
   * A client that has been live has to keep up, also after it waited for credits (rule F7). One
   * that resumes from a position gets data at its own pace.
   */
  #mustKeepUp = false
  /** The event that catching up waits for. A new subscription cancels the wait. */
  #waitsFor: 'credits' | 'client' | 'page' | 'storage' | 'yield' | null = null
  /**
   * Whether a page is queued or being read. There is never a second one: a new subscription reads
   * its first page after this one.
   */
  #isReading = false
  /** Counts subscriptions, to recognise callbacks of an earlier one. */
  #generation = 0
  #storageFailures = 0

  constructor(deps: TradeSubscriptionDeps) {
    this.#deps = deps
  }

  /** Null: not subscribed. */
  get filter(): Filter | null {
    return this.#filter
  }

  /** Whether everything published that matches was sent. */
  get isLive(): boolean {
    return this.#position === null
  }

  /** Whether the next trade waits to be paid. */
  get waitsForCredits(): boolean {
    return this.#waitsFor === 'credits'
  }

  /**
   * Replaces the filter. Starts after the position `after`. If it is null, a subscription that is
   * catching up stays at its position, and a live one stays live. Call `advance` next.
   */
  subscribe(filter: Filter, after: FeedPosition | null): void {
    const mustKeepUp = after === null && this.#mustKeepUp
    this.#restart(filter, after ?? this.#position)
    this.#mustKeepUp ||= mustKeepUp
  }

  /** Ends the subscription. */
  unsubscribe(): void {
    this.#restart(null, null)
  }

  /**
   * Returns from live to catching up at `position`, whose next trade could not be paid, until
   * `resume`.
   */
  waitForCredits(position: FeedPosition): void {
    this.#position = position
    this.#waitsFor = 'credits'
  }

  /** Returns from live to catching up at `position`. */
  catchUpFrom(position: FeedPosition): void {
    this.#position = position
    this.advance()
  }

  /** Continues after credits were granted. */
  resume(): void {
    this.#waitsFor = null
    this.advance()
  }

  /**
   * Called when the relay has published entries. Does nothing while waiting for storage, the meter
   * or the client.
   */
  onPublished(): void {
    if (this.#waitsFor === null) this.advance()
  }

  /** Sends what lies between the position and now, until the client has to read or pay first. */
  advance(): void {
    const { relay, transport, protocol } = this.#deps
    while (protocol.isOpen && this.#filter !== null && this.#position !== null) {
      if (this.#mustKeepUp && protocol.isSlow) {
        protocol.end('slow_reader')
        return
      }
      if (!this.#mustKeepUp && transport.unsentBytes > MAX_AHEAD_BYTES) {
        this.#waitForClient()
        return
      }
      if (!relay.window.covers(this.#position)) {
        this.#advanceInStorage(this.#position)
        return
      }
      // The position comes from storage or a process that is ahead. `onPublished` continues later.
      if (!hasReadLate(relay, this.#position)) return
      const isDone = this.#send(catchUpSteps(relay, this.#position, this.#filter), WINDOW_LIMITS)
      if (!isDone) return
      // The position may be ahead of this relay in trades, too.
      if (this.#waitsFor !== null || !isPassed(relay, this.#position)) return
      this.#position = null
      this.#mustKeepUp = true
    }
  }

  #restart(filter: Filter | null, position: FeedPosition | null): void {
    this.#filter = filter
    this.#position = position
    this.#mustKeepUp = position === null
    this.#waitsFor = null
    this.#generation++
  }

  #advanceInStorage(position: FeedPosition): void {
    if (this.#deps.history.hasMore(position)) void this.#readPage()
    else this.#retryStorage()
  }

  /** Reads a page from storage and sends it. The unsent rest is dropped when credits run out. */
  async #readPage(): Promise<void> {
    const { account, history, protocol } = this.#deps
    this.#waitsFor = 'page'
    if (this.#isReading) return // its completion calls `advance`
    this.#isReading = true
    let generation: number | null = null
    const page = await history
      .page(account, () => {
        generation = this.#generation
        return this.#pageRequest()
      })
      .catch(() => 'failed' as const)
    this.#isReading = false
    if (!protocol.isOpen || this.#waitsFor !== 'page') return
    this.#waitsFor = null
    if (page === null || generation !== this.#generation) this.advance()
    else if (page === 'failed') this.#onStorageFailure()
    else this.#sendPage(page)
  }

  /** The page to read now; null when the connection no longer needs one. */
  #pageRequest(): PageRequest | null {
    if (!this.#deps.protocol.isOpen || this.#waitsFor !== 'page') return null
    if (this.#position === null || this.#filter === null) return null
    return { from: this.#position, filter: this.#filter }
  }

  #sendPage(page: HistoryPage): void {
    this.#storageFailures = 0
    if (!this.#send(page.steps, NO_LIMITS)) return
    this.#position = page.end
    this.#yieldToOthers()
  }

  #onStorageFailure(): void {
    if (++this.#storageFailures > MAX_STORAGE_FAILURES) this.#deps.protocol.end('unavailable')
    else this.#retryStorage()
  }

  /**
   * Sends steps and moves the position with them. Returns false if it stopped before the last one;
   * unless it waits for credits, it has then scheduled `advance`.
   */
  #send(steps: Iterable<CatchUpStep>, { maxBytes, maxSteps }: SendLimits): boolean {
    const { transport, onSent } = this.#deps
    let [bytes, trades, count] = [0, 0, 0]
    const retracted: string[] = []
    let isDone = true
    transport.cork()
    for (const { frame, isCharged, retracts, after } of steps) {
      if (isCharged && !this.#deps.takeCredit()) {
        this.#waitsFor = 'credits'
        isDone = false
        break
      }
      this.#position = after
      if (frame !== null) {
        transport.write(frame)
        bytes += frame.length
        if (retracts !== undefined) retracted.push(retracts)
        if (isCharged) {
          trades++
          this.#deps.onTrade()
        }
      }
      if (bytes > maxBytes || ++count >= maxSteps) {
        isDone = false
        break
      }
    }
    transport.uncork()
    if (trades > 0) onSent(trades)
    if (retracted.length > 0) this.#deps.onRetracted(retracted)
    if (!isDone && this.#waitsFor === null) {
      if (bytes > maxBytes && !this.#mustKeepUp) this.#waitForClient()
      else this.#yieldToOthers()
    }
    return isDone
  }

  /** Continues when the client has read what was written. */
  #waitForClient(): void {
    this.#waitFor('client', (run) => this.#deps.transport.write(EMPTY, run))
  }

  #retryStorage(): void {
    this.#waitFor('storage', this.#deps.scheduleRetry ?? retryLater)
  }

  /** Lets other connections run before it continues. */
  #yieldToOthers(): void {
    this.#waitFor('yield', setImmediate)
  }

  #waitFor(event: 'client' | 'storage' | 'yield', schedule: (run: () => void) => void): void {
    this.#waitsFor = event
    const generation = this.#generation
    schedule(() => {
      if (generation !== this.#generation || this.#waitsFor !== event) return
      this.#waitsFor = null
      this.advance()
    })
  }
}

interface SendLimits {
  readonly maxBytes: number
  readonly maxSteps: number
}

/** Maximum number of bytes that catching up may have unsent. */
const MAX_AHEAD_BYTES = 256 * 1024
/** Limits of what is sent from the window before other connections run. */
const WINDOW_LIMITS: SendLimits = { maxBytes: MAX_AHEAD_BYTES, maxSteps: 5000 }
/** A page from storage is bounded when it is read. */
const NO_LIMITS: SendLimits = {
  maxBytes: Number.POSITIVE_INFINITY,
  maxSteps: Number.POSITIVE_INFINITY,
}
/** Consecutive failures of storage after which the client is told to reconnect. */
const MAX_STORAGE_FAILURES = 20
const EMPTY = Buffer.alloc(0)

function retryLater(run: () => void): void {
  setTimeout(run, 200).unref()
}
