import test from 'ava'
import fc from 'fast-check'
import type { TradeItem } from '../../../items/trade.ts'
import { createAnswerStore } from './answer-store.ts'
import { EMPTY_LIST, readFilter, withHistory, withLive } from './feed-list.ts'
import {
  amountFigure,
  changeText,
  exactAmount,
  numberFigure,
  percentFigure,
  shortAddress,
  solFigure,
  spanFigure,
  timeFigure,
  usdFigure,
} from './figures.ts'
import { nameWords, reasonWords, wholeSignals, withSignalMessages } from './signal-words.ts'
import { sorted, sortedBy } from './sorting.ts'
import { wholeWatchlist, withWatchlistMessages } from './watchlist-view.ts'

test('a raw amount is shown with every digit, whatever its size', (t) => {
  t.deepEqual(
    [
      exactAmount('0', 9),
      exactAmount('1', 9),
      exactAmount('-1234567', 3),
      exactAmount('123456789012345678901234567890', 6),
      exactAmount('1500000000', 9),
      exactAmount('7', 0),
    ],
    ['0', '0.000000001', '-1,234.567', '123,456,789,012,345,678,901,234.56789', '1.5', '7'],
  )
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 80n), 2n ** 80n), fc.nat(20), (raw, decimals) => {
      const [whole = '', fraction = ''] = exactAmount(raw.toString(), decimals).split('.')
      const digits = whole.replaceAll(',', '') + fraction.padEnd(decimals, '0')
      return BigInt(digits) === raw && (raw >= 0n || digits.startsWith('-'))
    }),
  )
})

test('an amount in short is cut, never rounded up', (t) => {
  const short = (raw: string, decimals: number) => amountFigure(raw, decimals).text
  t.deepEqual(
    [
      short('0', 6),
      short('999999999', 3),
      short('1234567999', 3),
      short('-1999999999999', 3),
      short('123456789', 5),
      short('1999999', 6),
      short('129999', 9),
      short('-1', 9),
      short('99999999999999999999', 0),
    ],
    [
      '0',
      '999,999',
      '1.234 M',
      '-1.999 B',
      '1,234.5',
      '1.9999',
      '0.0001299',
      '-0.000000001',
      '99,999 Q',
    ],
  )
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 90n), fc.nat(12), (raw, decimals) => {
      const [figure = '', unit = ''] = short(raw.toString(), decimals).split(' ')
      const [whole = '', fraction = ''] = figure.replaceAll(',', '').split('.')
      const zeros = { '': 0, M: 6, B: 9, T: 12, Q: 15 }[unit] ?? 99
      const shown = BigInt(whole + fraction) * 10n ** BigInt(zeros + decimals)
      const exact = raw * 10n ** BigInt(fraction.length)
      return shown <= exact && (raw === 0n || shown > 0n)
    }),
  )
})

test('figures, spans and times are said as people say them, and in full', (t) => {
  t.deepEqual(
    [0, 12.3456789, 0.00001234, -1234.56, 1e-9].map((sol) => solFigure(sol).text),
    ['0', '12.35', '0.000012', '-1,234.6', '<0.000001'],
  )
  t.is(solFigure(12.345678901).exact, '12.345678901 SOL')
  t.deepEqual(
    [12.5, 12_345, 1_234_567, 9.876e9].map((usd) => usdFigure(usd).text),
    ['$12.5', '$12.35 K', '$1.23 M', '$9.88 B'],
  )
  t.deepEqual(
    [solFigure(null), usdFigure(null), percentFigure(null), spanFigure(null), numberFigure(null)],
    Array.from({ length: 5 }, () => ({ text: '–', exact: 'not known' })),
  )
  t.deepEqual(
    [0, 59, 60, 3661, 90_000, 86_400 * 400 + 3600].map((seconds) => spanFigure(seconds).text),
    ['0 s', '59 s', '1 min', '1 h 1 min', '1 d 1 h', '400 d 1 h'],
  )
  t.deepEqual(timeFigure(1_790_000_000, -120), {
    text: '2026-09-21 16:13:20',
    exact: '2026-09-21 14:13:20 UTC',
  })
  t.deepEqual([5.25, -3, 0, 0.04, -0.04].map(changeText), ['+5.3%', '-3%', '0%', '0%', '0%'])
  t.is(shortAddress('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'), 'DezX…B263')
  t.is(numberFigure(1e22).text, '10,000,000,000,000,000,000,000')
})

test('a list is sorted by a column and back, what is not known last both ways', (t) => {
  const rows = [{ a: 2 }, { a: null }, { a: 10 }, { a: 2, b: 1 }]
  t.deepEqual(
    [false, true].map((descending) => sorted(rows, ({ a }) => a, descending)),
    [
      [{ a: 2 }, { a: 2, b: 1 }, { a: 10 }, { a: null }],
      [{ a: 10 }, { a: 2 }, { a: 2, b: 1 }, { a: null }],
    ],
  )
  const first = sortedBy({ column: '', descending: false }, 'a', true)
  t.deepEqual(
    [first, sortedBy(first, 'a', true), sortedBy(first, 'b', false)],
    [
      { column: 'a', descending: true },
      { column: 'a', descending: false },
      { column: 'b', descending: false },
    ],
  )
})

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
  ...change,
})

test('live trades stand above history, late ones at their time, and the list is bounded', (t) => {
  const all = { wallets: [], mints: [] }
  const history = withHistory(EMPTY_LIST, [aTrade(10), aTrade(8), aTrade(8)], all, 6)
  const live = withLive(
    history,
    [{ data: aTrade(11) }, { data: aTrade(12) }, { data: aTrade(9), late: true }],
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
  const more = withLive(live, [{ data: aTrade(13) }, { data: aTrade(1), late: true }], 6)
  t.deepEqual(
    [more.trades.map(({ trade }) => trade.block_time), more.taken, more.dropped],
    [[13, 12, 11, 10, 9, 8], 8, 2],
  )
  const filtered = withHistory(
    EMPTY_LIST,
    [aTrade(3), aTrade(2, { wallet: 'W2' })],
    { wallets: ['W2'], mints: [aTrade(0).mint] },
    6,
  )
  t.deepEqual(
    filtered.trades.map(({ trade }) => trade.wallet),
    ['W2'],
  )
})

test('a filter is read as people type it, and what is wrong with it is said', (t) => {
  const { mint } = aTrade(0)
  t.deepEqual(readFilter(' w1, W12;W1 ', `${mint}\n`), {
    filter: { wallets: ['W1', 'W12'], mints: [mint] },
    faults: [],
  })
  t.deepEqual(readFilter('', ''), { filter: { wallets: [], mints: [] }, faults: [] })
  t.deepEqual(readFilter('W0 12', 'abc').faults, [
    '“W0” is not an alias such as W12.',
    '“12” is not an alias such as W12.',
    '“abc” is not a token address.',
  ])
})

test('what was paid for is kept for the key that paid, the newest answers alone', (t) => {
  const store = createAnswerStore(2)
  const answer = (body: number) => ({ body, at: 1, creditsLeft: null })
  store.useKey('a')
  for (const n of [1, 2, 3]) store.set(`/${n}`, answer(n))
  t.deepEqual([store.get('/1'), store.get('/2'), store.get('/3')], [null, answer(2), answer(3)])
  store.useKey('b')
  t.is(store.get('/3'), null)
})

const watched = (mint: string, conviction: number) =>
  // What of an item is looked at here.
  ({ mint, conviction }) as Parameters<typeof wholeWatchlist>[0][number]

test('the watchlist follows its channel: a snapshot replaces it once it is whole', (t) => {
  const shown = (view: ReturnType<typeof wholeWatchlist>) =>
    [...view.rows.values()].map(({ item, learntAt }) => [item.mint, item.conviction, learntAt])
  const start = wholeWatchlist([watched('a', 1), watched('b', 2)], 100, null)
  const halfway = withWatchlistMessages(
    start,
    [{ channel: 'watchlist', id: '1', snapshot: true, data: watched('b', 3) }],
    200,
  )
  t.deepEqual(shown(halfway), [
    ['a', 1, 100],
    ['b', 3, 200],
  ])
  const whole = withWatchlistMessages(
    halfway,
    [
      { channel: 'watchlist', id: '2', snapshot: true, data: watched('c', 4) },
      { type: 'snapshot_complete', cursor: '3' },
      { channel: 'watchlist', id: '4', event: 'entered', data: watched('d', 5) },
      { channel: 'watchlist', id: '5', event: 'changed', data: watched('b', 6) },
      { channel: 'watchlist', id: '6', event: 'left', data: { mint: 'c', symbol: '', name: '' } },
      { channel: 'signals', id: '7', data: { id: 'x' } },
    ],
    300,
  )
  t.deepEqual(shown(whole), [
    ['b', 6, 300],
    ['d', 5, 300],
  ])
  t.deepEqual(shown(withWatchlistMessages(whole, [{ type: 'snapshot_complete' }], 400)), [])
  // Read again in the middle of a snapshot: what it named already stays named.
  const again = wholeWatchlist([watched('a', 7), watched('b', 8)], 250, halfway)
  t.deepEqual(shown(withWatchlistMessages(again, [{ type: 'snapshot_complete' }], 300)), [
    ['b', 8, 250],
  ])
})

test('signals are there once, and their reasons can be read', (t) => {
  const signal = (id: string, fired_at: number) =>
    ({ id, fired_at }) as Parameters<typeof wholeSignals>[0][number] // what is looked at here
  const signals = withSignalMessages(wholeSignals([signal('b', 2), signal('a', 1)]), [
    { channel: 'signals', id: '1', data: signal('b', 2) },
    { channel: 'signals', id: '2', data: signal('c', 3) },
  ])
  t.deepEqual([...signals.keys()], ['a', 'b', 'c'])
  t.deepEqual(
    [
      reasonWords({ field: 'conviction', op: '>=', threshold: 60, value: 72.5 }),
      reasonWords({ field: 'pct_held', op: '<', threshold: 0.5, value: 0.25 }),
      reasonWords({ field: 'watchlist_seconds', op: '<=', threshold: 3600, value: 90 }),
      reasonWords({ field: 'state', op: '=', threshold: 'accumulating', value: 'accumulating' }),
      reasonWords({ field: 'near_evict', op: '=', threshold: false, value: false }),
      reasonWords({ field: 'momentum.mcap.change_pct', op: '>', threshold: 5, value: 12.34 }),
      reasonWords({ field: 'momentum.liquidity.trend', op: '!=', threshold: 'down', value: 'up' }),
      reasonWords({ field: 'something_new', op: '>', threshold: 1, value: 2 }),
    ],
    [
      'conviction was 72.5 (at least 60)',
      'the part still held was 25% (below 50%)',
      'the time on the list was 1 min 30 s (at most 1 h)',
      'the state was accumulating',
      'it was not about to leave the list',
      'the change of the market cap within an hour was +12.3% (above +5%)',
      'the trend of the liquidity was up (not to be down)',
      'something new was 2 (above 1)',
    ],
  )
  t.is(nameWords('smart-money-exit'), 'Smart money exit')
})
