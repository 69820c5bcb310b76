import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import { divideFractions, nearestTo, parseFraction } from '../../pipeline/domain/fraction.ts'
import type { StoredSignal } from '../../pipeline/store/tables/signals.ts'
import { componentSchema } from './component-schema.ts'
import { alias, count, mint, sol, time } from './fields.ts'

const compared = z.union([z.number(), z.string(), z.boolean()])
const mcap = z.number().min(0).nullable()

/** A filter strategy that matched a token on the watchlist (rule G5). */
export const SignalItem = componentSchema('Signal', 'A filter strategy that matched a token.', {
  id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe('Id of the signal, the same on every channel'),
  strategy: z.string().describe('Name of the strategy'),
  mint,
  symbol: z.string().describe('Symbol from the metadata of the token; `""` until known'),
  name: z.string(),
  fired_at: time.describe('When all conditions of the strategy first held'),
  conviction: z.number().min(0).max(100).describe('At `fired_at`'),
  wallets_holding: count.describe('Tracked wallets that held the token at `fired_at`'),
  wallets: z.array(alias).describe('Aliases of these wallets, by number'),
  trigger_mcap: mcap.describe('Market cap in USD at `fired_at`; null if it was unknown'),
  current_mcap: mcap.describe(
    'Current market cap in USD, or that at which the token left the list; null while unknown',
  ),
  multiple: mcap.describe('`current_mcap` / `trigger_mcap`; null while either is null'),
  sol_held: sol.describe('Cost of the tokens that these wallets held at `fired_at`'),
  buy_volume: sol.describe('SOL of buys in the hour before `fired_at`'),
  sell_volume: sol.describe('SOL of sells in the hour before `fired_at`'),
  reasons: z
    .array(
      z.strictObject({
        field: z.string().meta({
          description: 'Field of the watchlist item; a path for fields of `momentum`',
          examples: ['momentum.holders.change_pct'],
        }),
        op: z.enum(['>=', '>', '<=', '<', '=', '!=']),
        threshold: compared,
        value: compared.describe('Value of the field at `fired_at`'),
      }),
    )
    .meta({ description: 'The conditions of the strategy, all of which held' }),
  withdrawn_trades: z
    .array(z.string())
    .optional()
    .describe(
      '`trade_id`s of trades of the token in the day before `fired_at` that were withdrawn after it, because their block never became final; absent if there are none',
    ),
})
export type SignalItem = z.infer<typeof SignalItem>

/** A stored signal with the newest market cap that is known of its token. */
export interface SignalRow extends StoredSignal {
  readonly current_mcap: number | null
  /** `current_mcap` as a fraction (`parseFraction`); '' if unknown, and in rows of old versions. */
  readonly exact_mcap: string
  /** `trade_id`s of trades behind the signal that were withdrawn; none if absent (rule K9). */
  readonly withdrawnTrades?: readonly string[]
}

/** Renders a signal; fields in the order of rule G5. */
export function signalItem(row: SignalRow): SignalItem {
  const { trigger_mcap, current_mcap, withdrawnTrades = [] } = row
  return {
    id: row.id,
    strategy: row.strategy,
    mint: row.mint,
    symbol: row.symbol,
    name: row.name,
    fired_at: row.fired_at,
    conviction: row.conviction,
    wallets_holding: row.wallets.length,
    wallets: row.wallets.map(aliasOf),
    trigger_mcap,
    current_mcap,
    multiple: multipleOf(row),
    sol_held: solOf(row.held_lamports),
    buy_volume: solOf(row.buy_lamports),
    sell_volume: solOf(row.sell_lamports),
    reasons: row.reasons.map(({ field, op, threshold, value }) => ({
      field,
      op,
      // JSON text from the trending worker.
      threshold: JSON.parse(threshold) as string | number | boolean,
      value: JSON.parse(value) as string | number | boolean,
    })),
    ...(withdrawnTrades.length > 0 && { withdrawn_trades: [...withdrawnTrades] }),
  }
}

/** The multiple of the exact market caps (rule G6), of doubles in rows of old versions. */
function multipleOf(row: SignalRow): number | null {
  const { trigger_mcap, current_mcap } = row
  if (trigger_mcap === null || current_mcap === null || trigger_mcap === 0) return null
  const trigger = parseFraction(row.exact_trigger_mcap)
  const current = parseFraction(row.exact_mcap)
  if (trigger === null || current === null) return current_mcap / trigger_mcap
  return nearestTo(divideFractions(current, trigger))
}

function solOf(lamports: string): number {
  return nearestNumber(BigInt(lamports), LAMPORTS_PER_SOL)
}

export const EXAMPLE_SIGNAL: SignalItem = {
  id: '0b1f4e0d9a7c5e3f2d1c0b9a8f7e6d5c',
  strategy: 'early_accumulation',
  mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
  symbol: 'Bonk',
  name: 'Bonk',
  fired_at: 1790000000,
  conviction: 61.75,
  wallets_holding: 3,
  wallets: ['W3', 'W12', 'W40'],
  trigger_mcap: 412000.5,
  current_mcap: 824001,
  multiple: 2,
  sol_held: 18.4,
  buy_volume: 12.5,
  sell_volume: 3.125,
  reasons: [
    { field: 'wallets_holding', op: '>=', threshold: 3, value: 3 },
    { field: 'state', op: '=', threshold: 'accumulating', value: 'accumulating' },
    { field: 'momentum.holders.change_pct', op: '>=', threshold: 25, value: 50 },
  ],
}
