import type { Store } from '../store/store.ts'
import { readPoolStates } from '../store/tables/pool-states.ts'
import type { TrendingEvent } from '../trending/trending-event.ts'
import type { WatchlistInputs } from './slow-watchlist.ts'

/** Reads all stored rows that the watchlist depends on, without perturbation by `PRIVACY_SALT`. */
export async function readWatchlistInputs(
  store: Store,
  solPriceMaxAgeSeconds: number,
): Promise<WatchlistInputs> {
  const events = await store.query<
    Record<'slot' | 'amount', string> &
      Record<'value' | 'price' | 'supply', string | null> &
      Record<'tx_index' | 'wallet' | 'event_index' | 'block_time' | 'decimals', number> &
      Record<'kind' | 'mint' | 'pool', string>
  >(
    `SELECT * FROM (SELECT slot, tx_index, wallet, event_index, block_time, toString(side) AS kind, base_mint AS mint, base_decimals AS decimals,
       base_amount AS amount, value_lamports AS value, sol_price_usd_e9 AS price, pool FROM swaps FINAL
     UNION ALL
     SELECT slot, tx_index, wallet, event_index, block_time, if(direction = 'in', 'token_in', 'token_out'), mint, decimals, amount, NULL, NULL, '' FROM transfers FINAL)
     ORDER BY slot, tx_index, wallet, event_index`,
  )
  const facts = await store.query<{
    mint: string
    supply: string | null
    symbol: string
    name: string
  }>('SELECT mint, supply, symbol, name FROM mints FINAL')
  const prices = await store.query<{ time: number; usd_e9: string }>(
    'SELECT time, argMax(p.usd_e9, source) AS usd_e9 FROM sol_prices AS p FINAL WHERE p.usd_e9 > 0 GROUP BY time ORDER BY time',
  )
  return {
    events: events.map((row) => ({
      slot: Number(row.slot),
      txIndex: row.tx_index,
      wallet: row.wallet,
      eventIndex: row.event_index,
      blockTime: row.block_time,
      kind: row.kind as TrendingEvent['kind'], // the query returns no other kind
      mint: row.mint,
      decimals: row.decimals,
      amount: BigInt(row.amount),
      value: row.value === null ? null : BigInt(row.value),
      solPriceUsdE9: row.price === null ? null : BigInt(row.price),
      pool: row.pool,
    })),
    facts: new Map(
      facts.map(({ mint, supply, symbol, name }) => [
        mint,
        { supply: supply === null ? null : BigInt(supply), symbol, name },
      ]),
    ),
    solPrices: prices.map(({ time, usd_e9 }) => ({ time, usdE9: BigInt(usd_e9) })),
    pools: await readPoolStates(store, null, 0, 2 ** 32 - 1),
    perturb: null,
    solPriceMaxAgeSeconds,
  }
}
