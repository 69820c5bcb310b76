import type { Swap } from '../../domain/event.ts'
import type { EventKey } from '../../domain/event-key.ts'
import { WSOL } from '../../domain/quote.ts'
import { swapValueLamports } from '../../domain/swap-value.ts'
import { batches } from '../../runtime/batches.ts'
import type { Store } from '../store.ts'
import { EVENT_KEY, type EventKeyRow, keyOf, keyTuple } from './event-rows.ts'

/** A stored swap against a quote coin that has no SOL price. */
export type UnpricedSwap = Pick<
  Swap,
  'slot' | 'txIndex' | 'wallet' | 'eventIndex' | 'blockTime' | 'quoteAmount' | 'quoteMismatch'
> & { readonly quoteMint: NonNullable<Swap['quoteMint']> }

/** A swap with the price at its time: USD x 10^9 for one SOL. */
export type PricedSwap = UnpricedSwap & { readonly solPriceUsdE9: bigint }

const SWAPS_PER_PAGE = 5000
const SWAPS_PER_WRITE = 1000

/** Whether a swap has no price and should have one. Index `unpriced` finds such swaps. */
const UNPRICED = '(sol_price_usd_e9 IS NULL AND quote_mint IS NOT NULL) > 0'

/**
 * Returns the wallets that may have swaps to price, ascending: a swap has no price, and there are
 * prices at about its time. Some have none after all, because the query compares coarse time
 * intervals and sees old row versions that are not merged yet.
 */
export async function findWalletsToPrice(store: Store, maxAgeSeconds: number): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    `SELECT DISTINCT wallet FROM swaps
     WHERE ${UNPRICED} AND intDiv(block_time, {age:UInt32}) IN (
       SELECT arrayJoin([stretch, stretch + 1]) FROM (
         SELECT DISTINCT intDiv(time, {age:UInt32}) AS stretch FROM sol_prices WHERE intDiv(time, {age:UInt32}) IN (
           SELECT arrayJoin([stretch, stretch - 1]) FROM (SELECT DISTINCT intDiv(block_time, {age:UInt32}) AS stretch FROM swaps WHERE ${UNPRICED})
         )
       )
     )
     ORDER BY wallet LIMIT 10000000`,
    { age: maxAgeSeconds },
  )
  return rows.map((row) => row.wallet)
}

interface UnpricedRow extends EventKeyRow {
  readonly block_time: number
  readonly quote_mint: UnpricedSwap['quoteMint']
  readonly quote_amount: string
  readonly quote_mismatch: boolean
}

/**
 * Yields these wallets' swaps that have a quote coin and no price: in pages, by wallet, in
 * event-key order.
 */
export async function* readUnpriced(
  store: Store,
  wallets: readonly number[],
): AsyncGenerator<readonly UnpricedSwap[]> {
  const key = 'wallet, slot, tx_index, event_index'
  let after = '(0, 0, 0, 0)'
  for (;;) {
    const rows = await store.query<UnpricedRow>(
      `SELECT ${key}, block_time, quote_mint, quote_amount, quote_mismatch FROM (
         SELECT ${key}, block_time, quote_mint, quote_amount, quote_mismatch, sol_price_usd_e9, is_deleted
         FROM swaps WHERE wallet IN (${wallets.join(', ')}) AND (${key}) > ${after}
         ORDER BY ${key}, version DESC LIMIT 1 BY ${key}
       ) WHERE sol_price_usd_e9 IS NULL AND quote_mint IS NOT NULL AND is_deleted = 0
       ORDER BY ${key} LIMIT ${SWAPS_PER_PAGE}`,
    )
    if (rows.length > 0) yield rows.map(swapOf)
    const last = rows.at(-1)
    if (last === undefined || rows.length < SWAPS_PER_PAGE) return
    after = `(${last.wallet}, ${last.slot}, ${last.tx_index}, ${last.event_index})`
  }
}

function swapOf(row: UnpricedRow): UnpricedSwap {
  return {
    ...keyOf(row),
    blockTime: row.block_time,
    quoteMint: row.quote_mint,
    quoteAmount: BigInt(row.quote_amount),
    quoteMismatch: row.quote_mismatch,
  }
}

/** Returns the swaps of some slots that were valued at a price, in the seconds in which it held. */
export async function readSwapsPricedBy(
  store: Store,
  price: {
    readonly from: number
    readonly to: number
    /** Unix seconds of the price and of the next one; null: there is none. */
    readonly time: number
    readonly until: number | null
    readonly usdE9: bigint
  },
): Promise<readonly EventKey[]> {
  const { from, to, time, until, usdE9 } = price
  const rows = await store.query<EventKeyRow>(
    `SELECT ${EVENT_KEY} FROM (
       SELECT ${EVENT_KEY}, block_time, sol_price_usd_e9, is_deleted FROM swaps
       WHERE slot BETWEEN {from:UInt64} AND {to:UInt64}
       ORDER BY ${EVENT_KEY}, version DESC LIMIT 1 BY ${EVENT_KEY}
     ) WHERE sol_price_usd_e9 = {usdE9:UInt64} AND is_deleted = 0
       AND block_time >= {time:UInt32} AND block_time < {until:UInt64}
     LIMIT 1000000`,
    { from, to, time, until: until ?? 2 ** 32, usdE9 },
  )
  return rows.map(keyOf)
}

/**
 * Removes the prices of swaps, and the values that followed, by a new version of each row, so that
 * prices can be filled in again.
 */
export async function clearPrices(store: Store, swaps: readonly EventKey[]): Promise<void> {
  for (const some of batches(swaps, SWAPS_PER_WRITE)) {
    const keys = some.map(keyTuple).join(', ')
    await store.command(
      `INSERT INTO swaps
       SELECT * REPLACE (
         NULL AS sol_price_usd_e9,
         if(quote_mint = '${WSOL}', value_lamports, NULL) AS value_lamports,
         version + 1 AS version, now64(3) AS inserted_at)
       FROM (
         SELECT * FROM (SELECT * FROM swaps WHERE (${EVENT_KEY}) IN (${keys}) ORDER BY ${EVENT_KEY}, version DESC LIMIT 1 BY ${EVENT_KEY})
         WHERE sol_price_usd_e9 IS NOT NULL AND is_deleted = 0
       )`,
    )
  }
}

/**
 * Stores prices of swaps, and the values that follow, in a new version of each row. All other
 * columns are copied, whichever they are. A swap that meanwhile has a price, or is deleted, stays
 * as it is (rule C1), so writing twice changes nothing.
 */
export async function writePrices(store: Store, swaps: readonly PricedSwap[]): Promise<void> {
  for (const some of batches(swaps, SWAPS_PER_WRITE)) {
    const keys = some.map(keyTuple)
    const prices = some.map((s) => `toUInt64(${s.solPriceUsdE9})`)
    const values = some.map((s) => {
      const value = swapValueLamports(s)
      return value === null ? 'NULL' : `toUInt128('${value}')`
    })
    await store.command(
      `INSERT INTO swaps
       SELECT * REPLACE (
         [${prices.join(', ')}][indexOf([${keys.join(', ')}], (${EVENT_KEY}))] AS sol_price_usd_e9,
         [${values.join(', ')}][indexOf([${keys.join(', ')}], (${EVENT_KEY}))] AS value_lamports,
         version + 1 AS version, now64(3) AS inserted_at)
       FROM (
         SELECT * FROM (SELECT * FROM swaps WHERE (${EVENT_KEY}) IN (${keys.join(', ')}) ORDER BY ${EVENT_KEY}, version DESC LIMIT 1 BY ${EVENT_KEY})
         WHERE sol_price_usd_e9 IS NULL AND is_deleted = 0
       )`,
    )
  }
}
