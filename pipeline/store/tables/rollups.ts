import type { Store } from '../store.ts'

// Tables `wallet_token_hours`, `token_hours` and `wallet_days` (rule I4). Only the rows that differ
// from the stored ones are written, and tombstones over those that are gone, so a repeated call
// writes nothing.

export const HOUR = 3600
export const DAY = 86_400

/** A stretch of time in unix seconds: from `from`, up to and without `to`. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** A stretch with rows that changed. */
export interface ChangedStretch extends Stretch {
  /** Versions of rows that were written in it. */
  readonly rows: number
}

/** A mint of which hours changed: its hours from the earliest that changed to the last. */
export interface ChangedMint extends Stretch {
  readonly mint: string
  /** Rows of all its hours in `wallet_token_hours`, with those before. */
  readonly rows: number
}

/** The mints after `after`, up to and with `last`, of which hours changed. */
export interface MintRange {
  readonly after: string
  readonly last: string
}

/** The highest version above `version` of all rows of rollups; 0 without one. */
export async function readNewestRollupVersion(store: Store, version: number): Promise<number> {
  const tables = ['wallet_token_hours', 'token_hours', 'wallet_days'].map(
    (table) => `SELECT max(version) AS newest FROM ${table} WHERE version > {version:UInt64}`,
  )
  const [row] = await store.query<{ newest: string }>(
    `SELECT max(newest) AS newest FROM (${tables.join(' UNION ALL ')})`,
    { version },
    ['newest'],
  )
  return Number(row?.newest)
}

/**
 * Returns the hours of swaps of which a version was written at or after `sinceMs` (unix
 * milliseconds), in order. Bounded by the age of the history: some 10,000 a year.
 */
export function readChangedHours(store: Store, sinceMs: number): Promise<ChangedStretch[]> {
  return readChanged(
    store,
    HOUR,
    'SELECT block_time FROM swaps WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64})',
    sinceMs,
  )
}

/**
 * Returns the days of swaps and of matches of sells that were written at or after `sinceMs`, in
 * order. The tombstones of an earlier version of the service have no time of writing.
 */
export function readChangedDays(store: Store, sinceMs: number): Promise<ChangedStretch[]> {
  return readChanged(
    store,
    DAY,
    `SELECT block_time FROM swaps WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64})
     UNION ALL
     SELECT block_time FROM disposals
     WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}) AND block_time > 0`,
    sinceMs,
  )
}

async function readChanged(
  store: Store,
  seconds: number,
  times: string,
  sinceMs: number,
): Promise<ChangedStretch[]> {
  const rows = await store.query<{ start: number; rows: string }>(
    `SELECT intDiv(block_time, {seconds:UInt32}) * {seconds:UInt32} AS start, count() AS rows
     FROM (${times}) GROUP BY start ORDER BY start`,
    { seconds, since: sinceMs },
    ['start', 'rows'],
  )
  return rows.map(({ start, rows: count }) => {
    const from = Number(start)
    return { from, to: from + seconds, rows: Number(count) }
  })
}

const HOUR_COLUMNS = [
  ...['buys', 'sells', 'volume_lamports', 'change', 'priced', 'prices'],
  ...['open_place', 'close_place'],
]

const PLACE = 'tuple(slot, tx_index, event_index)'
const HAS_PRICE = 'value_lamports IS NOT NULL'

/** What the swaps of a stretch are by wallet, token and hour. */
const FRESH_HOURS = `
  WITH assumeNotNull(value_lamports) / 1e9 / (base_amount / exp10(base_decimals)) AS price
  SELECT base_mint AS mint, wallet, toUInt32(intDiv(block_time, 3600) * 3600) AS hour,
    countIf(side = 'buy') AS buys, countIf(side = 'sell') AS sells,
    sum(ifNull(value_lamports, 0)) AS volume_lamports,
    sum(if(side = 'buy', toInt256(base_amount), -toInt256(base_amount))) AS change,
    countIf(${HAS_PRICE}) AS priced,
    if(priced = 0, CAST([], 'Array(Float64)'), [
      argMinIf(price, ${PLACE}, ${HAS_PRICE}), maxIf(price, ${HAS_PRICE}),
      minIf(price, ${HAS_PRICE}), argMaxIf(price, ${PLACE}, ${HAS_PRICE})
    ]) AS prices,
    minIf(${PLACE}, ${HAS_PRICE}) AS open_place, maxIf(${PLACE}, ${HAS_PRICE}) AS close_place
  FROM swaps FINAL
  WHERE block_time >= {from:UInt32} AND block_time < {to:UInt32}
  GROUP BY mint, wallet, hour`

/** Without FINAL, so that projection `by_hour` is read. */
const STORED_HOURS = `
  SELECT mint, wallet, hour, ${HOUR_COLUMNS.join(', ')} FROM (
    SELECT mint, wallet, hour, ${HOUR_COLUMNS.join(', ')}, is_deleted FROM wallet_token_hours
    WHERE hour >= {from:UInt32} AND hour < {to:UInt32}
    ORDER BY mint, wallet, hour, version DESC LIMIT 1 BY mint, wallet, hour
  ) WHERE is_deleted = 0`

/** Computes `wallet_token_hours` again for a stretch of whole hours. */
export async function rollUpHours(store: Store, version: number, stretch: Stretch): Promise<void> {
  const keys = ['mint', 'wallet', 'hour']
  const { from, to } = stretch
  await store.command(
    writeDifferences('wallet_token_hours', keys, HOUR_COLUMNS, FRESH_HOURS, STORED_HOURS),
    { version, from, to },
  )
}

/**
 * Returns the next at most `limit` mints after `after`, in order, of which rows of
 * `wallet_token_hours` have a version at or above `sinceVersion`.
 */
export async function readChangedMints(
  store: Store,
  sinceVersion: number,
  after: string,
  limit: number,
): Promise<ChangedMint[]> {
  const rows = await store.query<{ mint: string; from: number; last: number; rows: string }>(
    `SELECT mint, minIf(hour, version >= {since:UInt64}) AS from, max(hour) AS last, count() AS rows
     FROM wallet_token_hours
     WHERE mint > {after:String} AND mint IN (
       SELECT mint FROM wallet_token_hours WHERE version >= {since:UInt64} AND mint > {after:String}
       GROUP BY mint ORDER BY mint LIMIT {limit:UInt32}
     )
     GROUP BY mint ORDER BY mint
     SETTINGS optimize_aggregation_in_order = 1`,
    { since: sinceVersion, after, limit },
    ['mint', 'from', 'last', 'rows'],
  )
  return rows.map(({ mint, from, last, rows: count }) => {
    return { mint, from, to: last + HOUR, rows: Number(count) }
  })
}

const TOKEN_COLUMNS = [
  ...['open_price', 'high_price', 'low_price', 'close_price', 'buys', 'sells', 'traders'],
  ...['volume_lamports', 'holders'],
]

const MINTS = `mint IN (
    SELECT mint FROM wallet_token_hours
    WHERE version >= {since:UInt64} AND mint > {after:String} AND mint <= {last:String}
  )`

/**
 * Who holds a token depends on all hours before. Those before `from` count as one.
 */
const FRESH_TOKENS = `
  SELECT mint, hour, open_price, high_price, low_price, close_price, buys, sells, traders,
    volume_lamports, holders
  FROM (
    SELECT *, toUInt64(sum(joined) OVER (PARTITION BY mint ORDER BY hour)) AS holders FROM (
      SELECT mint, hour,
        if(sum(w.priced) = 0, NULL, argMinIf(w.prices[1], (w.open_place.1, w.open_place.2, w.wallet, w.open_place.3), w.priced > 0)) AS open_price,
        if(sum(w.priced) = 0, NULL, maxIf(w.prices[2], w.priced > 0)) AS high_price,
        if(sum(w.priced) = 0, NULL, minIf(w.prices[3], w.priced > 0)) AS low_price,
        if(sum(w.priced) = 0, NULL, argMaxIf(w.prices[4], (w.close_place.1, w.close_place.2, w.wallet, w.close_place.3), w.priced > 0)) AS close_price,
        sum(w.buys) AS buys, sum(w.sells) AS sells, count() AS traders,
        sum(w.volume) AS volume_lamports,
        sum(toInt64(w.held > 0) - toInt64(w.held - w.change > 0)) AS joined
      FROM (
        SELECT *, sum(change) OVER (PARTITION BY mint, wallet ORDER BY hour) AS held FROM (
          SELECT x.mint AS mint, x.wallet AS wallet,
            greatest(x.hour, toUInt32({from:UInt32} - 1)) AS hour,
            sum(x.change) AS change, sum(x.buys) AS buys, sum(x.sells) AS sells,
            sum(x.volume_lamports) AS volume, sum(x.priced) AS priced,
            any(x.prices) AS prices, any(x.open_place) AS open_place,
            any(x.close_place) AS close_place
          FROM wallet_token_hours AS x FINAL
          WHERE ${MINTS} AND x.hour < {to:UInt32}
          GROUP BY mint, wallet, hour
        )
      ) AS w
      GROUP BY mint, hour
    )
  )
  WHERE hour >= {from:UInt32}`

const STORED_TOKENS = `
  SELECT mint, hour, ${TOKEN_COLUMNS.join(', ')} FROM token_hours FINAL
  WHERE ${MINTS} AND hour >= {from:UInt32} AND hour < {to:UInt32}`

/** Computes `token_hours` again for some mints in a stretch of whole hours. */
export async function rollUpTokens(
  store: Store,
  version: number,
  sinceVersion: number,
  mints: MintRange,
  stretch: Stretch,
): Promise<void> {
  await store.command(
    writeDifferences('token_hours', ['mint', 'hour'], TOKEN_COLUMNS, FRESH_TOKENS, STORED_TOKENS),
    { version, since: sinceVersion, ...mints, ...stretch },
  )
}

const DAY_COLUMNS = [
  ...['buys', 'sells', 'unvalued', 'volume_lamports', 'realized_lamports', 'wins', 'losses'],
]

const IN_DAY = 'block_time >= {from:UInt32} AND block_time < {to:UInt32}'
const DISPOSAL_KEY =
  'wallet, mint, slot, tx_index, event_index, lot_slot, lot_tx_index, lot_event_index'

/**
 * Matches are found by slot, because a tombstone may lack the time, and without FINAL, so that
 * projection `by_slot` is read. Each sell is a swap, so its slot is among those of the swaps.
 */
const FRESH_DAYS = `
  SELECT toDate(toDateTime({from:UInt32}, 'UTC')) AS day, x.wallet AS wallet, sum(x.buys) AS buys,
    sum(x.sells) AS sells, sum(x.unvalued) AS unvalued, sum(x.volume) AS volume_lamports,
    sum(x.realized) AS realized_lamports, sum(x.wins) AS wins, sum(x.losses) AS losses
  FROM (
    SELECT wallet, countIf(side = 'buy') AS buys, countIf(side = 'sell') AS sells,
      countIf(value_lamports IS NULL) AS unvalued, sum(ifNull(value_lamports, 0)) AS volume,
      toInt128(0) AS realized, toUInt64(0) AS wins, toUInt64(0) AS losses
    FROM swaps FINAL
    WHERE ${IN_DAY}
    GROUP BY wallet
    UNION ALL
    SELECT wallet, 0, 0, 0, 0, sum(profit), countIf(profit > 0), countIf(profit < 0) FROM (
      SELECT wallet, sum(assumeNotNull(profit_lamports)) AS profit FROM (
        SELECT ${DISPOSAL_KEY}, kind, block_time, profit_lamports, is_deleted FROM disposals
        WHERE slot >= (SELECT min(slot) FROM swaps WHERE ${IN_DAY})
          AND slot <= (SELECT max(slot) FROM swaps WHERE ${IN_DAY})
        ORDER BY ${DISPOSAL_KEY}, version DESC LIMIT 1 BY ${DISPOSAL_KEY}
      )
      WHERE is_deleted = 0 AND kind = 'sell' AND ${IN_DAY} AND profit_lamports IS NOT NULL
      GROUP BY wallet, slot, tx_index, event_index
    )
    GROUP BY wallet
  ) AS x
  GROUP BY wallet`

const STORED_DAYS = `
  SELECT day, wallet, ${DAY_COLUMNS.join(', ')} FROM wallet_days FINAL
  WHERE day = toDate(toDateTime({from:UInt32}, 'UTC'))`

/** Computes `wallet_days` again for one day. */
export async function rollUpDay(store: Store, version: number, day: Stretch): Promise<void> {
  await store.command(
    writeDifferences('wallet_days', ['day', 'wallet'], DAY_COLUMNS, FRESH_DAYS, STORED_DAYS),
    { version, from: day.from, to: day.to },
  )
}

/**
 * Returns the statement that makes the rows of `stored` those of `fresh`. Rows of a key that is
 * only stored get a tombstone.
 */
function writeDifferences(
  table: string,
  keys: readonly string[],
  columns: readonly string[],
  fresh: string,
  stored: string,
): string {
  const key = keys.join(', ')
  const values = columns.join(', ')
  return `INSERT INTO ${table} (${key}, ${values}, version, is_deleted)
    SELECT ${key}, ${columns.map((_, n) => `tupleElement(picked, ${n + 1})`).join(', ')},
      {version:UInt64}, is_deleted
    FROM (
      SELECT ${key}, argMax(content, is_fresh) AS picked, max(is_fresh) = 0 AS is_deleted
      FROM (
        SELECT ${key}, tuple(${values}) AS content, 1 AS is_fresh FROM (${fresh})
        UNION ALL
        SELECT ${key}, tuple(${values}) AS content, 0 AS is_fresh FROM (${stored})
      )
      GROUP BY ${key}
      HAVING count() = 1 OR uniqExact(content) > 1
    )`
}
