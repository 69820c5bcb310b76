import type { WalletEvent } from '../../pipeline/domain/event.ts'
import { eventKeyText } from '../../pipeline/domain/event-key.ts'
import { slowPrices } from '../../pipeline/testing/slow-events.ts'
import {
  type SlowTableName,
  type SlowTables,
  slowTables,
} from '../../pipeline/testing/slow-tables.ts'
import { NEXT_COLUMN } from './next-build.ts'
import type { TrueChain } from './true-chain.ts'

/** Runs a read-only query; returns its rows. */
export type Query = <T>(sql: string) => Promise<T[]>

/** A row that differs; null on the side that lacks it. */
export interface Difference {
  readonly table: string
  readonly expected: Readonly<Record<string, unknown>> | null
  readonly stored: Readonly<Record<string, unknown>> | null
}

/** The name that stands for a table where an answer of REST differs. */
export const REST = 'answers of REST'

const EVENT_KEY = ['slot', 'tx_index', 'wallet', 'event_index']

/**
 * Columns that say how and when a row was written, not what the chain did (rule C19); they may
 * differ between runs.
 */
const APART = new Set([
  ...['version', 'revision', 'inserted_at', 'computed_at'],
  ...['late', 'decoder_version', NEXT_COLUMN],
])

/** Key columns of each table. */
const KEYS: Readonly<Record<SlowTableName, readonly string[]>> = {
  swaps: EVENT_KEY,
  transfers: EVENT_KEY,
  sol_transfers: EVENT_KEY,
  sol_balances: ['wallet', 'slot', 'tx_index'],
  token_links: ['wallet', 'account', 'slot', 'tx_index'],
  lots: ['wallet', 'mint', 'slot', 'tx_index', 'event_index'],
  disposals: [
    ...['wallet', 'mint', 'slot', 'tx_index', 'event_index'],
    ...['lot_slot', 'lot_tx_index', 'lot_event_index'],
  ],
  positions: ['wallet', 'mint'],
  first_buys: ['mint', 'wallet'],
  profit_hours: ['wallet', 'hour', 'mint'],
  wallet_metrics: ['wallet'],
}
const TABLES = Object.keys(KEYS) as SlowTableName[]

/** Maximum age of a price (`SOL_PRICE_MAX_AGE_SECONDS`). */
export const MAX_AGE_SECONDS = 3600
const ROWS_PER_QUERY = 50_000

/** The number of stored rows, and their differences. */
export interface Comparison {
  readonly differences: readonly Difference[]
  /** Number of rows by table. */
  readonly rows: Readonly<Record<string, number>>
}

/** The true events, each swap with its price, and the tables that they make. */
export interface TrueTables {
  readonly events: readonly WalletEvent[]
  readonly tables: SlowTables
}

/**
 * Differences between the stored tables and what the slow reference makes of the true chain. Prices
 * are those of `sol_prices`.
 */
export async function compareTables(
  query: Query,
  chain: TrueChain,
  wallets: number,
): Promise<Comparison & { readonly truth: TrueTables }> {
  const prices = await readPrices(query)
  const swaps = await readTable(query, 'swaps')
  const events = chain.events.map((event) => priced(event, swaps, prices))
  const tables = slowTables({ wallets, events, balances: chain.balances, links: chain.links })
  const { differences, rows } = await compareWith(query, tables)
  const undecoded = await undecodedThatAreTrue(query, chain)
  return { differences: [...differences, ...undecoded], rows, truth: { events, tables } }
}

/** Differences between the stored tables and the expected rows. */
export async function compareWith(query: Query, expected: SlowTables): Promise<Comparison> {
  const differences: Difference[] = []
  const rows: Record<string, number> = {}
  for (const table of TABLES) {
    const key = KEYS[table]
    const found = await readTable(query, table)
    rows[table] = found.size
    const due = new Map(expected[table].map((row) => [keyText(row, key), asText(row) as Row]))
    for (const [text, row] of due) {
      const other = found.get(text) ?? null
      if (other === null || !isSame(row, other))
        differences.push({ table, expected: row, stored: other })
    }
    for (const [text, row] of found)
      if (!due.has(text)) differences.push({ table, expected: null, stored: row })
  }
  return { differences, rows }
}

type Row = Readonly<Record<string, unknown>>

/** The columns of a row that describe the chain. A deleted row is in no read with FINAL. */
function factsOf(row: Row): Row {
  const columns = Object.entries(row).filter(([name]) => !APART.has(name) && name !== 'is_deleted')
  return asText(Object.fromEntries(columns)) as Row
}

/** Integers become text, as ClickHouse returns wide ones; other values stay. */
function asText(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(asText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, asText(of)]))
}

function keyText(row: Row, key: readonly string[]): string {
  return key.map((name) => String(row[name])).join('/')
}

function isSame(a: Row, b: Row): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]))
}

/** Tables whose engine does not know `is_deleted`. */
const RETURNS_DELETED: ReadonlySet<SlowTableName> = new Set(['sol_balances', 'token_links'])

async function readTable(query: Query, table: SlowTableName): Promise<Map<string, Row>> {
  const key = KEYS[table].join(', ')
  const rows = new Map<string, Row>()
  for (let at = 0; ; at += ROWS_PER_QUERY) {
    const page = await query<Row>(
      `SELECT * FROM ${table} FINAL ${RETURNS_DELETED.has(table) ? 'WHERE is_deleted = 0' : ''}
       ORDER BY ${key} LIMIT ${ROWS_PER_QUERY} OFFSET ${at}`,
    )
    for (const row of page) rows.set(keyText(row, KEYS[table]), factsOf(row))
    if (page.length < ROWS_PER_QUERY) return rows
  }
}

/**
 * Number of stored events and links, and of wallets whose books must be recomputed. Rows of
 * withdrawn slots do not count, although some tables return them (rule K9).
 */
export async function countStored(query: Query): Promise<{ records: number; unfolded: number }> {
  const counts = ['swaps', 'transfers', 'sol_transfers', 'sol_balances', 'token_links'].map(
    (table) => `(SELECT count() FROM ${table} FINAL WHERE is_deleted = 0)`,
  )
  const marked = '(SELECT count() FROM fold_snapshots FINAL WHERE format = 0)'
  const [row] = await query<{ records: string; unfolded: string }>(
    `SELECT ${counts.join(' + ')} AS records, ${marked} AS unfolded`,
  )
  return { records: Number(row?.records), unfolded: Number(row?.unfolded) }
}

async function readPrices(query: Query): Promise<Map<number, bigint>> {
  const rows = await query<{ time: number; usd_e9: string }>(
    'SELECT time, usd_e9 FROM sol_prices FINAL WHERE usd_e9 > 0 ORDER BY time, source',
  )
  return new Map(rows.map((row) => [Number(row.time), BigInt(row.usd_e9)]))
}

/**
 * A swap against a quote coin, with its stored price where that price is allowed, else with the
 * price that it should have.
 */
function priced(
  event: WalletEvent,
  swaps: ReadonlyMap<string, Row>,
  prices: ReadonlyMap<number, bigint>,
): WalletEvent {
  if (event.kind !== 'swap') return event
  if (event.quoteMint === null) return event
  const allowed = slowPrices(prices, event.blockTime, MAX_AGE_SECONDS)
  const stored = swaps.get(eventKeyText(event))?.sol_price_usd_e9
  const solPriceUsdE9 = allowed.find((price) => String(price) === stored) ?? allowed[0] ?? null
  return { ...event, solPriceUsdE9 }
}

/**
 * Transactions that count as undecodable but are on the chain. All of the market's can be decoded,
 * and garbage is not on the chain.
 */
async function undecodedThatAreTrue(query: Query, chain: TrueChain): Promise<Difference[]> {
  const rows = await query<{ slot: string; tx_index: number }>(
    'SELECT slot, tx_index, wallet, reason FROM undecoded FINAL ORDER BY slot, tx_index, wallet',
  )
  return rows
    .filter((row) => Number(row.tx_index) < (chain.blockLengths.get(Number(row.slot)) ?? 0))
    .map((row) => ({ table: 'undecoded', expected: null, stored: { ...row } }))
}

/** A difference as readable lines: the key, then the columns that differ. */
export function describeDifference({ table, expected, stored }: Difference): string {
  const row = expected ?? stored ?? {}
  const columns = table === REST ? ['path'] : (KEYS[table as SlowTableName] ?? EVENT_KEY)
  const known = columns.filter((name) => name in row)
  const key = known.length > 0 ? known : Object.keys(row).slice(0, 2)
  const place = key.map((name) => `${name} ${row[name]}`).join(', ')
  if (expected === null) return `${table}: too many: ${place}\n    ${JSON.stringify(stored)}`
  if (stored === null) return `${table}: missing: ${place}\n    ${JSON.stringify(expected)}`
  const changed = [...new Set([...Object.keys(expected), ...Object.keys(stored)])]
    .filter((name) => JSON.stringify(expected[name]) !== JSON.stringify(stored[name]))
    .map(
      (name) =>
        `    ${name}: stored ${JSON.stringify(stored[name])}, expected ${JSON.stringify(expected[name])}`,
    )
  return [`${table}: ${place}`, ...changed].join('\n')
}
