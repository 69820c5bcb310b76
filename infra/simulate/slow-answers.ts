import type { Address } from '../../pipeline/domain/address.ts'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import type { Swap, WalletEvent } from '../../pipeline/domain/event.ts'
import { compareEventKeys } from '../../pipeline/domain/event-key.ts'
import { slowEvent } from '../../pipeline/testing/slow-events.ts'
import type { SlowPriceInputs } from '../../pipeline/testing/slow-prices.ts'
import { slowTokenPrice } from '../../pipeline/testing/slow-prices.ts'
import type { SlowRow } from '../../pipeline/testing/slow-tables.ts'
import {
  byActivity,
  compare,
  type FactsByMint,
  type Item,
  inSol,
  inTokens,
  isHeld,
  oneAnswer,
  type SlowAnswer,
  slowSwap,
  type Traded,
  tokenField,
  totalOf,
  tradedOf,
  tradesAnswer,
} from './slow-answer.ts'
import { LEADERBOARDS, leaderboardAnswer } from './slow-leaderboards.ts'
import { slowTokenAnswers } from './slow-token-answers.ts'
import { holdingsAnswer, metricsItem, slowWalletAnswers } from './slow-wallet-answers.ts'

/** What the answers follow from. */
export interface AnswerInputs {
  /** Tracked wallets are `W1` to `W<wallets>`. */
  readonly wallets: number
  /** All events, in any order, each swap with its price. */
  readonly events: readonly WalletEvent[]
  /** Rows of `wallet_metrics`, as `slowTables` makes them. */
  readonly metrics: readonly SlowRow[]
  readonly facts: FactsByMint
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
  const prices = priceInputsOf(swaps, inputs)
  const mints = [...new Set(swaps.map(({ baseMint }) => baseMint))].sort()
  const numbers = Array.from({ length: wallets }, (_, at) => at + 1)
  const held = mints
    .flatMap((mint) => numbers.flatMap((wallet) => tradedOf(wallet, mint, swaps) ?? []))
    .filter(isHeld)
    .sort(byActivity)
  const rows = [...metrics].sort((a, b) => Number(a.wallet) - Number(b.wallet))
  return [
    ...listAnswers({ mints, swaps, held, rows }, inputs),
    ...rows.flatMap((row) => {
      const wallet = Number(row.wallet)
      const own = events.filter((event) => event.wallet === wallet)
      const priceAt = (mint: string, time: number) => slowTokenPrice(prices, mint, wallet, time)
      return slowWalletAnswers(wallet, { events: own, metrics: row, facts, now, priceAt })
    }),
    ...mints.flatMap((mint) => {
      const own = swaps.filter(({ baseMint }) => baseMint === mint)
      return slowTokenAnswers(mint, { swaps: own, prices, facts, now })
    }),
  ]
}

/** What every resource answers that is about no single wallet or token. */
function listAnswers(
  made: {
    readonly mints: readonly Address[]
    /** In order of the event key. */
    readonly swaps: readonly Swap[]
    /** Positions in order of activity. */
    readonly held: readonly Traded[]
    /** Rows of `wallet_metrics` in order of wallets. */
    readonly rows: readonly SlowRow[]
  },
  inputs: AnswerInputs,
): SlowAnswer[] {
  const { mints, held, rows } = made
  const { facts, now } = inputs
  const newest = made.swaps.toReversed()
  const items = rows.map((row) => metricsItem(row))
  const ages = held.map(({ first }) => now - first).sort((a, b) => a - b)
  const middle = ages[ages.length >> 1] ?? 0
  return [
    { path: '/wallets?', paging: 'page', fields: { page_size: 25, total: items.length }, items },
    ...leaderboards(inputs, rows),
    tradesAnswer('/trades?limit=100', newest, facts),
    ...filteredTrades(newest, facts),
    ...[now, newest.at(-1)?.blockTime ?? now, now - 100_000].map((at) => solPrice(at, inputs)),
    holdingsAnswer({ alias: null, least: 0, most: null }, held, now),
    holdingsAnswer({ alias: null, least: middle, most: null }, held, now),
    holdingsAnswer({ alias: null, least: 1, most: middle }, held, now),
    ...[1, 2, 3].map((least) => heldTokens(least, held)),
    ...searches(mints, held, inputs),
  ]
}

/** What prices of tokens follow from. */
function priceInputsOf(
  swaps: readonly Swap[],
  { pools, prices, maxAgeSeconds }: AnswerInputs,
): SlowPriceInputs {
  return {
    swaps: swaps.map(slowSwap),
    pools,
    // Of one second the price of the file counts.
    solPrices: prices.filter(
      ({ time, source }) =>
        source === 'file' || !prices.some((one) => one.time === time && one.source === 'file'),
    ),
    solPriceMaxAgeSeconds: maxAgeSeconds,
  }
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
    return [oneAnswer(path, { items: items.slice(0, 20) })]
  })
}

/** `GET /wallets` by each figure of a period, and with filters (rules L6, L10). */
function leaderboards({ events, now }: AnswerInputs, rows: readonly SlowRow[]): SlowAnswer[] {
  const ordered = [...events].sort(compareEventKeys)
  const ranked = rows.map((row) => {
    const own = ordered.filter(({ wallet }) => wallet === row.wallet).map(slowEvent)
    return { wallet: Number(row.wallet), item: metricsItem(row), events: own }
  })
  return LEADERBOARDS.map((board) => leaderboardAnswer(board, ranked, now))
}

/** `GET /trades` with each filter, and with several (rule L4). */
function filteredTrades(newest: readonly Swap[], facts: FactsByMint): SlowAnswer[] {
  const swap = newest[newest.length >> 1]
  if (swap === undefined) return []
  const { wallet, baseMint, side, blockTime: to } = swap
  const from = to - 20
  const alias = aliasOf(wallet)
  const trades = (path: string, matches: (one: Swap) => boolean) =>
    tradesAnswer(path, newest.filter(matches), facts)
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
  return oneAnswer(`/prices/sol?at=${at}`, fields)
}

/** A token of `GET /tokens/held`, and by what the list is ordered. */
export interface HeldToken {
  readonly mint: string
  readonly count: number
  readonly spent: bigint
  readonly item: Item
}

/** The token that these positions hold; null if there are none. */
export function heldToken(held: readonly Traded[]): HeldToken | null {
  const holders = held.toSorted((a, b) => a.wallet - b.wallet)
  const [first] = holders
  if (first === undefined) return null
  const spent = totalOf(holders.map((position) => position.spent))
  const amount = totalOf(holders.map(({ bought, sold }) => bought - sold))
  const item = {
    token: tokenField(first),
    holders: {
      wallet_count: holders.length,
      wallets: holders.map(({ wallet }) => aliasOf(wallet)),
    },
    aggregate: {
      tokens_held: inTokens(amount, first.decimals),
      sol_invested: inSol(spent),
    },
  }
  return { mint: first.mint, count: holders.length, spent, item }
}

/** Order of held tokens (rule C17). */
export function byHolders(a: HeldToken, b: HeldToken): number {
  return b.count - a.count || Number(b.spent - a.spent) || compare(a.mint, b.mint)
}

function heldTokens(least: number, held: readonly Traded[]): SlowAnswer {
  const items = [...new Set(held.map(({ mint }) => mint))]
    .flatMap((mint) => heldToken(held.filter((position) => position.mint === mint)) ?? [])
    .filter(({ count }) => count >= least)
    .sort(byHolders)
    .map(({ item }) => item)
  return {
    path: `/tokens/held?min_wallets=${least}`,
    paging: 'page',
    fields: { min_wallets: least, page_size: 25, total: items.length },
    items,
  }
}
