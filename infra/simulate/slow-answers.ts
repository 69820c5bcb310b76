import type { Address } from '../../pipeline/domain/address.ts'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { Swap, WalletEvent } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { WSOL } from '../../pipeline/domain/quote.ts'
import { Rational } from '../../pipeline/testing/rational.ts'
import { slowMatches } from '../../pipeline/testing/slow-books.ts'
import { type SlowEvent, slowEvent, slowValue } from '../../pipeline/testing/slow-events.ts'
import {
  type SlowPriceInputs,
  slowSolPrice,
  slowTokenPrice,
} from '../../pipeline/testing/slow-prices.ts'
import type { SlowRow } from '../../pipeline/testing/slow-tables.ts'
import { contractTrade } from '../whole-service/trade-item.ts'
import { slowProfitAnswers } from './slow-profit-answers.ts'

/** What REST must answer to a request, with all pages of a list joined. */
export interface SlowAnswer {
  /** Path and query, without the parameter that names a page. */
  readonly path: string
  /** How its list is paged; null: it is one answer. */
  readonly paging: 'page' | 'cursor' | null
  /** The fields that are the same on every page. */
  readonly fields: Item
  /** All items of the list; empty for one answer. */
  readonly items: readonly Item[]
}

type Item = Readonly<Record<string, unknown>>

/** What the answers follow from. */
export interface AnswerInputs {
  /** Tracked wallets are `W1` to `W<wallets>`. */
  readonly wallets: number
  /** All events, in any order, each swap with its price. */
  readonly events: readonly WalletEvent[]
  /** Rows of `wallet_metrics`, as `slowTables` makes them. */
  readonly metrics: readonly SlowRow[]
  /** Supply of each traded mint, null while it is not known; its symbol and name, '' until then. */
  readonly facts: ReadonlyMap<
    string,
    { readonly supply: bigint | null; readonly symbol: string; readonly name: string }
  >
  /** Block time of the newest stored slot. */
  readonly now: number
  /** Stored prices of SOL, USD x 10^9. */
  readonly prices: readonly {
    readonly time: number
    readonly source: 'pool' | 'file'
    readonly usdE9: bigint
  }[]
  /** Rows of `pool_states`. */
  readonly pools: SlowPriceInputs['pools']
  /** How old a price of SOL may be, in seconds. */
  readonly maxAgeSeconds: number
}

/** A wallet's swaps of a mint, in order. */
interface Traded {
  readonly wallet: number
  readonly mint: Address
  readonly decimals: number
  readonly swaps: readonly Swap[]
  readonly buys: readonly Swap[]
  readonly sells: readonly Swap[]
  readonly bought: bigint
  readonly sold: bigint
  readonly spent: bigint
  readonly received: bigint
  readonly first: number
  readonly last: number
}

/**
 * Returns what every product resource must answer (contract 2 and 4, rules C14, C15, C17, C20). It
 * is a second, slow implementation of what stands between the tables and REST, and shares nothing
 * with it but the types of `domain`. `computed_at` is left out (rule C19).
 */
export function slowAnswers(inputs: AnswerInputs): SlowAnswer[] {
  const { wallets, events, metrics, facts, now } = inputs
  const swaps = events
    .flatMap((event) => (event.kind === 'swap' ? [event] : []))
    .sort(compareEventKeys)
  const newest = swaps.toReversed()
  const priceInputs = priceInputsOf(swaps, inputs)
  const mints = [...new Set(swaps.map(({ baseMint }) => baseMint))].sort()
  const numbers = Array.from({ length: wallets }, (_, at) => at + 1)
  const traded = mints.flatMap((mint) =>
    numbers.flatMap((wallet) => tradedOf(wallet, mint, swaps) ?? []),
  )
  const held = traded.filter(({ bought, sold }) => bought > sold).sort(byActivity)
  const items = [...metrics]
    .sort((a, b) => Number(a.wallet) - Number(b.wallet))
    .map((row) => metricsItem(row))
  const ages = held.map(({ first }) => now - first).sort((a, b) => a - b)
  const middle = ages[ages.length >> 1] ?? 0
  const trades: TradesOf = (path, matches = () => true) => ({
    path,
    paging: 'cursor',
    fields: {},
    items: newest
      .filter(matches)
      .map((swap) => ({ ...contractTrade(swap), ...addedFields(swap, facts) })),
  })
  const one = (path: string, fields: Item): SlowAnswer => ({
    path,
    paging: null,
    fields,
    items: [],
  })
  return [
    { path: '/wallets?', paging: 'page', fields: { page_size: 25, total: items.length }, items },
    ...leaderboards(inputs, items),
    trades('/trades?limit=100'),
    ...numbers.map((wallet) =>
      trades(`/wallets/${aliasOf(wallet)}/trades?limit=50`, (swap) => swap.wallet === wallet),
    ),
    ...filteredTrades(newest, trades),
    ...[now, newest.at(-1)?.blockTime ?? now, now - 100_000].map((at) => solPrice(at, inputs)),
    ...numbers.map((wallet, at) => one(`/wallets/${aliasOf(wallet)}/metrics`, items[at] ?? {})),
    ...numbers.map((wallet) => {
      const tokens = held
        .filter((position) => position.wallet === wallet)
        .map((position) => walletHolding(position, now))
      return one(`/wallets/${aliasOf(wallet)}/holdings`, { wallet: aliasOf(wallet), tokens })
    }),
    holdings({ alias: null, least: 0, most: null }, held, now),
    holdings({ alias: null, least: middle, most: null }, held, now),
    holdings({ alias: null, least: 1, most: middle }, held, now),
    ...numbers.map((wallet) =>
      holdings({ alias: aliasOf(wallet), least: 0, most: null }, held, now),
    ),
    ...[1, 2, 3].map((least) => heldTokens(least, held)),
    ...mints.map((mint): SlowAnswer => {
      const own = newest.filter(({ baseMint }) => baseMint === mint)
      return {
        path: `/tokens/${mint}/swaps?limit=50`,
        paging: 'cursor',
        fields: { mint },
        items: own.map((swap) => ({ ...swapItem(swap), ...addedFields(swap, facts) })),
      }
    }),
    ...tokens(mints, swaps, traded, priceInputs, inputs),
    ...searches(mints, held, inputs),
    ...slowProfitAnswers(inputs, priceInputs),
    ...mints.map((mint) => {
      const rows = traded.filter((position) => position.mint === mint).sort(byFirstBuy)
      return one(`/tokens/${mint}/wallet-aggregates`, {
        mint,
        tracked_wallets: rows.length,
        wallets: rows.map((row) => aggregateItem(row, facts.get(mint)?.supply ?? null)),
      })
    }),
  ]
}

/** What prices of tokens follow from. */
function priceInputsOf(
  swaps: readonly Swap[],
  { pools, prices, maxAgeSeconds }: AnswerInputs,
): SlowPriceInputs {
  return {
    swaps: swaps.map((swap) => ({
      ...swap,
      mint: swap.baseMint,
      amount: swap.baseAmount,
      value: slowValue(swap),
    })),
    pools,
    // Of one second the price of the file counts.
    solPrices: prices.filter(
      ({ time, source }) =>
        source === 'file' || !prices.some((one) => one.time === time && one.source === 'file'),
    ),
    solPriceMaxAgeSeconds: maxAgeSeconds,
  }
}

/** `GET /tokens/{mint}` of each mint (rule L9). */
function tokens(
  mints: readonly Address[],
  swaps: readonly Swap[],
  traded: readonly Traded[],
  priceInputs: SlowPriceInputs,
  { facts, now }: AnswerInputs,
): SlowAnswer[] {
  const sol = slowSolPrice(priceInputs, now)
  return mints.map((mint): SlowAnswer => {
    const { supply = null, symbol = '', name = '' } = facts.get(mint) ?? {}
    const own = traded.filter((position) => position.mint === mint)
    const holders = own.filter(({ bought, sold }) => bought > sold)
    const held = new Rational(sum(holders.map(({ bought, sold }) => bought - sold)))
    const decimals = own[0]?.decimals ?? 0
    const found = slowTokenPrice(priceInputs, mint, null, now)
    const price = found?.price.per(new Rational(10n ** 9n)) ?? null
    const whole = price?.times(new Rational(10n ** BigInt(decimals))) ?? null
    const all = supply === null ? null : new Rational(supply)
    const buys = own.flatMap((position) => position.buys.map(({ blockTime }) => blockTime))
    const activity = (seconds: number) => {
      const some = swaps.filter(
        ({ baseMint, blockTime }) =>
          baseMint === mint && blockTime > now - seconds && blockTime <= now,
      )
      return {
        buys: some.filter(({ side }) => side === 'buy').length,
        sells: some.filter(({ side }) => side === 'sell').length,
        volume_sol: inSol(sumOfValues(some)),
        wallets: new Set(some.map(({ wallet }) => wallet)).size,
      }
    }
    const fields = {
      token: {
        address: mint,
        decimals,
        symbol: symbol || null,
        name: name || null,
        supply: supply === null ? null : String(supply),
      },
      as_of: now,
      price_sol: whole?.toNumber() ?? null,
      price_usd: (sol && whole?.times(sol).toNumber()) ?? null,
      price_source: found?.source ?? null,
      price_age_seconds: found === null ? null : now - found.time,
      market_cap_usd: (sol && all && price?.times(sol).times(all).toNumber()) ?? null,
      holders: holders.length,
      holders_pct: supply
        ? held.times(new Rational(100)).per(new Rational(supply)).toNumber()
        : null,
      first_buy_at: buys.length === 0 ? null : Math.min(...buys),
      last_1h: activity(3600),
      last_24h: activity(86_400),
    }
    return { path: `/tokens/${mint}`, paging: null, fields, items: [] }
  })
}

/** `GET /search` for wallets, and for addresses, symbols and words of names (rule L17). */
function searches(
  mints: readonly Address[],
  held: readonly Traded[],
  { wallets, facts }: AnswerInputs,
): SlowAnswer[] {
  const known = [...facts].map(([mint, { symbol, name }]) => ({ mint, symbol, name }))
  const texts = known.flatMap(({ symbol, name }) => [
    ...[symbol, symbol.slice(0, 1).toLowerCase(), symbol.slice(0, 2), name.split(' ').at(-1) ?? ''],
  ])
  const numbers = Array.from({ length: wallets }, (_, at) => String(at + 1))
  return [...new Set([...texts, ...mints, 'W', 'w1'])].flatMap((text): SlowAnswer[] => {
    if (text === '') return []
    const lower = text.toLowerCase()
    const rank = (symbol: string, name: string) => {
      if (symbol.toLowerCase() === lower) return 0
      if (symbol.toLowerCase().startsWith(lower)) return 1
      return name.toLowerCase().split(/\W+/).includes(lower) ? 2 : null
    }
    const ofWallets = numbers
      .filter((number) => `w${number}`.startsWith(lower))
      .slice(0, 5)
      .map((number) => ({
        rank: `w${number}` === lower ? 0 : 1,
        hit: { kind: 'wallet', wallet: `W${number}`, token: null, holders: null },
      }))
    const ofTokens = known
      .map(({ mint, symbol, name }) => ({
        rank: mint === text ? 0 : rank(symbol, name),
        hit: {
          kind: 'token',
          wallet: null,
          token: { address: mint, symbol: symbol || null, name: name || null },
          holders: held.filter((position) => position.mint === mint).length,
        },
      }))
      .sort(
        ({ hit: a }, { hit: b }) =>
          b.holders - a.holders || compare(a.token.address, b.token.address),
      )
    const items = [0, 1, 2].flatMap((wanted) =>
      [...ofWallets, ...ofTokens]
        .filter((found) => found.rank === wanted)
        .map(({ hit }) => ({ ...hit, match: ['exact', 'prefix', 'word'][wanted] })),
    )
    const path = `/search?q=${encodeURIComponent(text)}`
    return [{ path, paging: null, fields: { items: items.slice(0, 20) }, items: [] }]
  })
}

/** The answer of a list of trades. */
type TradesOf = (path: string, matches?: (swap: Swap) => boolean) => SlowAnswer

/** What rule L3 adds to a trade or swap. */
function addedFields(swap: Swap, facts: AnswerInputs['facts']): Item {
  const value = slowValue(swap)
  const amount = new Rational(swap.baseAmount, 10n ** BigInt(swap.baseDecimals))
  return {
    sol_value: value === null ? null : inSol(value),
    price_sol: value === null ? null : new Rational(value, 10n ** 9n).per(amount).toNumber(),
    symbol: facts.get(swap.baseMint)?.symbol || null,
  }
}

/** `GET /wallets` by each figure of a period, and with filters (rules L6, L10). */
function leaderboards({ events, now }: AnswerInputs, items: readonly Item[]): SlowAnswer[] {
  const asOf = Math.floor(now / 3600) * 3600
  const ordered = [...events]
    .sort(compareEventKeys)
    .map((event) => ({ wallet: event.wallet, ...slowEvent(event) }))
  const figuresOf = (wallet: number, days: number, mode: string) => {
    const isIn = ({ blockTime }: SlowEvent) => blockTime >= asOf - days * 86_400 && blockTime < asOf
    const isSwap = ({ kind }: SlowEvent) => kind === 'buy' || kind === 'sell'
    const own = ordered.filter((event) => event.wallet === wallet && event.mint !== '')
    const swaps = own.filter((event) => isSwap(event) && isIn(event))
    const sold = new Set(
      swaps.filter((e) => e.kind === 'sell' && e.value !== null).map((e) => e.mint),
    )
    const profits = [...sold].map((mint) => {
      const folded = own.filter((event) => event.mint === mint && (mode === 'raw' || isSwap(event)))
      const sales = slowMatches(folded).filter(({ taker }) => taker.kind === 'sell' && isIn(taker))
      return sum(sales.map(({ proceeds, cost }) => (proceeds === null ? 0n : proceeds - cost)))
    })
    const won = BigInt(profits.filter((profit) => profit > 0n).length)
    return {
      pnl_sol: inSol(sum(profits)),
      winrate: sold.size === 0 ? null : new Rational(won * 100n, BigInt(sold.size)).toNumber(),
      trades: swaps.length,
      volume_sol: inSol(sum(swaps.map(({ value }) => value ?? 0n))),
    }
  }
  const identityOf = (item: Item) => item.identity as { score: number | null; status: string }
  const list = (
    query: string,
    { days, mode, isDescending = true, status, least = 0 }: SlowList,
    figureOf: (period: ReturnType<typeof figuresOf>, item: Item) => number | null,
  ): SlowAnswer => {
    const rows = items
      .map((item, at) => ({ item, period: figuresOf(at + 1, days, mode) }))
      .filter(
        ({ item, period }) =>
          period.trades >= least && (!status || identityOf(item).status === status),
      )
    const value = ({ item, period }: (typeof rows)[number]) => {
      const found = figureOf(period, item)
      return found === null ? Number.POSITIVE_INFINITY : isDescending ? -found : found
    }
    // The sort is stable: equal values stay in the order of wallets.
    rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0))
    return {
      path: `/wallets?${query}`,
      paging: 'page',
      fields: { page_size: 25, total: rows.length, as_of: asOf },
      items: rows.map(({ item, period }, at) => ({ ...item, period: { ...period, rank: at + 1 } })),
    }
  }
  const all = { days: Number.POSITIVE_INFINITY, mode: 'raw' }
  return [
    list('sort=pnl', all, ({ pnl_sol }) => pnl_sol),
    list(
      'sort=pnl&mode=strict&period=7d&order=asc',
      { days: 7, mode: 'strict', isDescending: false },
      ({ pnl_sol }) => pnl_sol,
    ),
    list('sort=winrate&mode=strict', { ...all, mode: 'strict' }, ({ winrate }) => winrate),
    list(
      'sort=trades&period=30d&min_trades=5',
      { days: 30, mode: 'raw', least: 5 },
      ({ trades }) => trades,
    ),
    list(
      'sort=volume&order=asc&period=7d',
      { days: 7, mode: 'raw', isDescending: false },
      ({ volume_sol }) => volume_sol,
    ),
  ]
}

/** Which wallets a list has, and in which order. */
interface SlowList {
  readonly days: number
  readonly mode: string
  readonly isDescending?: boolean
  readonly status?: string
  readonly least?: number
}

/** `GET /trades` with each filter, and with several (rule L4). */
function filteredTrades(newest: readonly Swap[], trades: TradesOf): SlowAnswer[] {
  const swap = newest[newest.length >> 1]
  if (swap === undefined) return []
  const { wallet, baseMint, side, blockTime: to } = swap
  const from = to - 20
  const alias = aliasOf(wallet)
  return [
    trades(`/trades?limit=100&side=${side}`, (one) => one.side === side),
    trades(`/trades?limit=20&mint=${baseMint}`, (one) => one.baseMint === baseMint),
    trades(
      `/trades?limit=20&from=${from}&to=${to}`,
      ({ blockTime }) => blockTime >= from && blockTime < to,
    ),
    trades(
      `/trades?limit=20&wallet=${alias}&side=${side}&mint=${baseMint}&from=${from}`,
      (one) =>
        one.wallet === wallet &&
        one.side === side &&
        one.baseMint === baseMint &&
        one.blockTime >= from,
    ),
  ]
}

/** `GET /prices/sol` at a time (rule L11). Of one second the price of the file counts. */
function solPrice(at: number, { prices, maxAgeSeconds }: AnswerInputs): SlowAnswer {
  const [found] = prices
    .filter(({ time, usdE9 }) => usdE9 > 0n && time <= at && time >= at - maxAgeSeconds)
    .sort((a, b) => b.time - a.time || (a.source === 'file' ? -1 : 1))
  const fields = {
    at,
    price_usd: found === undefined ? null : inSol(found.usdE9),
    time: found?.time ?? null,
    age_seconds: found === undefined ? null : at - found.time,
    source: found?.source ?? null,
  }
  return { path: `/prices/sol?at=${at}`, paging: null, fields, items: [] }
}

const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)
const sumOfValues = (swaps: readonly Swap[]) => sum(swaps.map((swap) => slowValue(swap) ?? 0n))
const sumOfAmounts = (swaps: readonly Swap[]) => sum(swaps.map(({ baseAmount }) => baseAmount))
const inSol = (lamports: bigint) => new Rational(lamports, 10n ** 9n).toNumber()
const inTokens = (amount: bigint, decimals: number) =>
  new Rational(amount, 10n ** BigInt(decimals)).toNumber()
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function tradedOf(wallet: number, mint: Address, all: readonly Swap[]): Traded | null {
  const swaps = all.filter((swap) => swap.wallet === wallet && swap.baseMint === mint)
  const [first] = swaps
  const last = swaps.at(-1)
  if (first === undefined || last === undefined) return null
  const buys = swaps.filter(({ side }) => side === 'buy')
  const sells = swaps.filter(({ side }) => side === 'sell')
  return {
    wallet,
    mint,
    decimals: first.baseDecimals,
    swaps,
    buys,
    sells,
    bought: sumOfAmounts(buys),
    sold: sumOfAmounts(sells),
    spent: sumOfValues(buys),
    received: sumOfValues(sells),
    first: first.blockTime,
    last: last.blockTime,
  }
}

/** Order of holdings (rule C17). */
function byActivity(a: Traded, b: Traded): number {
  return b.last - a.last || compare(a.mint, b.mint) || a.wallet - b.wallet
}

/** Order of wallet aggregates (rule C17). */
function byFirstBuy(a: Traded, b: Traded): number {
  const time = ({ buys }: Traded) => buys[0]?.blockTime ?? Number.POSITIVE_INFINITY
  return Math.sign(time(a) - time(b)) || a.wallet - b.wallet
}

function timingOf({ first, last }: Traded, now: number): Item {
  return { first_activity_at: first, last_activity_at: last, holding_time: now - first }
}

function tokenOf({ mint, decimals }: Traded): Item {
  return { address: mint, decimals }
}

function pctHeld({ bought, sold }: Traded): number {
  return bought === 0n || sold > bought ? 0 : new Rational(bought - sold, bought).toNumber()
}

function walletHolding(position: Traded, now: number): Item {
  const { bought, sold, spent, decimals } = position
  const held = inTokens(bought - sold, decimals)
  return {
    token: tokenOf(position),
    position: {
      balance: held,
      tokens_acquired: inTokens(bought, decimals),
      tokens_held: held,
      sol_invested: inSol(spent),
    },
    timing: timingOf(position, now),
  }
}

function holding(position: Traded, now: number): Item {
  const { wallet, bought, sold, spent, received, decimals } = position
  return {
    wallet: aliasOf(wallet),
    token: tokenOf(position),
    position: {
      sol_bought: inSol(spent),
      sol_sold: inSol(received),
      tokens_acquired: inTokens(bought, decimals),
      tokens_sold: inTokens(sold, decimals),
      tokens_held: inTokens(bought - sold, decimals),
      pct_held: pctHeld(position),
    },
    timing: timingOf(position, now),
  }
}

interface HoldingsFilter {
  readonly alias: string | null
  readonly least: number
  readonly most: number | null
}

/** `GET /wallets/holdings` with filters; ages are in seconds, both bounds inclusive (rule C22). */
function holdings(filter: HoldingsFilter, held: readonly Traded[], now: number): SlowAnswer {
  const { alias, least, most } = filter
  const items = held
    .filter(({ wallet }) => alias === null || aliasOf(wallet) === alias)
    .filter(({ first }) => now - first >= least && (most === null || now - first <= most))
    .map((position) => holding(position, now))
  const query = new URLSearchParams()
  if (alias !== null) query.set('alias', alias)
  if (least > 0) query.set('min_holding_seconds', String(least))
  if (most !== null) query.set('max_holding_seconds', String(most))
  return {
    path: `/wallets/holdings?${query}`,
    paging: 'page',
    fields: {
      alias,
      min_holding_seconds: least,
      max_holding_seconds: most,
      page_size: 100,
      total: items.length,
    },
    items,
  }
}

function heldTokens(least: number, held: readonly Traded[]): SlowAnswer {
  const tokens = [...new Set(held.map(({ mint }) => mint))].flatMap((mint) => {
    const holders = held
      .filter((position) => position.mint === mint)
      .sort((a, b) => a.wallet - b.wallet)
    const [first] = holders
    if (first === undefined || holders.length < least) return []
    const spent = sum(holders.map((position) => position.spent))
    const amount = sum(holders.map(({ bought, sold }) => bought - sold))
    const item = {
      token: tokenOf(first),
      holders: {
        wallet_count: holders.length,
        wallets: holders.map(({ wallet }) => aliasOf(wallet)),
      },
      aggregate: {
        tokens_held: inTokens(amount, first.decimals),
        sol_invested: inSol(spent),
      },
    }
    return [{ mint, count: holders.length, spent, item }]
  })
  const items = tokens
    .sort((a, b) => b.count - a.count || Number(b.spent - a.spent) || compare(a.mint, b.mint))
    .map(({ item }) => item)
  return {
    path: `/tokens/held?min_wallets=${least}`,
    paging: 'page',
    fields: { min_wallets: least, page_size: 25, total: items.length },
    items,
  }
}

function swapItem(swap: Swap): Item {
  return {
    block_time: swap.blockTime,
    wallet: aliasOf(swap.wallet),
    side: swap.side,
    base_mint: swap.baseMint,
    base_amount: String(swap.baseAmount),
    base_decimals: swap.baseDecimals,
    quote_mint: swap.quoteMint ?? WSOL,
    quote_amount: String(swap.quoteAmount),
    program: swap.program,
    confidence: swap.confidence,
    quote_mismatch: swap.quoteMismatch,
  }
}

function aggregateItem(position: Traded, supply: bigint | null): Item {
  const { wallet, buys, sells, bought, sold, spent, received, last } = position
  return {
    wallet: aliasOf(wallet),
    alias: aliasOf(wallet),
    buys: buys.length,
    sells: sells.length,
    base_bought: String(bought),
    base_sold: String(sold),
    base_net: String(bought - sold),
    sol_in: inSol(spent),
    sol_out: inSol(received),
    pct_held: pctHeld(position),
    first_buy_time: buys[0]?.blockTime ?? null,
    last_trade_time: last,
    entry_mcap: entryMcap(buys[0], supply),
  }
}

/** Supply x price in USD of the first buy (rule C15). */
function entryMcap(buy: Swap | undefined, supply: bigint | null): number | null {
  if (buy === undefined || supply === null || buy.baseAmount === 0n) return null
  const value = slowValue(buy)
  if (value === null || buy.solPriceUsdE9 === null) return null
  const price = new Rational(value, 10n ** 9n).per(new Rational(buy.baseAmount))
  const usd = new Rational(buy.solPriceUsdE9, 10n ** 9n)
  return price.times(usd).times(new Rational(supply)).toNumber()
}

function metricsItem(row: SlowRow): Item {
  const of = (name: string) => BigInt(row[name] as bigint | number) // a column of integers
  const sol = (name: string) => inSol(of(name))
  const mean = (over: bigint, under: bigint) =>
    under === 0n ? null : new Rational(over, under).toNumber()
  const { sol_balance_lamports: balance, score_e2: score } = row
  return {
    identity: {
      wallet: aliasOf(Number(row.wallet)),
      tracked: true,
      score: score === null ? null : new Rational(of('score_e2'), 100n).toNumber(),
      status: row.status,
    },
    pnl: {
      sol_balance: balance === null ? null : sol('sol_balance_lamports'),
      pnl_sol: sol('pnl_lamports'),
      sol_bought: sol('bought_lamports'),
      sol_sold: sol('sold_lamports'),
      sol_invested_open: sol('invested_open_lamports'),
      unrealized_token_count: row.unrealized_token_count,
    },
    activity: {
      total_trades: Number(of('buys') + of('sells')),
      buys: row.buys,
      sells: row.sells,
      transfers_in: row.transfers_in,
      transfers_out: row.transfers_out,
      sol_received: sol('received_lamports'),
      sol_sent: sol('sent_lamports'),
      unique_tokens_traded: row.unique_tokens_traded,
    },
    behavior: {
      winrate: mean(100n * of('tokens_won'), of('tokens_sold_valued')),
      loserate: mean(100n * of('tokens_lost'), of('tokens_sold_valued')),
      avg_holding_time: mean(of('holding_seconds_sum'), of('holding_matches')),
      avg_time_to_almost_full_exit: mean(of('exit_seconds_sum'), of('exit_tokens')),
      avg_buy_amount: mean(of('bought_lamports'), 10n ** 9n * of('buys')),
      avg_sell_amount: mean(of('sold_lamports'), 10n ** 9n * of('sells')),
      quick_sells: row.quick_sells,
      sold_more_than_bought: row.sold_more_than_bought,
      active_times: row.active_times,
    },
  }
}
