import type { Follower } from '../whole-service/follower.ts'
import { tradeItem } from '../whole-service/trade-item.ts'
import type { TrueChain } from './true-chain.ts'

/**
 * What is wrong with what a follower of the socket was sent (decisions F3): within a connection the trades in time come in event-key order,
 * each once. Two trades that look the same are told apart by their order alone.
 */
export function disorder(follower: Follower, chain: TrueChain): string[] {
  const trades = [...chain.events]
    .sort(
      (a, b) =>
        a.slot - b.slot ||
        a.txIndex - b.txIndex ||
        a.wallet - b.wallet ||
        a.eventIndex - b.eventIndex,
    )
    .flatMap((event) => (event.kind === 'swap' ? [JSON.stringify(tradeItem(event))] : []))
  return follower.feeds.flatMap((feed, connection) => {
    let place = -1
    for (const trade of feed.trades) {
      const text = JSON.stringify(trade)
      const next = trades.indexOf(text, place + 1)
      if (next === -1) {
        const why = trades.includes(text) ? 'came twice or out of order' : 'never happened'
        return [`connection ${connection + 1} of the feed: a trade ${why}: ${text}`]
      }
      place = next
    }
    return []
  })
}
