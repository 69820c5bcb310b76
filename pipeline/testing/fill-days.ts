import type { Store } from '../store/store.ts'
import { insertProgress } from '../store/tables/progress.ts'

/** Days that `fillDays` fills. */
export const FILLED_DAYS = 3

export interface FillOptions {
  /** The first day, as the number of days since 1970. */
  readonly day: number
  /** Rows of each table. */
  readonly rows: number
  /** `PRIVACY_SALT`; empty: none. */
  readonly salt?: string
}

/**
 * Fills every table that an export reads with rows over three days, and stores that all of them are
 * complete. Amounts have up to 38 digits, and nullable columns have nulls. ClickHouse makes the
 * rows, the same ones in each database.
 */
export async function fillDays(store: Store, { day, rows, salt = '' }: FillOptions): Promise<void> {
  await store.insert('event_id_key', [{ key: '0123456789abcdef'.repeat(4) }])
  await store.insert('privacy_salt', [{ id: 0, salt, version: 1 }])
  for (const [table, columns] of Object.entries(ROWS)) {
    const selected = Object.entries(columns).map(([name, value]) => `${value} AS ${name}`)
    await store.command(
      `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
       WITH number AS n, toUInt32(({day:UInt32} + n % ${FILLED_DAYS}) * 86400 + n * 7919 % 86400) AS moment
       SELECT ${selected.join(', ')} FROM numbers({rows:UInt32}) SETTINGS max_execution_time = 600`,
      { day, rows },
    )
  }
  const end = (day + FILLED_DAYS) * 86_400 + 60
  const position = { partition: 0, partitions: 1, parent: 1, block_time: end }
  await insertProgress(
    store,
    ['fold', 'rollups', 'trending'].map((worker) => ({
      ...position,
      worker,
      slot: 2,
      complete_slot: 2,
    })),
  )
}

const KEY = {
  slot: '400000000 + n',
  tx_index: 'n % 4',
  wallet: '1 + n % 40',
  event_index: 'n % 2',
}
const MINT = "base58Encode(SHA256(concat('mint ', toString(n % 500))))"
/** Now and then an amount of 38 digits. */
const AMOUNT = "if(n % 97 = 0, toUInt128(repeat('8', 38)), toUInt128(1 + cityHash64(n, 1)))"
const LAMPORTS = '1 + cityHash64(n, 2) % 5000000000'
const maybe = (value: string, one: number) => `if(n % ${one} = 0, NULL, ${value})`

/** SQL of each column, by table. */
const ROWS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  swaps: {
    ...KEY,
    block_time: 'moment',
    signature: "concat('signature ', toString(n))",
    side: "if(n % 3 = 0, 'sell', 'buy')",
    base_mint: MINT,
    base_amount: AMOUNT,
    base_decimals: 'n % 10',
    quote_mint: maybe("'So11111111111111111111111111111111111111112'", 11),
    quote_amount: LAMPORTS,
    program: "if(n % 5 = 0, 'unknown', 'pumpswap')",
    program_id: "'program'",
    confidence: "if(n % 5 = 0, 'delta_only', 'high')",
    quote_mismatch: 'n % 11 = 0',
    fee_lamports: 'cityHash64(n, 3) % 100000',
    sol_price_usd_e9: maybe('150000000000 + n', 13),
    value_lamports: maybe(LAMPORTS, 11),
  },
  transfers: {
    ...KEY,
    block_time: 'moment',
    direction: "if(n % 3 = 0, 'out', 'in')",
    mint: MINT,
    amount: AMOUNT,
    decimals: 'n % 10',
  },
  sol_transfers: {
    ...KEY,
    block_time: 'moment',
    direction: "if(n % 3 = 0, 'out', 'in')",
    lamports: '18446744073709551615 - n',
  },
  sol_balances: {
    wallet: KEY.wallet,
    slot: KEY.slot,
    tx_index: KEY.tx_index,
    block_time: 'moment',
    lamports: LAMPORTS,
  },
  lots: {
    ...KEY,
    mint: MINT,
    block_time: 'moment',
    origin: "if(n % 3 = 0, 'transfer', 'buy')",
    amount: AMOUNT,
    cost_lamports: LAMPORTS,
    left_amount: AMOUNT,
    left_cost_lamports: LAMPORTS,
    version: '1',
  },
  disposals: {
    ...KEY,
    mint: MINT,
    lot_slot: '390000000 + n',
    kind: "if(n % 3 = 0, 'transfer_out', 'sell')",
    block_time: 'moment',
    lot_time: 'moment - 1000',
    lot_origin: "'buy'",
    amount: AMOUNT,
    cost_lamports: LAMPORTS,
    proceeds_lamports: maybe(LAMPORTS, 3),
    profit_lamports: maybe(`toInt128(${LAMPORTS}) - 2500000000`, 3),
    version: '1',
  },
  first_buys: {
    ...KEY,
    mint: "base58Encode(SHA256(concat('first ', toString(n))))",
    block_time: 'moment',
    amount: AMOUNT,
    value_lamports: maybe(LAMPORTS, 7),
    sol_price_usd_e9: maybe('150000000000 + n', 5),
    version: '1',
  },
  sol_prices: {
    time: 'moment',
    source: "if(n % 2 = 0, 'pool', 'file')",
    usd_e9: '150000000000 + n',
  },
  wallet_days: {
    day: 'toDate({day:UInt32} + n % 3)',
    wallet: '1 + intDiv(n, 3)',
    buys: 'n % 90',
    sells: 'n % 7',
    volume_lamports: LAMPORTS,
    realized_lamports: `toInt128(${LAMPORTS}) - 2500000000`,
    version: '1',
  },
  profit_hours: {
    wallet: '1 + n % 40',
    hour: 'intDiv(moment, 3600) * 3600',
    mint: MINT,
    trades: '1 + n % 9',
    volume_lamports: LAMPORTS,
    realized_lamports: `toInt128(${LAMPORTS}) - 2500000000`,
    strict_realized_lamports: `toInt128(${LAMPORTS}) - 2600000000`,
    version: '1',
  },
  token_hours: {
    mint: MINT,
    hour: 'intDiv(moment, 3600) * 3600',
    open_price: maybe('n / 7', 6),
    close_price: maybe('n / 3e12', 6),
    buys: 'n % 90',
    volume_lamports: AMOUNT,
    holders: 'n % 40',
    version: '1',
  },
  watchlist: {
    at: 'intDiv(moment, 10) * 10',
    mint: MINT,
    entry: 'moment - 500',
    event: "if(n % 2 = 0, 'entered', 'changed')",
    symbol: "concat('\"Ω\\'', toString(n))",
    wallets: 'arrayMap(i -> toUInt32(1 + i), range(n % 4))',
    current_mcap: maybe('n * 1000.5', 4),
    held_lamports: LAMPORTS,
    oldest_hold_at: maybe('moment', 4),
    mcap_trend: "'up'",
    holders_trend: "'flat'",
    volume1h_trend: "'flat'",
    liquidity_trend: "'flat'",
    state: "'accumulating'",
    near_evict: 'n % 2 = 0',
    reasons: "if(n % 2 = 0, ['held by two', ''], [])",
  },
  signals: {
    fired_at: 'intDiv(moment, 10) * 10',
    strategy: "concat('s', toString(n % 3))",
    mint: MINT,
    entry: 'moment - 500',
    id: 'SHA256(toString(n))',
    wallets: '[1, toUInt32(2 + n % 3)]',
    trigger_mcap: maybe('n * 10.25', 4),
    held_lamports: LAMPORTS,
    reasons: "[('mcap', '>', '1000', toString(n))]",
  },
}
