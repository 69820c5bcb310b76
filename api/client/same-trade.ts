import type { TradeItem } from '../items/trade.ts'

/**
 * The fields of a trade that its transaction alone decides. The others may be filled in after the
 * feed has sent the trade (rule L3).
 */
export const LASTING_FIELDS = [
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

/**
 * Whether two items are the same trade, whether `GET /trades` or the feed gave them. Only the feed
 * has a `trade_id`, so this finds a withdrawn trade among those of `GET /trades`. A wallet that
 * trades alike twice within one second has two trades that are the same: a withdrawal removes one.
 */
export function isSameTrade(a: TradeItem, b: TradeItem): boolean {
  return LASTING_FIELDS.every((field) => a[field] === b[field])
}
