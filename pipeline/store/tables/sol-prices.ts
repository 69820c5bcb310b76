import type { SolPrice } from '../../domain/slot.ts'
import { batches } from '../../runtime/batches.ts'
import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'
import { readStorageMarker } from './progress.ts'
import { readFinalTime } from './sealed-slots.ts'

/** Prices of a file that are compared and written together. */
const PRICES_PER_INSERT = 20_000
/** Times further apart than this are queried separately, so that no query reads years of prices. */
const CLUSTER_SECONDS = 86_400
/** Bounds a query; never reached. */
const MOST_ROWS = 100_000_000

type PriceRow = { readonly time: number; readonly usd_e9: string }

const priceOf = ({ time, usd_e9 }: PriceRow): SolPrice => ({ time, usdE9: BigInt(usd_e9) })

/**
 * Stores prices. A price replaces the stored one of the same second and source. A price of 0
 * removes it.
 */
export function insertSolPrices(
  store: Store,
  source: 'pool' | 'file',
  prices: readonly SolPrice[],
): Promise<void> {
  const rows = prices.map(({ time, usdE9 }) => ({ time, source, usd_e9: usdE9 }))
  return insertRows(store, 'sol_prices', rows)
}

/**
 * Stores the prices of `SOL_PRICES_FILE` (rule J7) and returns how many were new. `prices` are in
 * order of time, at most one per second. Idempotent: prices that are stored already cost a query
 * and no row, so every process may load the file at every start. A changed price replaces the
 * stored one, but not the price that a swap already has (rule C1).
 */
export async function storeSolPriceFile(store: Store, prices: readonly SolPrice[]) {
  let stored = 0
  for (const some of batches(prices, PRICES_PER_INSERT)) {
    const rows = await store.query<PriceRow>(
      `SELECT time, usd_e9 FROM sol_prices FINAL WHERE source = 'file' AND time BETWEEN {from:UInt32} AND {to:UInt32}
       ORDER BY time LIMIT ${MOST_ROWS}`,
      { from: some[0]?.time ?? 0, to: some.at(-1)?.time ?? 0 },
    )
    const known = new Map(rows.map((row) => [row.time, row.usd_e9]))
    const fresh = some.filter(({ time, usdE9 }) => known.get(time) !== usdE9.toString())
    await insertSolPrices(store, 'file', fresh)
    stored += fresh.length
  }
  return stored
}

/**
 * Returns the newest stored SOL/USD prices of the pool, at most `limit`, oldest first (rule J7).
 */
export async function readPoolPrices(store: Store, limit: number): Promise<SolPrice[]> {
  // FINAL reads everything from a bound on. Without FINAL the end of the table gives the bound:
  // from it on are `newest` rows, of which some may be removed prices or versions of one price.
  for (let newest = limit + SPARE; ; newest *= 2) {
    const [bound] = await store.query<{ time: number }>(
      "SELECT time FROM sol_prices WHERE source = 'pool' ORDER BY time DESC LIMIT 1 OFFSET {newest:UInt32}",
      { newest },
    )
    const from = bound?.time ?? 0
    const rows = await store.query<PriceRow>(
      `SELECT time, usd_e9 FROM sol_prices FINAL WHERE source = 'pool' AND usd_e9 > 0 AND time >= {from:UInt32}
       ORDER BY time DESC LIMIT {limit:UInt32}`,
      { from, limit },
    )
    if (rows.length === limit || from === 0) return rows.map(priceOf).reverse()
  }
}

/** The newest prices of the pool that are stored, oldest first. */
export interface StoredPrices {
  readonly prices: readonly SolPrice[]
  /** Unix seconds up to which none is missing; 0: nothing is stored. */
  readonly until: number
}

/** Reads the newest prices of the pool, at most `limit`, and up to when they are stored. */
export async function readStoredPrices(store: Store, limit: number): Promise<StoredPrices> {
  const marker = await readStorageMarker(store) // a price is stored before the marker of its slot
  return { prices: await readPoolPrices(store, limit), until: marker?.blockTime ?? 0 }
}

/** Rows read beyond those that are wanted, to make up for rows that do not count. */
const SPARE = 100

/** Returns the time of the newest stored price of the pool; 0 if there is none. */
export async function newestPoolPriceTime(store: Store): Promise<number> {
  const [newest] = await readPoolPrices(store, 1)
  return newest?.time ?? 0
}

/** Returns the time of the first price after a second, whatever its source; null for none. */
export async function nextPriceTime(store: Store, after: number): Promise<number | null> {
  const [next] = await store.query<{ time: number }>(
    'SELECT time FROM sol_prices FINAL WHERE time > {after:UInt32} AND usd_e9 > 0 ORDER BY time LIMIT 1',
    { after },
  )
  return next?.time ?? null
}

/**
 * Returns the newest SOL price of each interval of `seconds`, after `after` and up to `through`, by
 * time. An interval ends at a multiple of `seconds`.
 */
export async function readPricesByInterval(
  store: Store,
  seconds: number,
  after: number,
  through: number,
): Promise<SolPrice[]> {
  const rows = await store.query<{ newest: number; price: string }>(
    `SELECT max(time) AS newest, argMax(usd_e9, (time, source)) AS price FROM sol_prices FINAL
     WHERE time > {after:UInt32} AND time <= {through:UInt32} AND usd_e9 > 0
     GROUP BY intDiv(time + ${seconds - 1}, ${seconds}) ORDER BY newest LIMIT ${MOST_ROWS}`,
    { after: Math.max(0, after), through },
  )
  return rows.map(({ newest, price }) => priceOf({ time: newest, usd_e9: price }))
}

/**
 * Returns the SOL/USD price at each of these unix seconds, USD x 10^9: the newest price stored at
 * or before it, at most `maxAgeSeconds` older (rule C1). At the same second the file's price goes
 * before the pool's. Times without a price have no entry.
 */
export async function readSolPrices(
  store: Pick<Store, 'query'>,
  times: Iterable<number>,
  maxAgeSeconds: number,
): Promise<ReadonlyMap<number, bigint>> {
  const prices = new Map<number, bigint>()
  for (const cluster of clusters([...new Set(times)].sort((a, b) => a - b))) {
    const rows = await store.query<{ at: number; time: number; price: string }>(PRICES_AT, {
      times: cluster,
      from: Math.max(0, (cluster[0] ?? 0) - maxAgeSeconds),
      to: cluster.at(-1) ?? 0,
    })
    for (const { at, time, price } of rows) {
      if (price !== '0' && at - time <= maxAgeSeconds) prices.set(at, BigInt(price))
    }
  }
  return prices
}

/**
 * Returns the SOL/USD price at one time, by the rule of `readSolPrices`, with its own time and its
 * source; null without one.
 */
export async function readSolPriceAt(
  store: Pick<Store, 'query'>,
  at: number,
  maxAgeSeconds: number,
): Promise<(SolPrice & { readonly source: 'pool' | 'file' }) | null> {
  const [row] = await store.query<PriceRow & { readonly source: 'pool' | 'file' }>(
    `SELECT time, usd_e9, source FROM sol_prices FINAL
     WHERE time BETWEEN {from:UInt32} AND {at:UInt32} AND usd_e9 > 0 ORDER BY time DESC, source DESC LIMIT 1`,
    { from: Math.max(0, at - maxAgeSeconds), at },
  )
  return row === undefined ? null : { ...priceOf(row), source: row.source }
}

/**
 * As `readSolPrices`, for swaps that did not arrive over the stream. A time has no price yet until
 * storage holds a later slot that is final: the stream may still deliver a nearer price, and a
 * price may still be withdrawn with its slot (rule K9). `isAhead`: whether there are such times, so
 * that another query later is worthwhile.
 */
export async function readSettledSolPrices(
  store: Store,
  times: Iterable<number>,
  maxAgeSeconds: number,
): Promise<{ readonly prices: ReadonlyMap<number, bigint>; readonly isAhead: boolean }> {
  const until = await settledUntil(store) // before the prices: up to it all are stored
  const wanted = [...new Set(times)]
  const settled = wanted.filter((time) => time < until)
  const prices = await readSolPrices(store, settled, maxAgeSeconds)
  return { prices, isAhead: settled.length < wanted.length }
}

/**
 * Returns the time of the newest slot that was known to be final when the storage marker was
 * sealed. All withdrawals up to it are stored. 0: nothing is known to be final. Without a marker no
 * end: then no price is of the stream.
 */
async function settledUntil(store: Store): Promise<number> {
  const marker = await readStorageMarker(store)
  return marker === null
    ? Number.POSITIVE_INFINITY
    : ((await readFinalTime(store, marker.slot)) ?? 0)
}

const PRICES_AT = `
  SELECT at, time, price
  FROM (SELECT arrayJoin({times:Array(UInt32)}) AS at, 1 AS one) AS asked
  ASOF JOIN (
    SELECT time, 1 AS one, argMax(usd_e9, source) AS price
    FROM sol_prices FINAL WHERE time BETWEEN {from:UInt32} AND {to:UInt32} AND usd_e9 > 0
    GROUP BY time
  ) AS known ON asked.one = known.one AND asked.at >= known.time`

/** Splits sorted times where they are far apart. */
function clusters(times: readonly number[]): number[][] {
  const found: number[][] = []
  for (const time of times) {
    const last = found.at(-1)
    if (last?.[0] !== undefined && time - last[0] < CLUSTER_SECONDS) last.push(time)
    else found.push([time])
  }
  return found
}
