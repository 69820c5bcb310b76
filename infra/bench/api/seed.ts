import { createHash } from 'node:crypto'
import bs58 from 'bs58'
import { USDC, WSOL } from '../../../pipeline/domain/quote.ts'
import type { Row, Store } from '../../../pipeline/store/store.ts'
import type { StatePublisher } from '../../../pipeline/workers/fold/state-publisher.ts'
import { hash32 } from '../../simulator/random.ts'
import { settled } from '../kit/settled.ts'

/** Number of wallets in a seeded database. */
export const SEEDED_WALLETS = 250
/** Number of mints in a seeded database. */
export const MINTS = 50_000
/** Mints that each wallet trades; ten wallets trade each of them. */
const MINTS_PER_WALLET = (MINTS * 10) / SEEDED_WALLETS
const SWAPS_PER_SLOT = 4
const SLOT_SECONDS = 0.4
/**
 * Swaps are numbered in storage order. The amount of a swap encodes its number, because nothing
 * else in a served trade does.
 */
const MOST_SWAPS = 100_000_000
const LEAST_AMOUNT = 1_000_000
const FIRST_SLOT = 400_000_000

/** The number of the swap from a trade's amount. */
export function numberOf(tokenAmount: string): number {
  return Number((BigInt(tokenAmount) - BigInt(LEAST_AMOUNT)) % BigInt(MOST_SWAPS))
}

/** Slot of the last swap when `swaps` swaps are stored. */
export function lastSlot(swaps: number): number {
  return FIRST_SLOT + Math.floor((swaps - 1) / SWAPS_PER_SLOT)
}

/**
 * Fills an empty database with swaps, evenly over wallets and mints, four per slot, up to the
 * present, and with the positions, metrics and facts that belong to them. ClickHouse generates all
 * rows.
 */
export async function seed(store: Store, swaps: number): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const params = { now, swaps, last: lastSlot(swaps) }
  await store.command(
    `INSERT INTO tracked_wallets (wallet, address, added_at) SELECT number + 1, toString(number), {now:UInt32} FROM numbers(${SEEDED_WALLETS})`,
    params,
  )
  await store.command(
    `INSERT INTO mints (mint, token_program, decimals, supply, symbol, name, metadata, fetched_at, asked, ask_again_at, version, inserted_at)
     SELECT ${mintSql('number')}, 'spl_token', 6, 1000000000000000, concat('T', toString(number)), concat('Token ', toString(number)), 'metaplex', {now:UInt32}, 1, NULL, 1, ${LONG_AGO}
     FROM numbers(${MINTS})`,
    params,
  )
  for (let from = 0; from < swaps; from += SWAPS_PER_INSERT) {
    const count = Math.min(SWAPS_PER_INSERT, swaps - from)
    await store.command(`INSERT INTO swaps (${COLUMNS}) ${swapRows(from, count)}`, params)
  }
  for (let from = 1; from <= SEEDED_WALLETS; from += WALLETS_AT_ONCE) {
    const some = { from, to: from + WALLETS_AT_ONCE - 1 }
    await store.command(POSITIONS, some)
    await store.command(FIRST_BUYS, some)
    await store.command(PROFIT_HOURS, some)
  }
  await store.command(METRICS, params)
  await settled(store)
}

/** No statement may take longer than the store allows. */
const SWAPS_PER_INSERT = 500_000
const WALLETS_AT_ONCE = 25
/**
 * Write time of all rows. The API treats rows of the last 30 s as new, and caches nothing when
 * there are too many new rows.
 */
const LONG_AGO = 'now64(3) - INTERVAL 1 HOUR'

const COLUMNS = `slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount,
  program, program_id, confidence, quote_mismatch, fee_lamports, sol_price_usd_e9, value_lamports, inserted_at`

/** SQL of a valid address for each number: base58 of 32 bytes. */
export function mintSql(number: string): string {
  return `base58Encode(SHA256(concat('mint ', toString(${number}))))`
}

/**
 * Three buys, then a smaller sell, from each wallet in turn; one in five against USDC at 150 USD.
 */
function swapRows(from: number, count: number): string {
  return `
    WITH number AS n, toUInt32(cityHash64(n) % ${SEEDED_WALLETS}) + 1 AS w,
      (w * ${MINTS_PER_WALLET / 10} + cityHash64(n, 1) % ${MINTS_PER_WALLET}) % ${MINTS} AS m,
      n % 5 = 0 AS in_usd, toUInt128(1000000 + cityHash64(n, 2) % 5000000000) AS quote,
      (SELECT groupArray(mint) FROM (SELECT ${mintSql('number')} AS mint FROM numbers(${MINTS}))) AS mints
    SELECT {last:UInt64} - intDiv({swaps:UInt64} - 1 - n, ${SWAPS_PER_SLOT}), n % ${SWAPS_PER_SLOT}, w, 0,
      {now:UInt32} - toUInt32(intDiv({swaps:UInt64} - 1 - n, ${SWAPS_PER_SLOT}) * ${SLOT_SECONDS}),
      base58Encode(concat(SHA256(toString(n)), SHA256(concat('s', toString(n))))), if(n % 4 = 3, 'sell', 'buy'),
      arrayElement(mints, m + 1), toUInt128(${LEAST_AMOUNT} + n + cityHash64(n, 3) % 10000 * ${MOST_SWAPS}), 6, if(in_usd, '${USDC}', '${WSOL}'), quote,
      arrayElement(['pumpswap', 'raydium_clmm', 'jupiter', 'orca_whirlpool'], 1 + n % 4), 'program', 'high', false, 0,
      150000000000, if(in_usd, toUInt128(intDiv(quote * 1000000000000, 150000000000)), quote), ${LONG_AGO}
    FROM numbers(${from}, ${count})`
}

const POSITIONS = `
  INSERT INTO positions (wallet, mint, decimals, buys, sells, bought_amount, sold_amount, bought_lamports, sold_lamports, first_buy_time,
    first_trade_time, last_trade_time, open_amount, open_cost_lamports, realized_lamports, valued_sells, exit_seconds, version, inserted_at)
  SELECT wallet, base_mint, any(base_decimals), countIf(side = 'buy'), countIf(side = 'sell'),
    sumIf(base_amount, side = 'buy') AS bought, sumIf(base_amount, side = 'sell') AS sold,
    toInt128(sumIf(ifNull(value_lamports, 0), side = 'buy')), toInt128(sumIf(ifNull(value_lamports, 0), side = 'sell')),
    minIf(toNullable(block_time), side = 'buy'), min(block_time), max(block_time), greatest(bought, sold) - sold, 0, 0, countIf(side = 'sell'), NULL, count(), ${LONG_AGO}
  FROM swaps WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} GROUP BY wallet, base_mint`

const FIRST_BUYS = `
  INSERT INTO first_buys (mint, wallet, slot, tx_index, event_index, block_time, amount, value_lamports, sol_price_usd_e9, version)
  SELECT base_mint, wallet, argMin(slot, key), argMin(tx_index, key), argMin(event_index, key), argMin(block_time, key),
    argMin(base_amount, key), argMin(value_lamports, key), argMin(sol_price_usd_e9, key), 1
  FROM (SELECT *, (slot, tx_index, event_index) AS key FROM swaps WHERE side = 'buy' AND wallet BETWEEN {from:UInt32} AND {to:UInt32}) GROUP BY base_mint, wallet`

const PROFIT_HOURS = `
  INSERT INTO profit_hours (wallet, hour, mint, trades, valued_sells, volume_lamports, realized_lamports, strict_realized_lamports, version)
  SELECT wallet, toUInt32(intDiv(block_time, 3600) * 3600) AS hour, base_mint, count(), countIf(side = 'sell'), sum(ifNull(value_lamports, 0)) AS volume,
    toInt128(volume), toInt128(volume), 1
  FROM swaps WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} GROUP BY wallet, hour, base_mint`

const METRICS = `
  INSERT INTO wallet_metrics (wallet, status, score_e2, sol_balance_lamports, pnl_lamports, bought_lamports, sold_lamports, invested_open_lamports,
    unrealized_token_count, buys, sells, transfers_in, transfers_out, received_lamports, sent_lamports, unique_tokens_traded, tokens_won, tokens_lost,
    tokens_sold_valued, holding_seconds_sum, holding_matches, exit_seconds_sum, exit_tokens, quick_sells, sold_more_than_bought, active_times, events,
    slot, tx_index, event_index, computed_at, version)
  SELECT wallet, 'scored', 6725, 12000000001, sum(sold_lamports) - sum(bought_lamports), sum(bought_lamports), sum(sold_lamports), 0, count(),
    sum(positions.buys), sum(positions.sells), 0, 0, 0, 0, count(), 3, 2, 5, 86400, 9, 0, 0, 1, 0, [(14, 9), (15, 8), (2, 7)], sum(positions.buys + positions.sells),
    {last:UInt64}, 0, 0, {now:UInt32}, 1
  FROM positions GROUP BY wallet`

/** Writes that storage has reached a slot. */
export async function storeMarker(store: Store, slot: number): Promise<void> {
  await store.insert('progress', [
    {
      worker: 'fold',
      partition: 0,
      partitions: 1,
      slot,
      parent: slot - 1,
      block_time: Math.floor(Date.now() / 1000),
      sol_price_time: null,
      sol_price_usd_e9: null,
    },
  ])
}

/** Adds slots at the live edge. */
export interface LiveEdge {
  /**
   * Stores the next slot as a worker does: `swaps` swaps, one in ten of them backfilled at an
   * earlier slot; the metrics and position of its wallet; then the marker.
   */
  addSlot(swaps: number): Promise<void>
}

/** Continues after slot `last`, with `swaps` swaps stored already. */
export async function openLiveEdge(
  states: StatePublisher,
  last: number,
  storedSwaps: number,
): Promise<LiveEdge> {
  const { store } = states
  const metrics = await readRows(store, 'wallet_metrics FINAL')
  const positions = await readRows(
    store,
    `positions WHERE (wallet, mint) IN (SELECT wallet, min(mint) FROM positions GROUP BY wallet) ORDER BY version`,
  )
  let slot = last
  let stored = storedSwaps
  return {
    async addSlot(swaps) {
      slot++
      const time = Math.floor(Date.now() / 1000)
      const wallet = 1 + (slot % SEEDED_WALLETS)
      const target = { slot, wallet, time }
      const rows = Array.from({ length: swaps }, (_, index) =>
        liveSwapRow(target, stored + index, index % 10 === 9),
      )
      stored += swaps
      await store.insert('swaps', rows)
      const [metric, position] = [metrics.get(wallet), positions.get(wallet)]
      if (metric === undefined || position === undefined) throw new Error('not seeded')
      metric.buys = Number(metric.buys) + swaps
      metric.version = Number(metric.version) + 1
      await store.insert('wallet_metrics', [metric])
      position.buys = Number(position.buys) + swaps
      position.version = Number(position.version) + 1
      position.served_bought_amount = String(
        BigInt(String(position.served_bought_amount)) + 1_000_000n,
      )
      position.bought_amount = position.served_bought_amount
      await store.insert('positions', [position])
      await storeMarker(store, slot)
      await states.append(new Map(), new Map([[0, { slot, blockTime: time }]]))
    },
  }
}

function liveSwapRow(
  target: { readonly slot: number; readonly wallet: number; readonly time: number },
  number: number,
  isLate: boolean,
): Row {
  const { slot, wallet, time } = target
  return {
    slot: isLate ? slot - 1 - (hash32(number) % (slot - FIRST_SLOT)) : slot,
    tx_index: number,
    wallet,
    event_index: 0,
    block_time: time,
    signature: '',
    side: 'buy',
    base_mint: mintOf(slot % MINTS),
    base_amount: LEAST_AMOUNT + number,
    base_decimals: 6,
    quote_mint: WSOL,
    quote_amount: 1_000_000_000,
    program: 'pumpswap',
    program_id: 'program',
    confidence: 'high',
    quote_mismatch: false,
    fee_lamports: 0,
    sol_price_usd_e9: 150_000_000_000,
    value_lamports: 1_000_000_000,
    late: isLate ? 'backfill' : 'no',
  }
}

/** The address of `mintSql`. */
export function mintOf(number: number): string {
  return bs58.encode(createHash('sha256').update(`mint ${number}`).digest())
}

/** Rows as they would be written again, by wallet. */
async function readRows(store: Store, from: string): Promise<Map<number, Record<string, unknown>>> {
  const [table = ''] = from.split(' ')
  const columns = await store.query<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}
       AND default_kind NOT IN ('ALIAS', 'EPHEMERAL', 'MATERIALIZED') AND name != 'inserted_at'`,
    { table },
  )
  const names = columns.map(({ name }) => name).join(', ')
  const rows = await store.query<{ wallet: number }>(`SELECT ${names} FROM ${from}`)
  return new Map(rows.map((row) => [row.wallet, { ...row }]))
}
