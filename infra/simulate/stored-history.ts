import type { Address } from '../../pipeline/domain/address.ts'
import type { BalanceRecord, Swap, WalletEvent } from '../../pipeline/domain/event.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import type { SlowPriceInputs } from '../../pipeline/testing/slow-prices.ts'
import type { FactsByMint } from './slow-answer.ts'

/** What is stored of one wallet, in no order. */
export interface StoredWallet {
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
}

const WALLET_ORDER = 'wallet, slot, tx_index, event_index'
const MINT_ORDER = 'base_mint, slot, tx_index, wallet, event_index'
const PLACE = 'slot, tx_index, wallet, event_index, block_time'
const SWAP = `${PLACE}, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount,
  program, confidence, quote_mismatch, sol_price_usd_e9, is_deleted`
const OF_WALLETS = 'wallet IN {wallets:Array(UInt32)}'
const OF_MINTS = 'mint IN {mints:Array(String)}'

/**
 * Reads all events and balances of some wallets. What only tells how a row was made (signature,
 * pool, fee) is left out.
 */
export async function readWalletHistories(
  store: Store,
  wallets: readonly number[],
): Promise<Map<number, StoredWallet>> {
  const read = (table: string, columns: string, order = WALLET_ORDER) =>
    newestRows(store, { table, columns, where: OF_WALLETS, order }, { wallets })
  const amount = 'direction, mint, amount, decimals, is_deleted'
  const [swaps, transfers, solTransfers, balances] = await Promise.all([
    read('swaps', SWAP),
    read('transfers', `${PLACE}, ${amount}`),
    read('sol_transfers', `${PLACE}, direction, lamports, is_deleted`),
    read(
      'sol_balances',
      'wallet, slot, tx_index, block_time, lamports, is_deleted',
      'wallet, slot, tx_index',
    ),
  ])
  const events = [
    ...swaps.map(swapOf),
    ...transfers.map(tokenTransferOf),
    ...solTransfers.map(solTransferOf),
  ]
  const records = balances.map(balanceOf)
  const histories = new Map(
    wallets.map((wallet) => [
      wallet,
      { events: [] as WalletEvent[], balances: [] as BalanceRecord[] },
    ]),
  )
  for (const event of events) histories.get(event.wallet)?.events.push(event)
  for (const record of records) histories.get(record.wallet)?.balances.push(record)
  return histories
}

/** Reads the swaps of some mints from a block time on, in order of mint and event key. */
export async function readSwapsOfMints(
  store: Store,
  mints: readonly string[],
  from = 0,
): Promise<Swap[]> {
  const where = 'base_mint IN {mints:Array(String)} AND block_time >= {from:UInt32}'
  const rows = await newestRows(
    store,
    { table: 'swaps', columns: SWAP, where, order: MINT_ORDER },
    { mints, from },
  )
  return rows.map(swapOf)
}

/** Reads the newest swaps, the newest first. */
export async function readLastSwaps(store: Store, limit: number): Promise<Swap[]> {
  const [row] = await store.query<{ slot: string }>(
    'SELECT slot FROM swaps ORDER BY slot DESC LIMIT 1 OFFSET {limit:UInt32}',
    { limit },
  )
  const rows = await newestRows(
    store,
    {
      table: 'swaps',
      columns: SWAP,
      where: 'slot >= {from:UInt64}',
      order: 'slot, tx_index, wallet, event_index',
    },
    { from: row?.slot ?? '0' },
  )
  return rows.map(swapOf).toReversed().slice(0, limit)
}

/** Reads the states of the mints' pools. */
export async function readPools(
  store: Store,
  mints: readonly string[],
): Promise<SlowPriceInputs['pools']> {
  return poolsOf(await store.query(`${POOLS} WHERE ${OF_MINTS}`, { mints }))
}

/** Selects the rows of `poolsOf`. */
export const POOLS = `SELECT at, mint, pool, quote_mint, toString(price_quote) AS price_quote,
  toString(price_base) AS price_base FROM pool_states FINAL`

/** A row of `POOLS`. */
export type PoolRow = Readonly<
  Record<'at' | 'mint' | 'pool' | 'quote_mint' | 'price_quote' | 'price_base', string>
>

/** The states of pools in rows of `POOLS`. */
export function poolsOf(rows: readonly PoolRow[]): SlowPriceInputs['pools'] {
  return rows.map((row) => ({
    at: Number(row.at),
    mint: row.mint,
    pool: row.pool,
    quoteMint: row.quote_mint,
    price: { quote: BigInt(row.price_quote), base: BigInt(row.price_base) },
  }))
}

/** Reads what is known of mints. */
export async function readMintFacts(store: Store, mints: readonly string[]): Promise<FactsByMint> {
  return mintFactsOf(await store.query(`${MINT_FACTS} WHERE ${OF_MINTS}`, { mints }))
}

/** Selects the rows of `mintFactsOf`. */
export const MINT_FACTS = 'SELECT mint, toString(supply) AS supply, symbol, name FROM mints FINAL'

/** A row of `MINT_FACTS`. */
export type MintFactRow = { readonly supply: string | null } & Readonly<
  Record<'mint' | 'symbol' | 'name', string>
>

/** The facts in rows of `MINT_FACTS`. */
export function mintFactsOf(rows: readonly MintFactRow[]): FactsByMint {
  return new Map(
    rows.map(({ mint, supply, symbol, name }) => [
      mint,
      { supply: supply === null ? null : BigInt(supply), symbol, name },
    ]),
  )
}

/** Reads the prices of SOL, one a second: of two the one of the file counts. */
export async function readSolSeries(store: Store): Promise<SlowPriceInputs['solPrices']> {
  const rows = await store.query<{ time: string; usd_e9: string }>(
    `SELECT time, argMax(usd_e9, source = 'file') AS usd_e9
     FROM (SELECT time, source, usd_e9 FROM sol_prices FINAL) GROUP BY time ORDER BY time`,
  )
  return rows.map(({ time, usd_e9 }) => ({ time: Number(time), usdE9: BigInt(usd_e9) }))
}

/** Rows of events or balances with the highest version of each key, without deleted ones. */
async function newestRows(
  store: Store,
  read: {
    readonly table: string
    readonly columns: string
    readonly where: string
    /** The key of the table, in an order that a projection has. */
    readonly order: string
  },
  params: Row,
): Promise<Row[]> {
  const { table, columns, where, order } = read
  const rows = await store.query<Row>(
    `SELECT ${columns} FROM ${table} WHERE ${where}
     ORDER BY ${order}, version DESC LIMIT 1 BY ${order}`,
    params,
  )
  return rows.filter((row) => Number(row.is_deleted) === 0)
}

// Below, rows are taken apart that this file selects itself.

function placeOf(row: Row) {
  return {
    slot: Number(row.slot),
    txIndex: Number(row.tx_index),
    wallet: Number(row.wallet),
    eventIndex: Number(row.event_index),
    blockTime: Number(row.block_time),
    signature: '',
  }
}

function swapOf(row: Row): Swap {
  const price = row.sol_price_usd_e9 as string | null
  return {
    ...placeOf(row),
    kind: 'swap',
    side: row.side as Swap['side'],
    baseMint: row.base_mint as Address,
    baseAmount: BigInt(row.base_amount as string),
    baseDecimals: Number(row.base_decimals),
    quoteMint: row.quote_mint as Address | null,
    quoteAmount: BigInt(row.quote_amount as string),
    program: row.program as string,
    programId: '' as Address,
    pool: null,
    confidence: row.confidence as Swap['confidence'],
    quoteMismatch: Boolean(row.quote_mismatch),
    feeLamports: 0n,
    solPriceUsdE9: price === null ? null : BigInt(price),
  }
}

function tokenTransferOf(row: Row): WalletEvent {
  return {
    ...placeOf(row),
    kind: 'token_transfer',
    direction: row.direction as 'in' | 'out',
    mint: row.mint as Address,
    amount: BigInt(row.amount as string),
    decimals: Number(row.decimals),
  }
}

function solTransferOf(row: Row): WalletEvent {
  return {
    ...placeOf(row),
    kind: 'sol_transfer',
    direction: row.direction as 'in' | 'out',
    lamports: BigInt(row.lamports as string),
  }
}

function balanceOf(row: Row): BalanceRecord {
  return {
    kind: 'balance',
    slot: Number(row.slot),
    txIndex: Number(row.tx_index),
    wallet: Number(row.wallet),
    blockTime: Number(row.block_time),
    lamports: BigInt(row.lamports as string),
    lamportsBefore: null,
  }
}
