import { Rational } from '../../pipeline/testing/rational.ts'
import { slowMatches } from '../../pipeline/testing/slow-books.ts'
import type { SlowEvent } from '../../pipeline/testing/slow-events.ts'
import { type Item, inSol, type SlowAnswer, totalOf } from './slow-answer.ts'

/** The figures of a wallet in a period. */
interface Period {
  readonly pnl_sol: number
  readonly winrate: number | null
  readonly trades: number
  readonly volume_sol: number
}

/** A list of `GET /wallets` by a figure of a period (rules L6, L10). */
export interface SlowBoard {
  readonly query: string
  readonly days: number
  readonly mode: 'raw' | 'strict'
  readonly figure: keyof Period
  readonly isDescending: boolean
  /** Fewest trades. */
  readonly least: number
}

const ALL = Number.POSITIVE_INFINITY
const DEFAULTS = { days: ALL, mode: 'raw', isDescending: true, least: 0 } as const

/** Leaderboards by each figure, and with each filter. */
export const LEADERBOARDS: readonly SlowBoard[] = [
  { ...DEFAULTS, query: 'sort=pnl', figure: 'pnl_sol' },
  {
    query: 'sort=pnl&mode=strict&period=7d&order=asc',
    days: 7,
    mode: 'strict',
    figure: 'pnl_sol',
    isDescending: false,
    least: 0,
  },
  { ...DEFAULTS, query: 'sort=winrate&mode=strict', mode: 'strict', figure: 'winrate' },
  {
    ...DEFAULTS,
    query: 'sort=trades&period=30d&min_trades=5',
    days: 30,
    figure: 'trades',
    least: 5,
  },
  {
    ...DEFAULTS,
    query: 'sort=volume&order=asc&period=7d',
    days: 7,
    figure: 'volume_sol',
    isDescending: false,
  },
]

/** A wallet that may be on a leaderboard. */
export interface Ranked {
  readonly wallet: number
  /** Its item of `GET /wallets` without a period. */
  readonly item: Item
  /** All its events, in order of the event key. */
  readonly events: readonly SlowEvent[]
}

/** What a leaderboard must answer if these are all wallets. */
export function leaderboardAnswer(
  board: SlowBoard,
  wallets: readonly Ranked[],
  now: number,
): SlowAnswer {
  const asOf = Math.floor(now / 3600) * 3600
  const rows = wallets
    .map(({ wallet, item, events }) => ({ wallet, item, period: periodOf(events, board, asOf) }))
    .filter(({ period }) => period.trades >= board.least)
  const value = ({ period }: (typeof rows)[number]) => {
    const found = period[board.figure]
    return found === null ? Number.POSITIVE_INFINITY : board.isDescending ? -found : found
  }
  const byValue = (a: number, b: number) => (a < b ? -1 : a > b ? 1 : 0)
  rows.sort((a, b) => byValue(value(a), value(b)) || a.wallet - b.wallet)
  return {
    path: `/wallets?${board.query}`,
    paging: 'page',
    fields: { page_size: 25, total: rows.length, as_of: asOf },
    items: rows.map(({ item, period }, at) => ({ ...item, period: { ...period, rank: at + 1 } })),
  }
}

function periodOf(
  events: readonly SlowEvent[],
  { days, mode }: Pick<SlowBoard, 'days' | 'mode'>,
  asOf: number,
): Period {
  const isIn = ({ blockTime }: SlowEvent) => blockTime >= asOf - days * 86_400 && blockTime < asOf
  const isSwap = ({ kind }: SlowEvent) => kind === 'buy' || kind === 'sell'
  const own = events.filter((event) => event.mint !== '')
  const swaps = own.filter((event) => isSwap(event) && isIn(event))
  const sold = new Set(
    swaps.filter((e) => e.kind === 'sell' && e.value !== null).map((e) => e.mint),
  )
  const profits = [...sold].map((mint) => {
    const folded = own.filter((event) => event.mint === mint && (mode === 'raw' || isSwap(event)))
    const sales = slowMatches(folded).filter(({ taker }) => taker.kind === 'sell' && isIn(taker))
    return totalOf(sales.map(({ proceeds, cost }) => (proceeds === null ? 0n : proceeds - cost)))
  })
  const won = BigInt(profits.filter((profit) => profit > 0n).length)
  return {
    pnl_sol: inSol(totalOf(profits)),
    winrate: sold.size === 0 ? null : new Rational(won * 100n, BigInt(sold.size)).toNumber(),
    trades: swaps.length,
    volume_sol: inSol(totalOf(swaps.map(({ value }) => value ?? 0n))),
  }
}
