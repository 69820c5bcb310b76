import { parseAlias } from '../../pipeline/domain/alias.ts'
import type { FeedPosition } from '../cursor.ts'
import type { FeedKey } from '../middleware/upgrade.ts'
import { type Filter, matches } from '../rows/filter.ts'
import type { BlockHooks, CreditBlock } from './credit-block.ts'
import { readMessage, type Subscribe } from './protocol.ts'
import { type EndReason, type MessageLimit, ProtocolHandler } from './protocol-handler.ts'
import type { TradeBatch } from './trade-batch.ts'
import { TradeSubscription, type TradeSubscriptionDeps } from './trade-subscription.ts'

/** Dependencies of a connection to the channel `trades`. */
export interface TradeConnectionDeps
  extends Pick<
    TradeSubscriptionDeps,
    'account' | 'transport' | 'relay' | 'history' | 'scheduleRetry'
  > {
  readonly limit: MessageLimit
  /** The key that opened the connection. */
  readonly key: FeedKey
  isTracked(wallet: number): boolean
  /** Creates the credit block that the connection spends from. The block calls `hooks`. */
  creditBlock(hooks: BlockHooks): CreditBlock
  /** Called with the number of trades just sent. */
  onSent(trades: number): void
  /** Called with the `trade_id`s of trades whose retraction was just sent. */
  onRetracted(tradeIds: readonly string[]): void
  /** Called once, when the service ends the connection. */
  onEnd(reason: EndReason): void
}

/**
 * A client's connection to the channel `trades` (rules F2-F7). A live connection gets each trade as
 * it is published. Otherwise its subscription catches up from a position.
 */
export class TradeConnection {
  readonly #deps: TradeConnectionDeps
  readonly #credits: CreditBlock
  readonly #protocol: ProtocolHandler<FeedPosition>
  readonly #subscription: TradeSubscription
  /**
   * Balance at which `balance_low` is sent: a tenth of that at connect (rule F5). Null once sent.
   */
  #lowBalance: number | null

  /** `balance`: credits of the account when the connection was opened. */
  constructor(deps: TradeConnectionDeps, balance: number) {
    this.#deps = deps
    this.#lowBalance = Math.floor(balance / 10)
    this.#credits = deps.creditBlock({
      onGranted: (credits) => this.#onGranted(credits),
      onFailure: (sinceMs) => {
        if (this.#subscription.waitsForCredits && sinceMs > MAX_CREDIT_WAIT_MS)
          this.end('unavailable')
      },
    })
    const { transport, relay, isTracked, onEnd } = deps
    const reading = { access: 'key', isTracked, decodeCursor: relay.decode } as const
    this.#protocol = new ProtocolHandler({
      transport,
      limit: deps.limit,
      read: (text) => readMessage(text, reading),
      onSubscribe: (message) => this.#onSubscribe(message),
      onUnsubscribe: () => this.#subscription.unsubscribe(),
      isSubscribed: () => this.#subscription.filter !== null,
      onEnd: (reason) => {
        onEnd(reason)
        void this.#credits.close()
      },
    })
    this.#subscription = new TradeSubscription({
      ...deps,
      protocol: this.#protocol,
      takeCredit: () => this.#credits.take(),
      onTrade: () => this.#sendBalanceLow(),
    })
  }

  /** The key that opened the connection. */
  get key(): FeedKey {
    return this.#deps.key
  }

  /** Credits that the connection holds in reserve. */
  get heldCredits(): number {
    return this.#credits.credits
  }

  /** Delivers the trades that the relay has just published. */
  deliver(batch: TradeBatch): void {
    const { filter, isLive } = this.#subscription
    if (!this.#protocol.isOpen || filter === null) return
    if (!isLive) this.#subscription.onPublished()
    else if (batch.entries.length > 0) this.#deliverLive(batch, filter)
  }

  /**
   * Ends live delivery at a position after which storage has messages that the relay does not have,
   * until the subscription has caught up from there.
   */
  catchUpFrom(position: FeedPosition): void {
    const { filter, isLive } = this.#subscription
    if (this.#protocol.isOpen && filter !== null && isLive) this.#subscription.catchUpFrom(position)
  }

  #deliverLive(batch: TradeBatch, filter: Filter): void {
    if (this.#protocol.isSlow) {
      this.end('slow_reader')
      return
    }
    const { transport, onSent, onRetracted } = this.#deps
    if (matchesAll(filter) && this.#takeCredits(batch.trades)) {
      transport.write(batch.frames)
      onSent(batch.trades)
      if (batch.retracted.length > 0) onRetracted(batch.retracted)
      return
    }
    transport.cork()
    let sent = 0
    const retracted: string[] = []
    for (const entry of batch.entries) {
      if (entry.kind === 'gap') transport.write(entry.live)
      else if (!matches(filter, entry.key.wallet, entry.mint)) continue
      else if (entry.kind === 'retraction') {
        transport.write(entry.live)
        retracted.push(entry.tradeId)
      } else if (this.#credits.take()) {
        transport.write(entry.live)
        sent++
        this.#sendBalanceLow()
      } else {
        this.#subscription.waitForCredits(entry.before)
        break
      }
    }
    transport.uncork()
    if (sent > 0) onSent(sent)
    if (retracted.length > 0) onRetracted(retracted)
  }

  /** Handles a message of the client; `text` is null for a binary one. */
  receive(text: string | null, bytes: number): void {
    this.#protocol.receive(text, bytes)
  }

  /** Sends a heartbeat and keeps the reserved credits; call it every 30 s. */
  heartbeat(): void {
    if (this.#protocol.heartbeat()) this.#credits.keep()
  }

  /** Handles a protocol ping. */
  onPing(): void {
    this.#protocol.countMessage()
  }

  /** Handles a protocol pong. */
  onPong(): void {
    this.#protocol.onPong()
  }

  /** Sends the reason, closes the connection and returns unused credits. */
  end(reason: EndReason): void {
    this.#protocol.end(reason)
  }

  /** Records that the socket was closed. Resolves when the used credits are booked. */
  onSocketClosed(): Promise<void> {
    this.#protocol.onSocketClosed()
    return this.#credits.close()
  }

  #onSubscribe({ channels, wallets, mints, after, unknown }: Subscribe<FeedPosition>): void {
    const filter = {
      wallets: wallets && new Set(wallets.map((alias) => parseAlias(alias) ?? 0)),
      mints: mints && new Set(mints),
    }
    this.#subscription.subscribe(filter, after)
    const { cursor } = this.#deps.relay
    this.#protocol.send({ type: 'subscribed', channels, wallets, mints, cursor, unknown })
    if (this.#credits.credits < 1) this.#credits.renew()
    this.#subscription.advance()
  }

  #onGranted(credits: number): void {
    if (!this.#protocol.isOpen || !this.#subscription.waitsForCredits) return
    if (credits < 1) this.end('balance_exhausted')
    else this.#subscription.resume()
  }

  /** Spends the credits for a whole batch, unless `balance_low` is due within the batch. */
  #takeCredits(credits: number): boolean {
    const isDue = this.#lowBalance !== null && this.#credits.balance - credits <= this.#lowBalance
    return !isDue && this.#credits.takeAll(credits)
  }

  #sendBalanceLow(): void {
    const { balance } = this.#credits
    if (this.#lowBalance === null || balance > this.#lowBalance || balance < 1) return
    this.#lowBalance = null
    this.#protocol.send({ type: 'balance_low', balance_credits: balance })
  }
}

/** How long a trade waits for a response of the meter (rule K5: no trade is sent unpaid). */
const MAX_CREDIT_WAIT_MS = 10_000

function matchesAll({ wallets, mints }: Filter): boolean {
  return wallets === null && mints === null
}
