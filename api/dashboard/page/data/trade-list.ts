import type { TradeItem } from '../../../items/trade.ts'

/** A trade in the list of the live trades page. */
export interface ListedTrade {
  /** Unique number of the row, in the order in which trades were received. */
  readonly row: number
  readonly from: 'history' | 'live'
  /**
   * Whether the trade was received out of order. It is listed by its block time, below newer
   * trades.
   */
  readonly isLate: boolean
  /** Whether the trade was withdrawn, because its block never became final. */
  readonly isWithdrawn: boolean
  /** Null for a trade of the history, until it is withdrawn. */
  readonly tradeId: string | null
  readonly trade: TradeItem
}

/** A message of channel `trades`: a trade, or with `type` the withdrawal of one. */
export interface TradeListMessage {
  readonly type?: string | undefined
  readonly trade_id: string
  readonly late?: boolean | undefined
  readonly data: TradeItem
}

/** The trades that the page lists. */
export interface TradeList {
  /** Newest first. */
  readonly trades: readonly ListedTrade[]
  /** How many trades were received. */
  readonly received: number
  /** How many trades were removed from the end of the list. */
  readonly evicted: number
  /** How many live trades were withdrawn: the credit of each was given back. */
  readonly givenBack: number
}

/** A list before the first trade. */
export const EMPTY_TRADE_LIST: TradeList = {
  trades: [],
  received: 0,
  evicted: 0,
  givenBack: 0,
}

/** Wallet aliases and token addresses to show trades of. An empty list stands for all. */
export interface TradeFilter {
  readonly wallets: readonly string[]
  readonly mints: readonly string[]
}

/** Appends a page of history. `items` are newest first and older than all history in the list. */
export function appendHistory(
  list: TradeList,
  items: readonly TradeItem[],
  filter: TradeFilter,
  maxLength: number,
): TradeList {
  const older = items
    .filter((trade) => matchesFilter(trade, filter))
    .map((trade, index) => ({
      row: list.received + index,
      from: 'history' as const,
      isLate: false,
      isWithdrawn: false,
      tradeId: null,
      trade,
    }))
  const received = list.received + older.length
  return truncate({ ...list, trades: [...list.trades, ...older], received }, maxLength)
}

/**
 * Inserts live messages in the order in which they were received. Late trades are inserted by their
 * block time, all others at the top. A withdrawn trade stays in the list, marked.
 */
export function insertLiveTrades(
  list: TradeList,
  messages: readonly TradeListMessage[],
  maxLength: number,
): TradeList {
  const trades = [...list.trades]
  let { received, givenBack } = list
  for (const message of messages) {
    const { trade_id: tradeId, late = false, data } = message
    if (message.type === 'retracted') {
      const at = indexOfWithdrawn(trades, message)
      const withdrawn = trades[at]
      if (withdrawn === undefined) continue
      trades[at] = { ...withdrawn, tradeId, isWithdrawn: true }
      if (withdrawn.from === 'live') givenBack++
      continue
    }
    const entry: ListedTrade = {
      row: received++,
      from: 'live',
      isLate: late,
      isWithdrawn: false,
      tradeId,
      trade: data,
    }
    const position = late
      ? trades.findIndex((other) => other.trade.block_time <= data.block_time)
      : 0
    trades.splice(position === -1 ? trades.length : position, 0, entry)
  }
  return truncate({ ...list, trades, received, givenBack }, maxLength)
}

/**
 * Index of the listed trade that a message withdraws; -1 if there is none, or if the message is a
 * repetition. Trades of the history have no `trade_id`, so their lasting fields are compared.
 */
function indexOfWithdrawn(trades: readonly ListedTrade[], message: TradeListMessage): number {
  const isNamed = ({ tradeId }: ListedTrade) => tradeId === message.trade_id
  if (trades.some(isNamed))
    return trades.findIndex((listed) => isNamed(listed) && !listed.isWithdrawn)
  return trades.findIndex(
    ({ tradeId, trade }) =>
      tradeId === null && LASTING_FIELDS.every((field) => trade[field] === message.data[field]),
  )
}

/**
 * The fields of a trade that its transaction alone decides, as in the client's `isSameTrade`. The
 * others may be filled in between the history and the withdrawal (rule L3).
 */
const LASTING_FIELDS = [
  'block_time',
  'wallet',
  'side',
  'mint',
  'token_amount',
  'decimals',
  'sol_amount',
  'quote_mint',
  'quote_amount',
  'program',
] as const satisfies readonly (keyof TradeItem)[]

function truncate(list: TradeList, maxLength: number): TradeList {
  const { trades, evicted } = list
  return {
    ...list,
    trades: trades.slice(0, maxLength),
    evicted: evicted + Math.max(0, trades.length - maxLength),
  }
}

function matchesFilter(trade: TradeItem, { wallets, mints }: TradeFilter): boolean {
  return (
    (wallets.length === 0 || wallets.includes(trade.wallet)) &&
    (mints.length === 0 || mints.includes(trade.mint))
  )
}

/**
 * Parses a filter as typed: aliases and token addresses, separated by spaces, commas or semicolons.
 * `errors` has a sentence for each invalid entry.
 */
export function parseTradeFilter(
  wallets: string,
  mints: string,
): { readonly filter: TradeFilter; readonly errors: readonly string[] } {
  const words = (text: string) => [...new Set(text.split(/[\s,;]+/).filter((word) => word !== ''))]
  const aliases = words(wallets.toUpperCase())
  const addresses = words(mints)
  const errors = [
    ...aliases
      .filter((alias) => !/^W[1-9][0-9]*$/.test(alias))
      .map((alias) => `“${alias}” is not a wallet alias such as W12.`),
    ...addresses
      .filter((mint) => !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(mint))
      .map((mint) => `“${mint}” is not a token address.`),
    ...(aliases.length > 100 ? ['Enter at most 100 wallets.'] : []),
    ...(addresses.length > 100 ? ['Enter at most 100 tokens.'] : []),
  ]
  return { filter: { wallets: aliases, mints: addresses }, errors }
}
