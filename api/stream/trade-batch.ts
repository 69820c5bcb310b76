import type { FeedEntry } from './trade-window.ts'

/** Entries that the relay published together. Their frames are joined once for all connections. */
export interface TradeBatch {
  readonly entries: readonly FeedEntry[]
  /** The live frames of all entries, for connections without a filter. */
  readonly frames: Buffer
  /** Number of entries that are trades, each charged one credit. */
  readonly trades: number
  /** The `trade_id`s of the trades that entries withdraw. */
  readonly retracted: readonly string[]
}

/** Joins entries to a batch. */
export function createTradeBatch(entries: readonly FeedEntry[]): TradeBatch {
  return {
    entries,
    frames: Buffer.concat(entries.map(({ live }) => live)),
    trades: entries.filter(({ kind }) => kind === 'trade').length,
    retracted: entries.flatMap((entry) => (entry.kind === 'retraction' ? entry.tradeId : [])),
  }
}
