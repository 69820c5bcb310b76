import { z } from 'zod'
import { LAMPORTS_PER_SOL, nearestNumber } from '../../pipeline/domain/amount.ts'
import type { WatchlistRow } from '../../pipeline/store/tables/watchlist.ts'
import { count, heldFraction, mint, seconds, sol } from './fields.ts'

const trend = z.enum(['up', 'down', 'flat']).meta({
  description: '`up` above +5%, `down` below -5%, else `flat`',
})
const changePct = z.number().meta({
  description:
    'Change in percent since one hour ago; 0 without an hour of history or while unknown; 100 if the value rose from 0',
})
const mcapChangePct = z
  .number()
  .nullable()
  .describe(
    'Change in percent since one hour ago; 0 without an hour of history; 100 if the value rose from 0; null while the market cap of now or of one hour ago is unknown',
  )
const momentum = <Change extends z.ZodType<number | null>>(
  value: z.ZodType<number | null>,
  description: string,
  change_pct: Change,
) => z.strictObject({ value: value.describe(description), change_pct, trend }).meta({ description })
const mcap = z.number().min(0).nullable()

/** A token of the trending watchlist (contract 2.7, rules G1 to G4). */
export const WatchlistItem = z
  .strictObject({
    mint,
    symbol: z.string().describe('Symbol from the metadata of the token; `""` until known'),
    name: z.string(),
    age_seconds: seconds.describe('Seconds since the first trade of a tracked wallet'),
    discovered_seconds: seconds.describe('Seconds since a second tracked wallet bought'),
    wallets_holding: count.describe('Tracked wallets that hold the token, counting swaps only'),
    oldest_hold_seconds: seconds.describe(
      'Age of the oldest open position, from its first trade; 0 if no wallet holds',
    ),
    watchlist_seconds: seconds.describe('Seconds since the token entered the list'),
    conviction: z.number().min(0).max(100).meta({
      description:
        '40 x min(1, `wallets_holding` / 10) + 30 x `pct_held` + 30 x the share of buys in the volume of the last hour',
    }),
    sol_held: sol.describe('Cost of the open lots of all holders'),
    pct_held: heldFraction.describe('Held / bought, over all holders'),
    avg_entry_mcap: mcap.describe(
      "Mean of the holders' market caps at their first buy, in USD, weighted by SOL spent; null while unknown",
    ),
    current_mcap: mcap.describe('Market cap in USD; null while unknown'),
    multiple: mcap.describe('`current_mcap` / `avg_entry_mcap`'),
    band_min: mcap.describe('Lowest entry market cap among holders'),
    band_max: mcap.describe('Highest entry market cap among holders'),
    buy_volume: sol.describe('SOL of buys in the last hour'),
    sell_volume: sol.describe('SOL of sells in the last hour'),
    momentum: z
      .strictObject({
        mcap: momentum(mcap, 'Market cap in USD', mcapChangePct),
        holders: momentum(count, 'Tracked wallets that hold the token', changePct),
        volume1h: momentum(sol, 'SOL traded in the last hour', changePct),
        liquidity: momentum(
          sol.nullable(),
          'Twice the SOL in the pool of the last swap; null while unknown',
          changePct,
        ),
      })
      .meta({ description: 'Figures with their change since one hour ago' }),
    state: z.enum(['discovered', 'accumulating', 'distributing', 'holding']).meta({
      description:
        '`discovered` in the first 10 minutes on the list. Then by the volume of the last hour: `accumulating` if buys exceed 1.2 x sells, `distributing` if sells exceed 1.2 x buys, else `holding`',
    }),
    near_evict: z.boolean().meta({
      description:
        'Only one wallet holds the token, or its last tracked trade was 9/10 of 24 hours ago or more',
    }),
  })
  .meta({ id: 'WatchlistItem', description: 'A token of the trending watchlist.' })
export type WatchlistItem = z.infer<typeof WatchlistItem>

/** Renders a token on the watchlist as of tick `now`; fields in the contract's order. */
export function watchlistItem(row: WatchlistRow, now: number): WatchlistItem {
  const age = (time: number | null) => (time === null ? 0 : Math.max(0, now - time))
  return {
    mint: row.mint,
    symbol: row.symbol,
    name: row.name,
    age_seconds: age(row.first_trade_at),
    discovered_seconds: age(row.discovered_at),
    wallets_holding: row.wallets.length,
    oldest_hold_seconds: age(row.oldest_hold_at),
    watchlist_seconds: age(row.entry),
    conviction: row.conviction,
    sol_held: nearestNumber(BigInt(row.held_lamports), LAMPORTS_PER_SOL),
    pct_held: row.pct_held,
    avg_entry_mcap: row.avg_entry_mcap,
    current_mcap: row.current_mcap,
    multiple: row.multiple,
    band_min: row.band_min,
    band_max: row.band_max,
    buy_volume: nearestNumber(BigInt(row.buy_lamports), LAMPORTS_PER_SOL),
    sell_volume: nearestNumber(BigInt(row.sell_lamports), LAMPORTS_PER_SOL),
    momentum: {
      mcap: {
        value: row.current_mcap,
        change_pct: row.mcap_change_pct,
        trend: row.mcap_trend,
      },
      holders: {
        value: row.wallets.length,
        change_pct: row.holders_change_pct,
        trend: row.holders_trend,
      },
      volume1h: {
        value: row.volume1h,
        change_pct: row.volume1h_change_pct,
        trend: row.volume1h_trend,
      },
      liquidity: {
        value: row.liquidity,
        change_pct: row.liquidity_change_pct,
        trend: row.liquidity_trend,
      },
    },
    state: row.state,
    near_evict: row.near_evict,
  }
}

export const EXAMPLE_WATCHLIST_ITEM: WatchlistItem = {
  mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
  symbol: 'Bonk',
  name: 'Bonk',
  age_seconds: 5400,
  discovered_seconds: 4810,
  wallets_holding: 4,
  oldest_hold_seconds: 5400,
  watchlist_seconds: 4800,
  conviction: 61.75,
  sol_held: 18.4,
  pct_held: 0.85,
  avg_entry_mcap: 412000.5,
  current_mcap: 824001,
  multiple: 2,
  band_min: 198000,
  band_max: 640300.25,
  buy_volume: 12.5,
  sell_volume: 3.125,
  momentum: {
    mcap: { value: 824001, change_pct: 24.5, trend: 'up' },
    holders: { value: 4, change_pct: 100, trend: 'up' },
    volume1h: { value: 15.625, change_pct: -12.5, trend: 'down' },
    liquidity: { value: 310.75, change_pct: 1.5, trend: 'flat' },
  },
  state: 'accumulating',
  near_evict: false,
}
