import { LAMPORTS_PER_SOL } from '../domain/amount.ts'
import { type Fraction, fraction } from '../domain/fraction.ts'
import type { ExactToken, MomentumOf } from './watched-token.ts'

/**
 * A field that a condition can use. `read` returns its value for a listed token at a tick; null
 * while unknown. Figures are exact; `GET /me/watchlists/trending` serves the nearest double.
 */
export type StrategyField =
  | {
      readonly kind: 'number'
      /** Bounds of the figure. A threshold beyond them is a mistake. */
      readonly min: number
      readonly max: number
      read(token: ExactToken, at: number): Fraction | null
    }
  | {
      readonly kind: 'text'
      /** All possible texts; null if any text is. */
      readonly values: readonly string[] | null
      read(token: ExactToken): string
    }
  | { readonly kind: 'flag'; read(token: ExactToken): boolean }

/**
 * Fields of a watchlist item by their names in the contract (2.7), those of `momentum` by path.
 * Ages in seconds, volumes in SOL, market caps in USD, `pct_held` 0 to 1.
 */
export const STRATEGY_FIELDS: ReadonlyMap<string, StrategyField> = new Map<string, StrategyField>([
  ['mint', text((token) => token.mint)],
  ['symbol', text((token) => token.symbol)],
  ['name', text((token) => token.name)],
  ['age_seconds', integer((token, at) => at - token.firstTradeAt)],
  ['discovered_seconds', integer((token, at) => at - token.discoveredAt)],
  ['wallets_holding', integer((token) => token.walletsHolding)],
  ['conviction', number((token) => token.conviction, 0, 100)],
  ['sol_held', sol((token) => token.heldLamports)],
  ['pct_held', number((token) => token.pctHeld, 0, 1)],
  ['avg_entry_mcap', number((token) => token.avgEntryMcap)],
  ['current_mcap', number((token) => token.currentMcap)],
  ['multiple', number((token) => token.multiple)],
  ['band_min', number((token) => token.bandMin)],
  ['band_max', number((token) => token.bandMax)],
  ['buy_volume', sol((token) => token.buyLamports)],
  ['sell_volume', sol((token) => token.sellLamports)],
  [
    'oldest_hold_seconds',
    integer(({ oldestHoldAt }, at) => (oldestHoldAt === null ? null : at - oldestHoldAt)),
  ],
  ['watchlist_seconds', integer((token, at) => at - token.enteredAt)],
  ...momentum('mcap'),
  ...momentum('holders'),
  ...momentum('volume1h'),
  ...momentum('liquidity'),
  [
    'state',
    text((token) => token.state, ['discovered', 'accumulating', 'distributing', 'holding']),
  ],
  ['near_evict', { kind: 'flag', read: (token) => token.nearEvict }],
])

function number(
  read: (token: ExactToken, at: number) => Fraction | null,
  min = 0,
  max = Number.POSITIVE_INFINITY,
): StrategyField {
  return { kind: 'number', min, max, read }
}

function integer(read: (token: ExactToken, at: number) => number | null): StrategyField {
  return number((token, at) => {
    const value = read(token, at)
    return value === null ? null : fraction(BigInt(value))
  })
}

function sol(read: (token: ExactToken) => bigint): StrategyField {
  return number((token) => fraction(read(token), LAMPORTS_PER_SOL))
}

function text(
  read: (token: ExactToken) => string,
  values: readonly string[] | null = null,
): StrategyField {
  return { kind: 'text', values, read }
}

function momentum(of: MomentumOf): [string, StrategyField][] {
  return [
    [`momentum.${of}.value`, number((token) => token.momentum[of].value)],
    [`momentum.${of}.change_pct`, number((token) => token.momentum[of].changePct, -100)],
    [`momentum.${of}.trend`, text((token) => token.momentum[of].trend, ['up', 'down', 'flat'])],
  ]
}
