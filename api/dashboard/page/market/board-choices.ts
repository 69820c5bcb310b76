import type { BookMode } from './book-mode.tsx'

/** What a leaderboard can be sorted by (rule L10). */
export type BoardSort = 'pnl' | 'winrate' | 'trades' | 'volume' | 'score'

/** What the customer chose for the leaderboard. It is in the URL, so a link shows the same one. */
export interface BoardChoices {
  readonly sort: BoardSort
  readonly order: 'desc' | 'asc'
  readonly period: '7d' | '30d' | 'all'
  readonly mode: BookMode
  readonly status: 'any' | 'scored' | 'review' | 'disqualified'
  readonly minTrades: number
  /** Counts from 1. */
  readonly page: number
}

const DEFAULTS: BoardChoices = {
  sort: 'pnl',
  order: 'desc',
  period: '30d',
  mode: 'raw',
  status: 'any',
  minTrades: 0,
  page: 1,
}

/** Largest value of `min_trades`. */
export const MOST_MIN_TRADES = 1_000_000

/** Returns the choices in the query of a URL hash. Invalid ones are replaced by the defaults. */
export function boardFromQuery(query: URLSearchParams): BoardChoices {
  const oneOf = <Value extends string>(name: string, values: readonly Value[], initial: Value) =>
    values.find((value) => value === query.get(name)) ?? initial
  const integer = (name: string, least: number, most: number) => {
    const text = query.get(name) ?? ''
    return /^[0-9]{1,7}$/.test(text) ? Math.min(most, Math.max(least, Number(text))) : least
  }
  return changeBoard(DEFAULTS, {
    period: oneOf('period', ['7d', '30d', 'all'], DEFAULTS.period),
    sort: oneOf('sort', ['pnl', 'winrate', 'trades', 'volume', 'score'], DEFAULTS.sort),
    order: oneOf('order', ['desc', 'asc'], DEFAULTS.order),
    mode: oneOf('mode', ['raw', 'strict'], DEFAULTS.mode),
    status: oneOf('status', ['any', 'scored', 'review', 'disqualified'], DEFAULTS.status),
    minTrades: integer('min_trades', 0, MOST_MIN_TRADES),
    page: integer('page', 1, 10_000),
  })
}

/**
 * Applies a change. A new order begins at the first page. A score has no period, so sorting by
 * score shows all time, and another period sorts by profit.
 */
export function changeBoard(before: BoardChoices, change: Partial<BoardChoices>): BoardChoices {
  const after = { ...before, page: 1, ...change }
  if (after.sort !== 'score' || after.period === 'all') return after
  return change.sort === 'score' ? { ...after, period: 'all' } : { ...after, sort: 'pnl' }
}

/** Returns the URL hash of a leaderboard, with what differs from the defaults. */
export function boardHash(choices: BoardChoices): string {
  const query = new URLSearchParams(
    pairs(choices).filter(([name, value]) =>
      pairs(DEFAULTS).every((pair) => `${pair}` !== `${[name, value]}`),
    ),
  ).toString()
  return query === '' ? '#/wallets' : `#/wallets?${query}`
}

/** Returns the path of the request for a leaderboard. */
export function boardPath(choices: BoardChoices): string {
  const query = new URLSearchParams(
    pairs(choices).filter(([name, value]) => name !== 'status' || value !== 'any'),
  )
  return `/wallets?${query}`
}

function pairs(choices: BoardChoices): [name: string, value: string][] {
  const { minTrades, ...others } = choices
  return Object.entries({ ...others, min_trades: minTrades }).map(([name, value]) => [
    name,
    String(value),
  ])
}
