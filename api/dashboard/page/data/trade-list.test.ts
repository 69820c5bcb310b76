import test from 'ava'
import { isSameTrade } from '../../../client/same-trade.ts'
import type { TradeItem } from '../../../items/trade.ts'
import {
  appendHistory,
  EMPTY_TRADE_LIST,
  insertLiveTrades,
  parseTradeFilter,
} from './trade-list.ts'

const aTrade = (block_time: number, change: Partial<TradeItem> = {}): TradeItem => ({
  block_time,
  wallet: 'W1',
  side: 'buy',
  mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
  token_amount: '1',
  decimals: 0,
  sol_amount: 1,
  quote_mint: 'So11111111111111111111111111111111111111112',
  quote_amount: '1000000000',
  program: 'pumpswap',
  sol_value: 1,
  price_sol: 1,
  symbol: null,
  ...change,
})

test('live trades are listed above history, late trades by their time, and the list is bounded', (t) => {
  const all = { wallets: [], mints: [] }
  const history = appendHistory(EMPTY_TRADE_LIST, [aTrade(10), aTrade(8), aTrade(8)], all, 6)
  const live = insertLiveTrades(
    history,
    [
      { trade_id: 'a', data: aTrade(11) },
      { trade_id: 'b', data: aTrade(12) },
      { trade_id: 'c', data: aTrade(9), late: true },
    ],
    6,
  )
  t.deepEqual(
    live.trades.map(({ row, from, isLate, trade }) => [row, from, isLate, trade.block_time]),
    [
      [4, 'live', false, 12],
      [3, 'live', false, 11],
      [0, 'history', false, 10],
      [5, 'live', true, 9],
      [1, 'history', false, 8],
      [2, 'history', false, 8],
    ],
  )
  const more = insertLiveTrades(
    live,
    [
      { trade_id: 'd', data: aTrade(13) },
      { trade_id: 'e', data: aTrade(1), late: true },
    ],
    6,
  )
  t.deepEqual(
    [more.trades.map(({ trade }) => trade.block_time), more.received, more.evicted],
    [[13, 12, 11, 10, 9, 8], 8, 2],
  )
  const filtered = appendHistory(
    EMPTY_TRADE_LIST,
    [aTrade(3), aTrade(2, { wallet: 'W2' })],
    { wallets: ['W2'], mints: [aTrade(0).mint] },
    6,
  )
  t.deepEqual(
    filtered.trades.map(({ trade }) => trade.wallet),
    ['W2'],
  )
})

test('a withdrawn trade stays listed and marked, whether it came live or with the history', (t) => {
  const all = { wallets: [], mints: [] }
  const history = appendHistory(EMPTY_TRADE_LIST, [aTrade(9), aTrade(8)], all, 6)
  const withdrawal = (trade_id: string, data: TradeItem) => ({ type: 'retracted', trade_id, data })
  const list = insertLiveTrades(
    history,
    [
      { trade_id: 'a', data: aTrade(11) },
      { trade_id: 'b', data: aTrade(11) },
      withdrawal('b', aTrade(11)),
      withdrawal('c', aTrade(8)),
      withdrawal('d', aTrade(7)),
    ],
    6,
  )
  t.deepEqual(
    list.trades.map(({ tradeId, isWithdrawn, trade }) => [tradeId, trade.block_time, isWithdrawn]),
    [
      ['b', 11, true],
      ['a', 11, false],
      [null, 9, false],
      ['c', 8, true],
    ],
  )
  t.is(list.received, 4)
})

test('a withdrawal finds a trade of the history by what isSameTrade of the client compares', (t) => {
  const listed = aTrade(9)
  const changed: Required<TradeItem> = {
    block_time: 8,
    wallet: 'W2',
    side: 'sell',
    mint: 'other',
    token_amount: '2',
    decimals: 1,
    sol_amount: 2,
    quote_mint: null,
    quote_amount: '2',
    program: 'orca',
    sol_value: 2,
    price_sol: 2,
    symbol: 'Bonk',
  }
  const fields = Object.keys(changed) as (keyof TradeItem)[] // of a `TradeItem`
  const history = appendHistory(EMPTY_TRADE_LIST, [listed], { wallets: [], mints: [] }, 9)
  const withdraws = (data: TradeItem) =>
    insertLiveTrades(history, [{ type: 'retracted', trade_id: 'a', data }], 9).trades[0]
      ?.isWithdrawn
  const filledIn = { ...listed, sol_value: 2, price_sol: 2, symbol: 'Bonk' }
  t.true(withdraws(filledIn))
  for (const field of fields) {
    const data = { ...listed, [field]: changed[field] }
    t.is(withdraws(data), isSameTrade(listed, data), field)
  }
})

test('a withdrawal takes no row number, marks one trade, also when it is repeated, and counts credits of live trades', (t) => {
  const all = { wallets: [], mints: [] }
  const history = appendHistory(EMPTY_TRADE_LIST, [aTrade(9), aTrade(9)], all, 9)
  const withdrawal = (trade_id: string, data: TradeItem) => ({ type: 'retracted', trade_id, data })
  const list = insertLiveTrades(
    history,
    [
      withdrawal('x', aTrade(9)),
      { trade_id: 'a', data: aTrade(10) },
      withdrawal('a', aTrade(10)),
      { trade_id: 'b', data: aTrade(11) },
    ],
    9,
  )
  // The transaction of `a` came again, in the same block.
  const after = insertLiveTrades(
    list,
    [
      withdrawal('x', aTrade(9)),
      withdrawal('a', aTrade(10)),
      { trade_id: 'a', data: aTrade(10), late: true },
      { trade_id: 'c', data: aTrade(12) },
    ],
    9,
  )
  const { trades, received, givenBack } = after
  t.deepEqual(
    trades.map(({ row, tradeId, isWithdrawn }) => [row, tradeId, isWithdrawn]),
    [
      [5, 'c', false],
      [3, 'b', false],
      [4, 'a', false],
      [2, 'a', true],
      [0, 'x', true],
      [1, null, false],
    ],
  )
  t.deepEqual([received, givenBack], [6, 1])
})

test('a trade filter is parsed as typed, with a sentence for each invalid entry', (t) => {
  const { mint } = aTrade(0)
  t.deepEqual(parseTradeFilter(' w1, W12;W1 ', `${mint}\n`), {
    filter: { wallets: ['W1', 'W12'], mints: [mint] },
    errors: [],
  })
  t.deepEqual(parseTradeFilter('', ''), { filter: { wallets: [], mints: [] }, errors: [] })
  t.deepEqual(parseTradeFilter('W0 12', 'abc').errors, [
    '“W0” is not a wallet alias such as W12.',
    '“12” is not a wallet alias such as W12.',
    '“abc” is not a token address.',
  ])
})
