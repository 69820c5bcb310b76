import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { address } from '../../pipeline/domain/address.ts'
import type { Swap, WalletEvent } from '../../pipeline/domain/event.ts'
import { USDC, USDT, WSOL } from '../../pipeline/domain/quote.ts'
import { toFoldEvent } from '../../pipeline/fold/fold-event.ts'
import { foldBalance, foldEvent } from '../../pipeline/fold/fold-wallet.ts'
import { createWalletState, takeChanges } from '../../pipeline/fold/wallet-state.ts'
import type { HeldPositionRow, TradedPositionRow } from '../../pipeline/store/tables/positions.ts'
import { EMPTY_METRICS, type WalletMetricsRow } from '../../pipeline/store/tables/wallet-metrics.ts'
import { aHistory } from '../../pipeline/testing/histories.ts'
import { firstBuyRow, metricsRow, positionRow } from '../../pipeline/workers/fold/book-rows.ts'
import { holdingItem, walletHoldingItem } from './holding.ts'
import { walletAggregateItem } from './wallet-aggregate.ts'
import { walletMetricsItem } from './wallet-metrics.ts'

/*
 * Section C of the rules, one by one, from the events of a wallet to the served figures. Every
 * expected figure was worked out by hand.
 */

const A = address('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')
const B = address('EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm')
const C = address('JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN')
const D = address('HZ1JovNiVvGrGNiiYvEozEVgZ58xaU3RKwX8eACQBCt3')
const SOL = 1_000_000_000n

type Step = (key: { slot: number; txIndex: number; eventIndex: number }) => WalletEvent

const base = (time: number) => ({ wallet: 7, blockTime: time, signature: 's' })
const swap =
  (side: Swap['side'], mint = A, change: Partial<Swap> = {}) =>
  (time: number, amount: bigint, lamports: bigint): Step =>
  (key) => ({
    kind: 'swap',
    ...key,
    ...base(time),
    side,
    baseMint: mint,
    baseAmount: amount,
    baseDecimals: 6,
    quoteMint: WSOL,
    quoteAmount: lamports,
    program: 'pump',
    programId: D,
    pool: null,
    confidence: 'high',
    quoteMismatch: false,
    feeLamports: 5n,
    solPriceUsdE9: null,
    ...change,
  })
const buy = swap('buy')
const sell = swap('sell')
const token =
  (direction: 'in' | 'out', mint = A) =>
  (time: number, amount: bigint): Step =>
  (key) => ({
    kind: 'token_transfer',
    ...key,
    ...base(time),
    direction,
    mint,
    amount,
    decimals: 6,
  })
const sol =
  (direction: 'in' | 'out') =>
  (time: number, lamports: bigint): Step =>
  (key) => ({ kind: 'sol_transfer', ...key, ...base(time), direction, lamports })
/** A swap without an opposing quote coin: it has no value. */
const NO_QUOTE = { quoteMint: null, quoteMismatch: true } as const

/** The state after some transactions. A list is one transaction with several events. */
function fold(steps: readonly (Step | readonly Step[])[], balance: bigint | null = null) {
  const state = createWalletState(7)
  for (const [index, step] of steps.entries())
    for (const [eventIndex, make] of [step].flat().entries())
      foldEvent(state, toFoldEvent(make({ slot: index + 1, txIndex: 0, eventIndex })))
  if (balance !== null) foldBalance(state, { slot: 1, txIndex: 0, lamports: balance })
  return state
}

/** A row as the store returns it: integers of 64 bits and more are text. */
const asStored = (row: object, narrow: readonly string[]) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      narrow.includes(name) || value === null || typeof value === 'object' ? value : String(value),
    ]),
  )

const NARROW = ['wallet', 'status', 'score_e2', 'computed_at', 'tx_index', 'event_index']
const storedMetrics = (state: ReturnType<typeof fold>, computedAt = 99) =>
  // The result has the columns of the row.
  asStored(metricsRow(state, 1n, computedAt), NARROW) as unknown as WalletMetricsRow
const metrics = (steps: readonly (Step | readonly Step[])[], balance: bigint | null = null) =>
  walletMetricsItem(storedMetrics(fold(steps, balance)))

const TIMES = ['first_buy_time', 'first_trade_time', 'last_trade_time', 'decimals', 'wallet']
/** Positions of a history by mint, with the first buy and the supply. */
function positions(steps: readonly (Step | readonly Step[])[], supply: bigint | null = null) {
  const state = fold(steps)
  const { tokens, firstBuys } = takeChanges(state)
  const rows = tokens.map((found) => {
    const first = firstBuys.find((one) => one.mint === found.mint)
    const row = first && firstBuyRow(7, 1n, first)
    return {
      ...positionRow(7, 1n, found),
      first_amount: row?.amount ?? 0n,
      first_value_lamports: row?.value_lamports ?? null,
      first_sol_price_usd_e9: row?.sol_price_usd_e9 ?? null,
      supply,
    }
  })
  return new Map(
    rows.map((row) => {
      const stored = asStored(row, [...TIMES, 'mint']) as unknown as TradedPositionRow &
        HeldPositionRow // has the columns of both rows
      return [stored.mint, stored] as const
    }),
  )
}
const position = (steps: readonly (Step | readonly Step[])[], supply: bigint | null = null) =>
  // The cast is safe: every history in these tests trades mint A.
  positions(steps, supply).get(A) as TradedPositionRow & HeldPositionRow

test('C1: a swap has the value of its lamports, or of its dollars at its own price rounded down, or none', (t) => {
  const at = (price: bigint | null, quoteMint = USDC) =>
    swap('buy', A, { quoteMint, solPriceUsdE9: price })
  const bought = (step: Step) => metrics([step]).pnl.sol_bought
  t.is(bought(buy(0, 1n, 1_500_000_001n)), 1.500000001)
  // 30.000001 USD at 149.999999999 USD: 0.2000000066680000... SOL
  t.is(bought(at(149_999_999_999n)(0, 1n, 30_000_001n)), 0.200000006)
  // A millionth of a dollar at 3 USD: 333.3 lamports.
  t.is(bought(at(3n * SOL, USDT)(0, 1n, 1n)), 333e-9)
  t.is(bought(at(null)(0, 1n, 30_000_001n)), 0)
  t.is(bought(swap('buy', A, NO_QUOTE)(0, 1n, 0n)), 0)
  // With a SOL quote the price has no effect.
  t.is(bought(swap('buy', A, { solPriceUsdE9: SOL })(0, 1n, SOL)), 1)
  // The fee of a terminal (B13a), 5 lamports in the example above, is not included.
  t.is(metrics([buy(0, 1n, 10n), sell(1, 1n, 10n)]).pnl.pnl_sol, 0)
})

test('C2: buys and incoming transfers open lots, transfers at zero cost; lots are used oldest first, also within a transaction', (t) => {
  // 5 received for nothing, 5 bought for 10 lamports; 6 sold for 60: 5 of the first lot (50) and 1
  // of the second (10 less its cost of 2).
  t.is(metrics([token('in')(0, 5n), buy(1, 5n, 10n), sell(2, 6n, 60n)]).pnl.pnl_sol, 58e-9)
  t.is(metrics([[token('in')(0, 5n), buy(0, 5n, 10n)], sell(2, 6n, 60n)]).pnl.pnl_sol, 58e-9)
  // A buy without a value has zero cost too, though it counts as bought.
  const free = swap('buy', A, NO_QUOTE)(0, 5n, 0n)
  const { pnl, behavior } = metrics([free, buy(1, 5n, 10n), sell(2, 6n, 60n)])
  t.is(pnl.pnl_sol, 58e-9)
  t.is(behavior.avg_holding_time, 1.5)
})

test('C3: parts of a lot cost their share, rounded down, and the last part the rest', (t) => {
  // 3 for 10 lamports, sold one by one: 3, 3, 4.
  const pnl = [1, 2, 3].map(
    (n) =>
      metrics([buy(0, 3n, 10n), ...[1, 2, 3].slice(0, n).map((time) => sell(time, 1n, 100n))]).pnl,
  )
  t.deepEqual(
    pnl.map((p) => [p.pnl_sol, p.sol_invested_open]),
    [
      [97e-9, 7e-9],
      [194e-9, 4e-9],
      [290e-9, 0],
    ],
  )
  // 7 sold for 11, of which 5 are matched: 7.86, so 7 of proceeds less 10 of cost. All 11 were
  // received.
  const beyond = metrics([buy(0, 5n, 10n), sell(1, 7n, 11n)]).pnl
  t.deepEqual([beyond.pnl_sol, beyond.sol_sold], [-3e-9, 11e-9])
  // A sell without a value removes its lots with their cost.
  const drained = metrics([buy(0, 4n, 10n), swap('sell', A, NO_QUOTE)(1, 2n, 0n), sell(2, 2n, 9n)])
  t.deepEqual([drained.pnl.pnl_sol, drained.pnl.sol_sold], [4e-9, 9e-9])
})

test('C4: a transfer out takes the oldest lots and realises nothing, also beyond all of them', (t) => {
  const steps = [buy(0, 4n, 10n), buy(1, 4n, 40n), token('out')(2, 6n), sell(3, 1n, 15n)]
  const { pnl, activity } = metrics([...steps, token('out')(4, 99n), sell(5, 3n, 7n)])
  // The last 2 of the second lot cost 20: one was sold for 15, the other sent. No lot covered the
  // other 3.
  t.deepEqual([pnl.pnl_sol, pnl.sol_sold, pnl.sol_invested_open], [5e-9, 22e-9, 0])
  t.deepEqual([activity.transfers_in, activity.transfers_out], [0, 2])
})

test('C5: sums of profit, buys and sells over all tokens; open lots count transfers', (t) => {
  const { pnl } = metrics([
    buy(0, 10n, 2n * SOL),
    swap('buy', B)(1, 10n, 3n * SOL),
    sell(2, 5n, 4n * SOL),
    swap('sell', B)(3, 10n, SOL),
    token('in', C)(4, 1n),
  ])
  t.deepEqual(pnl, {
    // 4 less 1, and 1 less 3
    sol_balance: null,
    pnl_sol: 1,
    sol_bought: 5,
    sol_sold: 5,
    // Half of a lot that cost 2; open tokens are A, and C from a transfer.
    sol_invested_open: 1,
    unrealized_token_count: 2,
  })
})

test('C6: the percent of tokens won and lost, among tokens with a sell of known value; breaking even is neither', (t) => {
  const steps = [
    ...[buy(0, 1n, 10n), sell(1, 1n, 11n)],
    ...[swap('buy', B)(2, 1n, 10n), swap('sell', B)(3, 1n, 9n)],
    ...[swap('buy', C)(4, 1n, 10n), swap('sell', C)(5, 1n, 10n)],
    // D is sold only without a value.
    ...[swap('buy', D)(6, 2n, 10n), swap('sell', D, NO_QUOTE)(7, 1n, 0n)],
  ]
  const { winrate, loserate } = metrics(steps).behavior
  t.deepEqual([winrate, loserate], [33.333333333333336, 33.333333333333336])
  // Now D has a sell of known value, so it counts, as lost.
  const unknown = metrics([...steps, swap('sell', D)(8, 9n, 0n)]).behavior
  t.deepEqual([unknown.winrate, unknown.loserate], [25, 50])
  t.deepEqual(metrics(steps.slice(6)).behavior.winrate, null)
  t.deepEqual(metrics(steps.slice(6)).behavior.loserate, null)
})

test('C7: the mean over matches of sells with bought lots, each match with the same weight', (t) => {
  const steps = [
    buy(0, 1000n, 2n),
    buy(100, 2n, 2n),
    // Matched with the lots bought at 0 s and 100 s: held for 200 s and 100 s.
    sell(200, 1001n, 3n),
  ]
  t.is(metrics(steps).behavior.avg_holding_time, 150)
  // A sell without a value matches too: 201 s.
  const third = swap('sell', A, NO_QUOTE)(301, 1n, 0n)
  t.is(metrics([...steps, third]).behavior.avg_holding_time, 167)
  // Lots from transfers, and outgoing transfers, do not count.
  const others = [token('in', B)(0, 5n), swap('sell', B)(9, 5n, 1n), token('out')(10, 1n)]
  t.is(metrics([buy(0, 1n, 1n), ...others]).behavior.avg_holding_time, null)
})

test('C8: the mean time from the first buy to the latest exit, over exited tokens', (t) => {
  const exit = (steps: Step[]) => metrics(steps).behavior.avg_time_to_almost_full_exit
  const a = [buy(0, 10n, 1n), sell(60, 9n, 1n)]
  const b = [swap('buy', B)(100, 10n, 1n), swap('sell', B)(200, 8n, 1n)]
  t.is(exit(a), 60)
  t.is(exit([...a, ...b]), 60)
  // 80% and 10% more at 300: 200 s
  t.is(exit([...a, ...b, swap('sell', B)(300, 1n, 1n)]), 130)
  // 9 of 11 is below 90% again; 10 of 11 is not.
  t.is(exit([...a, buy(400, 1n, 1n)]), null)
  t.is(exit([...a, buy(400, 1n, 1n), sell(500, 1n, 1n)]), 500)
  // Further sells do not move the exit; transfers do not count.
  t.is(exit([...a, sell(70, 1n, 1n)]), 60)
  t.is(exit([buy(0, 10n, 1n), token('out')(5, 10n)]), null)
})

test('C9: a buy is sold quickly if sells take half of its lot within 15 s', (t) => {
  const quick = (...steps: Step[]) => metrics(steps).behavior.quick_sells
  t.is(quick(buy(0, 10n, 1n), sell(15, 5n, 1n)), 1)
  t.is(quick(buy(0, 10n, 1n), sell(16, 10n, 1n)), 0)
  t.is(quick(buy(0, 11n, 1n), sell(1, 5n, 1n)), 0)
  t.is(quick(buy(0, 11n, 1n), sell(1, 5n, 1n), sell(2, 1n, 1n), sell(3, 5n, 1n)), 1)
  t.is(quick(buy(0, 10n, 1n), token('out')(1, 5n), sell(2, 4n, 1n)), 0)
  t.is(quick(buy(0, 10n, 1n), buy(1, 10n, 1n), sell(2, 15n, 1n)), 2)
})

test('C10: tokens of which swaps sold more than they bought, at the time of computation', (t) => {
  const more = (...steps: Step[]) => metrics(steps).behavior.sold_more_than_bought
  t.is(more(buy(0, 4n, 1n), sell(1, 4n, 1n)), 0)
  t.is(more(token('in')(0, 9n), buy(1, 4n, 1n), sell(2, 5n, 1n)), 1)
  t.is(more(token('in')(0, 9n), buy(1, 4n, 1n), sell(2, 5n, 1n), buy(3, 1n, 1n)), 0)
  t.is(more(buy(0, 4n, 1n), token('out')(1, 4n), sell(2, 5n, 1n)), 1)
  t.is(more(token('in')(0, 9n), token('out')(1, 9n)), 0)
})

test('C11: the three hours with most transactions, ties to the earlier, fewer when fewer are used', (t) => {
  const hour = (h: number) => h * 3600
  const hours = (...steps: (Step | Step[])[]) => metrics(steps).behavior.active_times
  const steps = [
    // One transaction with three events.
    [token('in')(hour(5), 1n), buy(hour(5), 1n, 1n), sol('out')(hour(5), 1n)],
    ...[sol('in')(hour(23), 1n), token('out')(hour(23) + 3599, 1n)],
    ...[buy(hour(24), 1n, 1n), sell(hour(25), 1n, 1n)],
  ]
  t.deepEqual(hours(...steps), [
    { hour_utc: 23, tx_count: 2 },
    { hour_utc: 0, tx_count: 1 },
    { hour_utc: 1, tx_count: 1 },
  ])
  t.deepEqual(hours(...steps.slice(0, 2)), [
    { hour_utc: 5, tx_count: 1 },
    { hour_utc: 23, tx_count: 1 },
  ])
})

test('C12: averages over all buys and sells, including those without a value; the number of swapped tokens', (t) => {
  const none = swap('buy', B, NO_QUOTE)(1, 1n, 0n)
  const steps = [buy(0, 2n, 3n * SOL), none, token('in', C)(2, 5n)]
  const { behavior, activity } = metrics(steps)
  t.deepEqual([behavior.avg_buy_amount, behavior.avg_sell_amount], [1.5, null])
  t.is(activity.unique_tokens_traded, 2)
  const sold = metrics([sell(0, 1n, SOL), sell(1, 1n, SOL), sell(2, 1n, 0n)]).behavior
  t.deepEqual([sold.avg_buy_amount, sold.avg_sell_amount], [null, 2 / 3])
})

/**
 * 50 tokens (here one token, many times) bought for 1 SOL each and sold for 1.1 SOL 301 s later.
 */
const hundredTrades = (trades = 50) =>
  Array.from({ length: trades }, (_, at) => [
    buy(at * 1000, 10n, SOL),
    sell(at * 1000 + 301, 10n, (11n * SOL) / 10n),
  ]).flat()

test('C13: status and score of a whole history (section 3)', (t) => {
  const judge = (steps: readonly Step[], balance: bigint | null) => {
    const { status, score } = metrics(steps, balance).identity
    return [status, score]
  }
  // 10% of profit: 20; all tokens won: 20; 301 s: 10; 1 SOL a buy: 10; 100 trades: 10; 30 SOL: 5.
  t.deepEqual(judge(hundredTrades(), 30n * SOL), ['scored', 75])
  t.deepEqual(judge(hundredTrades(), null), ['scored', 70])
  t.deepEqual(judge(hundredTrades(), 10n * SOL - 1n), ['disqualified', 0])
  t.deepEqual(judge(hundredTrades(25), 30n * SOL), ['scored', 65])
  t.deepEqual(judge(hundredTrades(24), 30n * SOL), ['review', null])
  t.deepEqual(judge(hundredTrades(500), 30n * SOL), ['scored', 75])
  t.deepEqual(judge([...hundredTrades(500), buy(9e6, 1n, SOL)], 30n * SOL), ['review', null])
  // No win and a loss: this comes before the number of trades.
  t.deepEqual(judge([buy(0, 1n, 2n), sell(1, 1n, 1n)], null), ['disqualified', 0])
  // 3% of profit are 6 points; 20.01 SOL are 0.005 points, rounded half up.
  const three = [buy(0, 100n, 100n * SOL), sell(1, 100n, 103n * SOL)]
  const small = Array.from({ length: 48 }, (_, at) => swap('sell', B, NO_QUOTE)(at, 1n, 0n))
  t.deepEqual(judge([...three, ...small], 20n * SOL + SOL / 100n), ['scored', 36.01])
})

test('C14: holdings and aggregates count swaps only; SOL sums include every quote coin', (t) => {
  const steps = [
    token('in')(0, 5_000_000n),
    buy(10, 10_000_000n, 2n * SOL),
    swap('buy', A, { quoteMint: USDC, solPriceUsdE9: 200n * SOL })(20, 6_000_000n, 600_000_000n),
    token('out')(30, 3_000_000n),
    sell(40, 4_000_000n, SOL),
  ]
  // Lots hold 5 + 10 + 6 - 3 - 4 = 14. By swaps it is 16 - 4.
  const row = position(steps)
  t.deepEqual(holdingItem(row, 100).position, {
    sol_bought: 5,
    sol_sold: 1,
    tokens_acquired: 16,
    tokens_sold: 4,
    tokens_held: 12,
    pct_held: 0.75,
  })
  t.deepEqual(walletHoldingItem(row, 100).position, {
    balance: 12,
    tokens_acquired: 16,
    tokens_held: 12,
    sol_invested: 5,
  })
  t.deepEqual(walletAggregateItem(row), {
    wallet: 'W7',
    alias: 'W7',
    buys: 2,
    sells: 1,
    base_bought: '16000000',
    base_sold: '4000000',
    base_net: '12000000',
    sol_in: 5,
    sol_out: 1,
    pct_held: 0.75,
    first_buy_time: 10,
    last_trade_time: 40,
    entry_mcap: null,
  })
  const over = walletAggregateItem(position([...steps, sell(50, 20_000_000n, SOL)]))
  t.deepEqual([over.base_net, over.pct_held], ['-8000000', 0])
  const never = walletAggregateItem(position([token('in')(0, 5n), sell(1, 5n, 1n)]))
  t.deepEqual([never.base_net, never.pct_held, never.first_buy_time], ['-5', 0, null])
})

test('C15: entry_mcap is the supply at the price of the first buy, in USD at its SOL price', (t) => {
  const priced = swap('buy', A, { solPriceUsdE9: 150n * SOL })
  const mcap = (steps: Step[], supply: bigint | null) =>
    walletAggregateItem(position(steps, supply)).entry_mcap
  // 2 tokens for 0.5 SOL: 37.5 USD each, and 10^9 of them.
  const first = priced(0, 2_000_000n, SOL / 2n)
  t.is(mcap([first], 10n ** 15n), 37.5e9)
  t.is(mcap([first], null), null)
  // Later buys, and earlier transfers, change nothing.
  t.is(mcap([token('in')(0, 9n), first, priced(1, 1n, SOL)], 10n ** 15n), 37.5e9)
  // Against dollars the price of SOL cancels out: 600 USD for 2 tokens.
  const usdc = swap('buy', A, { quoteMint: USDC, solPriceUsdE9: 150n * SOL })
  t.is(mcap([usdc(0, 2_000_000n, 600_000_000n)], 10n ** 15n), 300e9)
  // Always null: the first buy has no value, although the next one has.
  t.is(mcap([swap('buy', A, NO_QUOTE)(0, 1n, 0n), first], 10n ** 15n), null)
})

test('C18: lots count transfers and holdings do not; tokens that come back have zero cost; the documents say so', (t) => {
  // A token received by airdrop and sold is all profit, and is never listed as a holding.
  const airdrop = [token('in')(0, 5n), sell(1, 5n, 10n)]
  t.is(metrics(airdrop).pnl.pnl_sol, 10e-9)
  t.is(walletAggregateItem(position(airdrop)).base_net, '-5')
  // Staked and taken back: the cost left with the outgoing transfer.
  const staked = [buy(0, 5n, 10n), token('out')(1, 5n), token('in')(2, 5n)]
  t.is(metrics(staked).pnl.sol_invested_open, 0)
  t.is(metrics([...staked, sell(3, 5n, 10n)]).pnl.pnl_sol, 10e-9)
  t.is(holdingItem(position(staked), 9).position.tokens_held, 5e-6)
  const readme = readFileSync(join(import.meta.dirname, '../../../docs/endpoints.md'), 'utf8')
  t.regex(readme, /swaps alone.*lots.*transfers.*airdrops/s)
  t.regex(readme, /comes\s+back at\s+zero cost/)
  t.regex(readme, /Stablecoins other than USDC and USDT/)
})

test('C19: computed_at is the second of the last computation, and 0 without events', (t) => {
  const at = (steps: Step[], balance: bigint | null = null) =>
    walletMetricsItem(storedMetrics(fold(steps, balance), 1_790_000_000)).computed_at
  t.is(at([]), 0)
  t.is(at([], 0n), 1_790_000_000)
  t.is(at([sol('in')(0, 1n)]), 1_790_000_000)
})

test('C20: a figure is the double nearest to the exact fraction', (t) => {
  const { pnl, behavior } = metrics([
    ...[buy(0, 3n, 100_000_000n), buy(0, 3n, 200_000_000n), sell(1, 6n, 600_000_000n)],
    ...[swap('buy', B)(2, 1n, 10n), swap('sell', B)(3, 1n, 11n)],
    ...[swap('buy', C)(2, 1n, 10n), swap('sell', C)(4, 1n, 9n)],
  ])
  // Sums are in lamports and divided once: 0.3, where 0.1 + 0.2 is 0.30000000000000004.
  t.is(pnl.pnl_sol, 0.3)
  t.is(behavior.winrate, 66.66666666666667)
  t.is(behavior.avg_holding_time, 1.25)
  // 2^53 + 1 lamports
  t.is(metrics([sol('in')(0, 2n ** 53n + 1n)]).activity.sol_received, 9007199.254740993)
  // A million tokens and one raw unit of 18 decimals
  const row = { ...position([buy(0, 1n, 1n)]), decimals: 18, bought_amount: `1${'0'.repeat(23)}1` }
  t.is(holdingItem(row, 0).position.tokens_acquired, 1_000_000)
})

test('C21: a wallet without events has zeros, nulls and an empty list, and is in review', (t) => {
  const empty = {
    identity: { wallet: 'W7', tracked: true, score: null, status: 'review' as const },
    pnl: {
      sol_balance: null,
      pnl_sol: 0,
      sol_bought: 0,
      sol_sold: 0,
      sol_invested_open: 0,
      unrealized_token_count: 0,
    },
    activity: {
      total_trades: 0,
      buys: 0,
      sells: 0,
      transfers_in: 0,
      transfers_out: 0,
      sol_received: 0,
      sol_sent: 0,
      unique_tokens_traded: 0,
    },
    behavior: {
      winrate: null,
      loserate: null,
      avg_holding_time: null,
      avg_time_to_almost_full_exit: null,
      avg_buy_amount: null,
      avg_sell_amount: null,
      quick_sells: 0,
      sold_more_than_bought: 0,
      active_times: [],
    },
    computed_at: 0,
  }
  t.deepEqual(metrics([]), empty)
  t.deepEqual(walletMetricsItem({ ...EMPTY_METRICS, wallet: 7 }), empty)
  // 9 SOL disqualify it; with 11 it stays in review.
  t.deepEqual(metrics([], 9n * SOL).identity, {
    wallet: 'W7',
    tracked: true,
    score: 0,
    status: 'disqualified',
  })
  t.deepEqual(
    [metrics([], 11n * SOL).identity, metrics([], 11n * SOL).pnl.sol_balance],
    [empty.identity, 11],
  )
})

test('C22: ages end at the block time of the newest stored slot', (t) => {
  const row = position([sell(50, 1n, 1n), buy(100, 5n, 10n), token('in')(120, 5n)])
  t.deepEqual(holdingItem(row, 1000).timing, {
    first_activity_at: 50,
    last_activity_at: 100,
    holding_time: 950,
  })
  t.deepEqual(walletHoldingItem(row, 100).timing, {
    first_activity_at: 50,
    last_activity_at: 100,
    holding_time: 50,
  })
})

test('C2, C3, C4: no raw unit and no lamport is lost: incoming equals outgoing plus remaining', (t) => {
  fc.assert(
    fc.property(aHistory, (history) => {
      const state = createWalletState(1)
      for (const event of history) foldEvent(state, event)
      const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)
      const { lots, disposals } = takeChanges(state)
      for (const { lot } of lots) {
        const parts = disposals.filter((d) => d.lot === lot)
        t.is(sum(parts.map((d) => d.amount)) + lot.left, lot.amount)
        t.is(sum(parts.map((d) => d.cost)) + lot.leftCost, lot.cost)
        t.true(lot.left > 0n || lot.leftCost === 0n)
      }
      for (const event of history) {
        const parts = disposals.filter(
          (d) => d.slot === event.slot && d.eventIndex === event.eventIndex,
        )
        const matched = sum(parts.map((d) => d.amount))
        t.true(matched <= event.amount)
        if (matched === 0n || event.kind !== 'sell' || event.value === null) continue
        const proceeds = sum(parts.map((d) => d.proceeds ?? 0n))
        t.is(proceeds, (event.value * matched) / event.amount)
      }
      t.is(sum(lots.map(({ lot }) => lot.leftCost)), state.investedOpen)
      t.is(sum(disposals.map((d) => (d.proceeds === null ? 0n : d.proceeds - d.cost))), state.pnl)
      t.is(state.boughtLamports, state.investedOpen + sum(disposals.map((d) => d.cost)))
    }),
    { numRuns: 500 },
  )
})
