import type { TradeItem } from '../../../items/trade.ts'

/** A trade in the list. */
export interface ListedTrade {
  /** Tells rows apart; counts up in the order in which they were taken. */
  readonly row: number
  readonly from: 'history' | 'live'
  /** It was learnt late: it stands at its time, below newer ones that came before it. */
  readonly isLate: boolean
  readonly trade: TradeItem
}

export interface FeedList {
  /** Newest first. */
  readonly trades: readonly ListedTrade[]
  readonly taken: number
  /** How many left the list at its end. */
  readonly dropped: number
}

export const EMPTY_LIST: FeedList = { trades: [], taken: 0, dropped: 0 }

/** What trades are wanted; empty for all. */
export interface TradeFilter {
  readonly wallets: readonly string[]
  readonly mints: readonly string[]
}

/** The list with an older page of history below it. `items` newest first, each older than all history in the list. */
export function withHistory(
  list: FeedList,
  items: readonly TradeItem[],
  filter: TradeFilter,
  longest: number,
): FeedList {
  const older = items
    .filter((trade) => isWanted(trade, filter))
    .map((trade, index) => ({
      row: list.taken + index,
      from: 'history' as const,
      isLate: false,
      trade,
    }))
  return bounded([...list.trades, ...older], list, older.length, longest)
}

/** The list with live messages, in the order in which they came: ordered ones on top, late ones at their time. */
export function withLive(
  list: FeedList,
  messages: readonly { readonly late?: boolean | undefined; readonly data: TradeItem }[],
  longest: number,
): FeedList {
  const trades = [...list.trades]
  messages.forEach(({ late = false, data }, index) => {
    const entry: ListedTrade = {
      row: list.taken + index,
      from: 'live',
      isLate: late,
      trade: data,
    }
    const place = late ? trades.findIndex((other) => other.trade.block_time <= data.block_time) : 0
    trades.splice(place === -1 ? trades.length : place, 0, entry)
  })
  return bounded(trades, list, messages.length, longest)
}

function bounded(
  trades: readonly ListedTrade[],
  before: FeedList,
  taken: number,
  longest: number,
): FeedList {
  return {
    trades: trades.slice(0, longest),
    taken: before.taken + taken,
    dropped: before.dropped + Math.max(0, trades.length - longest),
  }
}

export function isWanted(trade: TradeItem, { wallets, mints }: TradeFilter): boolean {
  return (
    (wallets.length === 0 || wallets.includes(trade.wallet)) &&
    (mints.length === 0 || mints.includes(trade.mint))
  )
}

/** A filter as typed: aliases and token addresses, apart by spaces or commas; or what is wrong with it, in words. */
export function readFilter(
  wallets: string,
  mints: string,
): { readonly filter: TradeFilter; readonly faults: readonly string[] } {
  const words = (text: string) => [...new Set(text.split(/[\s,;]+/).filter((word) => word !== ''))]
  const aliases = words(wallets.toUpperCase())
  const addresses = words(mints)
  const faults = [
    ...aliases
      .filter((alias) => !/^W[1-9][0-9]*$/.test(alias))
      .map((alias) => `“${alias}” is not an alias such as W12.`),
    ...addresses
      .filter((mint) => !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(mint))
      .map((mint) => `“${mint}” is not a token address.`),
    ...(aliases.length > 100 ? ['At most 100 wallets.'] : []),
    ...(addresses.length > 100 ? ['At most 100 tokens.'] : []),
  ]
  return { filter: { wallets: aliases, mints: addresses }, faults }
}
