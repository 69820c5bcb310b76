import { parseAlias } from '../../pipeline/domain/alias.ts'
import { compareEventKeys, type EventKey } from '../../pipeline/domain/event-key.ts'
import type { CreditBlock } from './credit-block.ts'
import { CLOSE_CODES, type MessageFault, type ServerMessage } from './messages.ts'
import { MAX_MESSAGE_BYTES, readMessage, type Subscribe } from './protocol.ts'
import type { Relay } from './relay.ts'
import type { FeedTrade } from './trade-window.ts'

/** The client's end of a connection. */
export interface Transport {
  /** Queues a text message; `sent` is called once it has left this process. */
  send(message: Buffer | string, sent?: () => void): void
  /** Holds messages back until `flush`, to write them at once. */
  hold(): void
  flush(): void
  ping(): void
  close(code: number): void
  terminate(): void
  /** Bytes queued that the client has not taken. */
  readonly unsentBytes: number
}

/** Why the service ends a connection, with the close code that tells it; `unanswered`: without a word. */
const ENDS = {
  ...CLOSE_CODES,
  too_many_errors: 1008,
  message_too_big: 1009,
} as const
export type EndReason = keyof typeof ENDS | 'unanswered'

export interface ConnectionDeps {
  readonly transport: Transport
  readonly relay: Relay
  isTracked(wallet: number): boolean
  /** Makes the connection's credits, which call it back. */
  creditBlock(hooks: ConstructorParameters<typeof CreditBlock>[0]['hooks']): CreditBlock
  onSent(trades: number): void
  onEnd(reason: EndReason): void
}

/**
 * One client's connection (decisions F2-F7). Either it is live: it has had everything that passed, and each trade is sent as it comes. Or it is behind `position`:
 * because it resumes, or because a trade could not be paid yet; then it walks the relay's window from there until it is live again.
 */
export class Connection {
  readonly #deps: ConnectionDeps
  readonly #credits: CreditBlock
  /** A tenth of the balance at connect (decisions F5); null once told. */
  #lowBalance: number | null
  #filter: Filter | null = null
  #position: EventKey | null = null
  /** Late trades below `position`, to be sent before what comes after it. */
  #lateTrades: FeedTrade[] = []
  #isWaitingForCredits = false
  #isPumpPlanned = false
  #errorsInARow = 0
  #unansweredPings = 0
  #isOpen = true

  /** `balance`: what the account could pay for when the connection was opened. */
  constructor(deps: ConnectionDeps, balance: number) {
    this.#deps = deps
    this.#lowBalance = Math.floor(balance / 10)
    this.#credits = deps.creditBlock({
      onGranted: (credits) => this.#onGranted(credits),
      onFailure: (sinceMs) => {
        if (this.#isWaitingForCredits && sinceMs > MAX_WAIT_MS) this.end('unavailable')
      },
    })
  }

  /** Credits it holds in reserve. */
  get heldCredits(): number {
    return this.#credits.credits
  }

  /** New trades, in the order to send them; they are in the relay's window already. */
  offer(trades: readonly FeedTrade[]): void {
    if (!this.#isOpen || this.#filter === null) return
    const { transport } = this.#deps
    if (transport.unsentBytes > MAX_UNSENT_BYTES) {
      this.end('slow_reader')
      return
    }
    transport.hold()
    let sent = 0
    for (const trade of trades) {
      if (!matches(this.#filter, trade)) continue
      if (this.#position !== null) this.#offerBehind(trade, this.#position)
      else if (this.#take()) {
        transport.send(trade.live)
        sent++
        this.#warnOfBalance()
      } else {
        this.#position = trade.before
        this.#offerBehind(trade, trade.before)
      }
    }
    transport.flush()
    if (sent > 0) this.#deps.onSent(sent)
  }

  receive(text: string | null, bytes: number): void {
    if (!this.#isOpen) return
    const { relay, isTracked } = this.#deps
    if (bytes > MAX_MESSAGE_BYTES) {
      this.#fault('invalid_message', `A message has at most ${MAX_MESSAGE_BYTES} bytes.`)
      this.end('message_too_big')
      return
    }
    const message =
      text === null
        ? ({ kind: 'bad', code: 'invalid_message', message: 'Expected text, not binary.' } as const)
        : readMessage(text, { isTracked, decodeCursor: relay.decode })
    if (message.kind === 'bad') {
      this.#fault(message.code, message.message)
      if (++this.#errorsInARow >= MAX_ERRORS) this.end('too_many_errors')
      return
    }
    this.#errorsInARow = 0
    if (message.kind === 'ping') this.#tell({ type: 'pong' })
    else if (message.kind === 'subscribe') this.#subscribe(message)
    else {
      this.#filter = null
      this.#position = null
      this.#lateTrades = []
      this.#isWaitingForCredits = false
      this.#tell({ type: 'unsubscribed', channels: message.channels })
    }
    if (this.#deps.transport.unsentBytes > MAX_UNSENT_BYTES) this.end('slow_reader')
  }

  /** Every 30 s: is the client still there? */
  beat(): void {
    if (!this.#isOpen) return
    const { transport } = this.#deps
    if (this.#unansweredPings >= MAX_UNANSWERED) this.end('unanswered')
    else if (transport.unsentBytes > MAX_UNSENT_BYTES) this.end('slow_reader')
    else {
      this.#unansweredPings++
      // Nothing is sent before a subscription (decisions F2); the protocol's own ping is no message.
      if (this.#filter !== null) this.#tell({ type: 'ping' })
      transport.ping()
      this.#credits.keep()
    }
  }

  onPong(): void {
    this.#unansweredPings = 0
  }

  /** Says why, closes, and returns the credits not used. */
  end(reason: EndReason): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const { transport, onEnd } = this.#deps
    onEnd(reason)
    if (reason === 'unanswered') transport.terminate()
    else {
      if (!(reason === 'too_many_errors' || reason === 'message_too_big'))
        this.#tell({ type: reason })
      transport.close(ENDS[reason])
    }
    void this.#credits.close()
  }

  /** The connection is gone; resolves when what it used is booked. */
  closed(): Promise<void> {
    this.#isOpen = false
    return this.#credits.close()
  }

  #subscribe({ channels, wallets, mints, after }: Subscribe): void {
    const { relay } = this.#deps
    this.#filter = {
      wallets: wallets && new Set(wallets.map((alias) => parseAlias(alias) ?? 0)),
      mints: mints && new Set(mints),
    }
    this.#tell({ type: 'subscribed', channels, wallets, mints, cursor: relay.cursor })
    if (this.#credits.credits < 1) this.#credits.renew()
    if (after === null) return
    this.#position = after
    this.#lateTrades = []
    this.#isWaitingForCredits = false
    this.#pump()
  }

  /** A trade that passes while the connection is behind: it will be met in its place, or is late for this client too. */
  #offerBehind(trade: FeedTrade, position: EventKey): void {
    if (!trade.late || compareEventKeys(trade.key, position) > 0) return
    if (this.#lateTrades.length >= MAX_LATE) this.end('slow_reader')
    this.#lateTrades.push(trade)
  }

  /** Sends what lies between the connection's position and now, as far as it can be paid and is taken. */
  #pump = (): void => {
    this.#isPumpPlanned = false
    if (!this.#isOpen || this.#filter === null || this.#position === null) return
    const { transport, relay, onSent } = this.#deps
    const { window } = relay
    if (compareEventKeys(this.#position, window.floor) < 0) {
      this.#position = window.floor
      this.#tell({ type: 'gap', oldest: relay.encode(window.floor) })
    }
    let [bytes, sent, looked] = [0, 0, 0]
    const send = (message: Buffer) => {
      bytes += message.length
      sent++
      transport.send(message, bytes > PUMP_BYTES ? this.#planPump : undefined)
      this.#warnOfBalance()
    }
    transport.hold()
    let index = window.indexAfter(this.#position)
    for (;;) {
      if (bytes > PUMP_BYTES) {
        this.#isPumpPlanned = true // by what is called when the bytes have gone
        break
      }
      const next = window.at(index)
      const late = this.#dueLateTrade(next)
      const trade = late ?? next
      if (trade === undefined) {
        this.#position = null
        break
      }
      if (matches(this.#filter, trade)) {
        if (!this.#take()) break
        send(late === undefined ? trade.inPlace : trade.live)
      }
      if (late === undefined) {
        this.#position = trade.key
        index++
      } else this.#lateTrades.shift()
      if (++looked >= PUMP_TRADES) {
        this.#isPumpPlanned = true
        setImmediate(this.#pump)
        break
      }
    }
    transport.flush()
    if (sent > 0) onSent(sent)
  }

  /** A late trade's turn is where it would have come live: its id says that everything up to there has been sent. */
  #dueLateTrade(next: FeedTrade | undefined): FeedTrade | undefined {
    const late = this.#lateTrades[0]
    if (late === undefined || next === undefined) return late
    return compareEventKeys(next.key, late.before) > 0 ? late : undefined
  }

  #planPump = (): void => {
    if (this.#isPumpPlanned) this.#pump()
  }

  #take(): boolean {
    if (this.#credits.take()) return true
    this.#isWaitingForCredits = true
    return false
  }

  #onGranted(credits: number): void {
    if (!this.#isOpen || !this.#isWaitingForCredits) return
    if (credits < 1) this.end('balance_exhausted')
    // What was used while this block was asked for may be all of it.
    else if (this.#credits.credits < 1) this.#credits.renew()
    else {
      this.#isWaitingForCredits = false
      if (!this.#isPumpPlanned) this.#pump()
    }
  }

  #warnOfBalance(): void {
    const { balance } = this.#credits
    if (this.#lowBalance === null || balance > this.#lowBalance || balance < 1) return
    this.#lowBalance = null
    this.#tell({ type: 'balance_low', balance_credits: balance })
  }

  #fault(code: MessageFault, message: string): void {
    this.#tell({ type: 'error', code, message })
  }

  #tell(message: ServerMessage): void {
    this.#deps.transport.send(JSON.stringify(message))
  }
}

interface Filter {
  readonly wallets: ReadonlySet<number> | null
  readonly mints: ReadonlySet<string> | null
}

function matches({ wallets, mints }: Filter, { key, mint }: FeedTrade): boolean {
  return (wallets === null || wallets.has(key.wallet)) && (mints === null || mints.has(mint))
}

const MAX_UNSENT_BYTES = 1024 * 1024
const MAX_ERRORS = 3
const MAX_UNANSWERED = 2
/** How long a trade may wait for the meter to answer (decisions K5: it is never free). */
const MAX_WAIT_MS = 10_000
/** Late trades that may wait for a client that is behind. */
const MAX_LATE = 1000
/** What one turn of catching up may send, before the client has taken it, and look at, before others have their turn. */
const PUMP_BYTES = 256 * 1024
const PUMP_TRADES = 5000
