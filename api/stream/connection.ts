import { parseAlias } from '../../pipeline/domain/alias.ts'
import type { Account } from '../credits/meter.ts'
import type { FeedPosition } from '../cursor.ts'
import { isReached, stepsToNow } from './catch-up.ts'
import { Conversation, type EndReason, type MessageLimit, type Transport } from './conversation.ts'
import type { CreditBlock } from './credit-block.ts'
import { type Filter, matches } from './filter.ts'
import type { Step, TradeHistory, Wanted } from './history.ts'
import { readMessage, type Subscribe } from './protocol.ts'
import type { Relay } from './relay.ts'
import type { FeedEntry } from './trade-window.ts'

export interface ConnectionDeps {
  readonly account: Account
  readonly transport: Transport
  readonly limit: MessageLimit
  readonly relay: Relay
  readonly history: Pick<TradeHistory, 'hasMore' | 'page'>
  isTracked(wallet: number): boolean
  /** Makes the connection's credits, which call it back. */
  creditBlock(hooks: ConstructorParameters<typeof CreditBlock>[0]['hooks']): CreditBlock
  onSent(trades: number): void
  onEnd(reason: EndReason): void
  /** Calls back once, a moment later. */
  readonly later?: (run: () => void) => void
}

/** What passes, with all its frames in one piece, made once for everybody who takes everything. */
export interface Passing {
  readonly entries: readonly FeedEntry[]
  readonly frames: Buffer
  /** How many of them are trades, each one credit. */
  readonly trades: number
}

/** Puts together what passes. */
export function passingOf(entries: readonly FeedEntry[]): Passing {
  return {
    entries,
    frames: Buffer.concat(entries.map(({ live }) => live)),
    trades: entries.filter(({ kind }) => kind === 'trade').length,
  }
}

/**
 * One client's connection (rules F2-F7). Either it is live: it has had everything that passed, and each trade is sent as it comes. Or it is behind a position:
 * because it resumes, or because a trade could not be paid yet; then it is sent what lies between, from storage page by page, from the relay's window at the end, each as
 * fast as it takes it and pays for it, until nothing is left.
 */
export class Connection {
  readonly #deps: ConnectionDeps
  readonly #credits: CreditBlock
  readonly #talk: Conversation<FeedPosition>
  /** A tenth of the balance at connect (rule F5); null once told. */
  #lowBalance: number | null
  #filter: Filter | null = null
  /** Null: live. */
  #position: FeedPosition | null = null
  /** Somebody who comes back is sent as much as it takes; who has been live has to keep up, also when it waited for credits (rule F7). */
  #hasBeenLive = false
  /** What has to happen before the next step towards live; a new subscription makes older ones stale. */
  #waitsFor: 'credits' | 'client' | 'page' | 'storage' | 'turn' | null = null
  /**
   * A page is queued or being read. There is never a second one: what a new subscription wants
   * comes after it.
   */
  #isReading = false
  #subscription = 0
  #storageFailures = 0

  /** `balance`: what the account could pay for when the connection was opened. */
  constructor(deps: ConnectionDeps, balance: number) {
    this.#deps = deps
    this.#lowBalance = Math.floor(balance / 10)
    this.#credits = deps.creditBlock({
      onGranted: (credits) => this.#onGranted(credits),
      onFailure: (sinceMs) => {
        if (this.#waitsFor === 'credits' && sinceMs > MAX_WAIT_MS) this.end('unavailable')
      },
    })
    const { transport, relay, isTracked, onEnd } = deps
    const reading = { access: 'key', isTracked, decodeCursor: relay.decode } as const
    this.#talk = new Conversation({
      transport,
      limit: deps.limit,
      read: (text) => readMessage(text, reading),
      onSubscribe: (message) => this.#subscribe(message),
      onUnsubscribe: () => this.#begin(null, null),
      isSubscribed: () => this.#filter !== null,
      onEnd: (reason) => {
        onEnd(reason)
        void this.#credits.close()
      },
    })
  }

  /** Credits it holds in reserve. */
  get heldCredits(): number {
    return this.#credits.credits
  }

  /** What passes now; it is in the relay's window already. */
  offer(passing: Passing): void {
    if (!this.#talk.isOpen || this.#filter === null) return
    const { transport, onSent } = this.#deps
    if (this.#position !== null) {
      if (this.#waitsFor === null) this.#advance()
      return
    }
    if (passing.entries.length === 0) return
    if (this.#talk.isSlow) {
      this.end('slow_reader')
      return
    }
    if (this.#takesAll() && this.#canTake(passing.trades)) {
      transport.write(passing.frames)
      onSent(passing.trades)
      return
    }
    transport.hold()
    let sent = 0
    for (const entry of passing.entries) {
      if (entry.kind === 'gap') transport.write(entry.live)
      else if (!matches(this.#filter, entry.key.wallet, entry.mint)) continue
      else if (this.#credits.take()) {
        transport.write(entry.live)
        sent++
        this.#warnOfBalance()
      } else {
        this.#position = entry.before
        this.#waitsFor = 'credits'
        break
      }
    }
    transport.flush()
    if (sent > 0) onSent(sent)
  }

  receive(text: string | null, bytes: number): void {
    this.#talk.receive(text, bytes)
  }

  /** Every 30 s: is the client still there? */
  beat(): void {
    if (this.#talk.beat()) this.#credits.keep()
  }

  onPing(): void {
    this.#talk.count()
  }

  onPong(): void {
    this.#talk.onPong()
  }

  /** Says why, closes, and returns the credits not used. */
  end(reason: EndReason): void {
    this.#talk.end(reason)
  }

  /** The connection is gone; resolves when what it used is booked. */
  closed(): Promise<void> {
    this.#talk.gone()
    return this.#credits.close()
  }

  #subscribe({ channels, wallets, mints, after }: Subscribe<FeedPosition>): void {
    const { relay } = this.#deps
    const filter = {
      wallets: wallets && new Set(wallets.map((alias) => parseAlias(alias) ?? 0)),
      mints: mints && new Set(mints),
    }
    // Without `after` somebody who is behind stays there: what was under way is not lost.
    const hadBeenLive = this.#hasBeenLive
    this.#begin(filter, after ?? this.#position)
    if (after === null) this.#hasBeenLive ||= hadBeenLive
    this.#talk.tell({ type: 'subscribed', channels, wallets, mints, cursor: relay.cursor })
    if (this.#credits.credits < 1) this.#credits.renew()
    if (this.#position !== null) this.#advance()
  }

  #begin(filter: Filter | null, position: FeedPosition | null): void {
    this.#filter = filter
    this.#position = position
    this.#hasBeenLive = position === null
    this.#waitsFor = null
    this.#subscription++
  }

  /** Sends what lies between the connection's position and now, as far as it can be paid and is taken; then it is live. */
  #advance(): void {
    const { relay, transport, history } = this.#deps
    while (this.#talk.isOpen && this.#filter !== null && this.#position !== null) {
      if (this.#hasBeenLive && this.#talk.isSlow) {
        this.end('slow_reader')
        return
      }
      if (!this.#hasBeenLive && transport.unsentBytes > PUMP_BYTES) {
        this.#waitForClient()
        return
      }
      if (!relay.window.covers(this.#position)) {
        if (history.hasMore(this.#position)) void this.#turnPage()
        else this.#waitFor('storage', this.#deps.later ?? aMomentLater)
        return
      }
      const isDone = this.#send(stepsToNow(relay, this.#position, this.#filter), PUMP_BYTES)
      if (!isDone) return
      if (this.#waitsFor !== null || !isReached(relay, this.#position)) return // the next that passes
      this.#position = null
      this.#hasBeenLive = true
    }
  }

  /** Sends a page from storage; it is dropped when the client cannot pay for all of it. */
  async #turnPage(): Promise<void> {
    const { account, history, later = aMomentLater } = this.#deps
    this.#waitsFor = 'page'
    if (this.#isReading) return // when that page is there, this is called again
    this.#isReading = true
    let subscription: number | null = null
    const page = await history
      .page(account, () => {
        subscription = this.#subscription
        return this.#wantedPage()
      })
      .catch(() => 'failed' as const)
    this.#isReading = false
    if (!this.#talk.isOpen || this.#waitsFor !== 'page') return
    this.#waitsFor = null
    if (page === null || subscription !== this.#subscription) this.#advance()
    else if (page === 'failed') {
      if (++this.#storageFailures > MAX_STORAGE_FAILURES) this.end('unavailable')
      else this.#waitFor('storage', later)
    } else {
      this.#storageFailures = 0
      if (!this.#send(page.steps, Number.POSITIVE_INFINITY)) return
      this.#position = page.end
      // Others have their turn between two pages.
      this.#waitFor('turn', setImmediate)
    }
  }

  /** What to read when the connection's turn comes; null when nobody waits for a page any more. */
  #wantedPage(): Wanted | null {
    const [from, filter] = [this.#position, this.#filter]
    const isWanted = this.#talk.isOpen && this.#waitsFor === 'page'
    return isWanted && from !== null && filter !== null ? { from, filter } : null
  }

  /** Sends steps and moves the position with them; false when it stopped before their end, and goes on by itself when that helps. */
  #send(steps: Iterable<Step>, maxBytes: number): boolean {
    const { transport, onSent } = this.#deps
    let [bytes, sent, looked] = [0, 0, 0]
    let isDone = true
    transport.hold()
    for (const { frame, isCharged, after } of steps) {
      if (isCharged && !this.#credits.take()) {
        this.#waitsFor = 'credits'
        isDone = false
        break
      }
      this.#position = after
      if (frame !== null) {
        transport.write(frame)
        bytes += frame.length
        if (isCharged) {
          sent++
          this.#warnOfBalance()
        }
      }
      if (bytes > maxBytes || (++looked >= PUMP_TRADES && maxBytes < Number.POSITIVE_INFINITY)) {
        isDone = false
        break
      }
    }
    transport.flush()
    if (sent > 0) onSent(sent)
    if (!isDone && this.#waitsFor === null) {
      if (bytes > maxBytes && !this.#hasBeenLive) this.#waitForClient()
      else this.#waitFor('turn', setImmediate)
    }
    return isDone
  }

  /** Goes on when the client has taken what was written. */
  #waitForClient(): void {
    this.#waitFor('client', (run) => this.#deps.transport.write(EMPTY, run))
  }

  #waitFor(what: 'client' | 'storage' | 'turn', when: (run: () => void) => void): void {
    this.#waitsFor = what
    const subscription = this.#subscription
    when(() => {
      if (subscription !== this.#subscription || this.#waitsFor !== what) return
      this.#waitsFor = null
      this.#advance()
    })
  }

  #onGranted(credits: number): void {
    if (!this.#talk.isOpen || this.#waitsFor !== 'credits') return
    if (credits < 1) this.end('balance_exhausted')
    else {
      this.#waitsFor = null
      this.#advance()
    }
  }

  #takesAll(): boolean {
    return this.#filter !== null && this.#filter.wallets === null && this.#filter.mints === null
  }

  /** Takes so many credits at once, when that is the same as taking them one by one. */
  #canTake(credits: number): boolean {
    const isNear = this.#lowBalance !== null && this.#credits.balance - credits <= this.#lowBalance
    return !isNear && this.#credits.takeAll(credits)
  }

  #warnOfBalance(): void {
    const { balance } = this.#credits
    if (this.#lowBalance === null || balance > this.#lowBalance || balance < 1) return
    this.#lowBalance = null
    this.#talk.tell({ type: 'balance_low', balance_credits: balance })
  }
}

/** How long a trade may wait for the meter to answer (rule K5: it is never free). */
const MAX_WAIT_MS = 10_000
/** What one turn of catching up may send, before the client has taken it, and look at, before others have their turn. */
const PUMP_BYTES = 256 * 1024
const PUMP_TRADES = 5000
/** Storage that does not answer is asked again so often, then the client is told to come back. */
const MAX_STORAGE_FAILURES = 20
const EMPTY = Buffer.alloc(0)

function aMomentLater(run: () => void): void {
  setTimeout(run, 200).unref()
}
