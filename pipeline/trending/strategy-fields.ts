import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import type { MomentumOf, WatchedToken } from './watched-token.ts'

/** Value of a field of the watchlist; null while unknown. */
export type FieldValue = number | string | boolean | null

/**
 * A field that a condition can use. `read` returns its value for a listed token at a tick, the same
 * that `GET /me/watchlists/trending` serves.
 */
export type StrategyField =
  | {
      readonly kind: 'number'
      /** Bounds of the figure. A threshold beyond them is a mistake. */
      readonly min: number
      readonly max: number
      read(token: WatchedToken, at: number): number | null
    }
  | {
      readonly kind: 'text'
      /** All possible texts; null if any text is. */
      readonly values: readonly string[] | null
      read(token: WatchedToken): string
    }
  | { readonly kind: 'flag'; read(token: WatchedToken): boolean }

/**
 * Fields of a watchlist item by their names in the contract (2.7), those of `momentum` by path.
 * Ages in seconds, volumes in SOL, market caps in USD, `pct_held` 0 to 1.
 */
export const STRATEGY_FIELDS: ReadonlyMap<string, StrategyField> = new Map<string, StrategyField>([
  ['mint', text((token) => token.mint)],
  ['symbol', text((token) => token.symbol)],
  ['name', text((token) => token.name)],
  ['age_seconds', number((token, at) => at - token.firstTradeAt)],
  ['discovered_seconds', number((token, at) => at - token.discoveredAt)],
  ['wallets_holding', number((token) => token.walletsHolding)],
  ['conviction', number((token) => token.conviction, 0, 100)],
  ['sol_held', number((token) => solOf(token.heldLamports))],
  ['pct_held', number((token) => token.pctHeld, 0, 1)],
  ['avg_entry_mcap', number((token) => token.avgEntryMcap)],
  ['current_mcap', number((token) => token.currentMcap)],
  ['multiple', number((token) => token.multiple)],
  ['band_min', number((token) => token.bandMin)],
  ['band_max', number((token) => token.bandMax)],
  ['buy_volume', number((token) => solOf(token.buyLamports))],
  ['sell_volume', number((token) => solOf(token.sellLamports))],
  [
    'oldest_hold_seconds',
    number(({ oldestHoldAt }, at) => (oldestHoldAt === null ? null : at - oldestHoldAt)),
  ],
  ['watchlist_seconds', number((token, at) => at - token.enteredAt)],
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
  read: (token: WatchedToken, at: number) => number | null,
  min = 0,
  max = Number.POSITIVE_INFINITY,
): StrategyField {
  return { kind: 'number', min, max, read }
}

function text(
  read: (token: WatchedToken) => string,
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

/**
 * SOL of an amount in lamports. Dividing two integers below 2^53 as doubles rounds once, like
 * `nearestNumber`, and is faster.
 */
function solOf(lamports: bigint): number {
  const exact = Number(lamports)
  return Number.isSafeInteger(exact) ? exact / 1e9 : nearestNumber(lamports, LAMPORTS_PER_SOL)
}
