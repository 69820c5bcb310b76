import { readStorageMarker } from './read-storage-marker.ts'
import type { Store } from './store.ts'

/** Times further apart than this are asked for one by one, so that no query reads years of prices. */
const CLUSTER_SECONDS = 86_400

/**
 * The SOL/USD price at each of these unix seconds, USD x 10^9: the newest stored at or before it
 * and at most `maxAgeSeconds` older (rule C1); of one second the file's price goes before the
 * pool's. Times without a price are not in the answer.
 */
export async function readSolPrices(
  store: Pick<Store, 'query'>,
  times: Iterable<number>,
  maxAgeSeconds: number,
): Promise<ReadonlyMap<number, bigint>> {
  const prices = new Map<number, bigint>()
  for (const cluster of clusters([...new Set(times)].sort((a, b) => a - b))) {
    const rows = await store.query<{ at: number; time: number; price: string }>(QUERY, {
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
 * As `readSolPrices`, for swaps that did not come over the stream: at a time that storage has not reached, the price is not known yet, as the stream may still
 * bring one that is nearer. `isAhead`: whether some of the times are such, and worth another question later.
 */
export async function readSettledSolPrices(
  store: Store,
  times: Iterable<number>,
  maxAgeSeconds: number,
): Promise<{ readonly prices: ReadonlyMap<number, bigint>; readonly isAhead: boolean }> {
  const marker = await readStorageMarker(store) // before the prices: what it has reached is stored
  const asked = [...new Set(times)]
  const reached = asked.filter((time) => marker === null || time <= marker.blockTime)
  const prices = await readSolPrices(store, reached, maxAgeSeconds)
  return { prices, isAhead: reached.length < asked.length }
}

const QUERY = `
  SELECT at, time, price
  FROM (SELECT arrayJoin({times:Array(UInt32)}) AS at, 1 AS one) AS asked
  ASOF JOIN (
    SELECT time, 1 AS one, argMax(usd_e9, source) AS price
    FROM sol_prices FINAL WHERE time BETWEEN {from:UInt32} AND {to:UInt32}
    GROUP BY time
  ) AS known ON asked.one = known.one AND asked.at >= known.time`

/** Cuts sorted times where they are far apart. */
function clusters(times: readonly number[]): number[][] {
  const found: number[][] = []
  for (const time of times) {
    const last = found.at(-1)
    if (last?.[0] !== undefined && time - last[0] < CLUSTER_SECONDS) last.push(time)
    else found.push([time])
  }
  return found
}
