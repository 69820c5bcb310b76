import type { FeedPosition } from '../cursor.ts'
import type { KeyedConnection } from './key-access.ts'
import type { TradeBatch } from './trade-batch.ts'

/** What the feed keeps for a client that follows trades: a connection, or a call that waits. */
export interface TradeReceiver extends KeyedConnection {
  /** Credits that it holds in reserve. */
  readonly heldCredits: number
  /** Takes the entries that the relay has just published. */
  deliver(batch: TradeBatch): void
  /** Storage has messages after this position that the relay does not have. */
  catchUpFrom(position: FeedPosition): void
  /** Called every 30 s. */
  heartbeat(): void
}
