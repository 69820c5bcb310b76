import type { Address } from '../../../pipeline/domain/address.ts'
import type { SlotRecords } from '../../../pipeline/domain/slot.ts'
import { PARTITIONS } from '../../../pipeline/log/topics.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { insertProgress } from '../../../pipeline/store/tables/progress.ts'
import { TICK_SECONDS } from '../../../pipeline/trending/watched-token.ts'
import { trackWallets } from '../../../pipeline/workers/ingest/track-wallets.ts'
import { blockTimeOf } from '../../simulator/market/slot-time.ts'
import { startWorker } from '../fold/worker.ts'
import { createWorkload } from '../fold/workload.ts'
import { settled } from '../kit/settled.ts'

/** The tables of a service that has run for long. */
export interface Filling {
  /** Stored swaps; the nearest number of whole events a wallet. */
  readonly swaps: number
  /** Positions, open or not. */
  readonly positions: number
  /** Tracked wallets. */
  readonly addresses: readonly Address[]
  /** The slot before which everything happened. */
  readonly endSlot: number
  /** Most wallets whose rows are not copies (1000). */
  readonly most?: number
}

/** As dense as 100 million swaps in a year of slots of 400 ms. */
const SLOTS_PER_SWAP = (365 * 86_400 * 2.5) / 100e6
/** Share of swaps among the events of a workload. */
const SWAP_SHARE = 0.9
/** Events of one slot of the first wallets. */
const PER_SLOT = 5
/** Rows of one statement: none may take longer than the store allows. */
const ROWS_PER_INSERT = 200_000
/** So many times more mints than the first wallets trade. */
const MINT_GROUPS = 50
const USD_E9 = 150_000_000_000n
/**
 * Write time of all rows: the first worker of a new log appends every state again that was stored
 * in the last day (rule K26).
 */
const LONG_AGO = 'now64(3) - INTERVAL 2 DAY'

/**
 * Fills the tables of an empty database with what a service has stored that has run for long. The
 * fold worker makes the rows of the first wallets from events of a workload. The server copies them
 * to all wallets, with other numbers, mints, pools and signatures; times and amounts stay. So the
 * rows of each wallet belong together, its snapshot too. The progress of the fold is left out: it
 * begins with a new log. Left out besides: rollups and links of accounts, which go on from here.
 */
export async function fill(store: Store, filling: Filling): Promise<void> {
  const { swaps, positions, addresses, endSlot, most = 1000 } = filling
  const events = Math.max(1, Math.round(swaps / SWAP_SHARE / addresses.length))
  const tokensPerWallet = Math.max(1, Math.round(positions / addresses.length))
  const first = Math.max(1, Math.min(most, addresses.length, Math.floor(ROWS_PER_INSERT / events)))
  const slots = Math.ceil((first * events) / PER_SLOT)
  const every = Math.max(1, Math.floor((swaps * SLOTS_PER_SWAP) / slots))
  await foldFirst(store, { wallets: first, tokensPerWallet, slots, every, endSlot })
  await copyRows(store, first, addresses.length)
  await store.command(MINTS)
  await trackWallets(store, addresses, 'the bench')
  await store.command(SNAPSHOTS, { slot: Number.MAX_SAFE_INTEGER })
  await store.command('TRUNCATE TABLE sealed_slots')
  await store.command('TRUNCATE TABLE progress')
  await markComplete(store, endSlot)
  await settled(store)
}

/**
 * Says that links are checked, and rollups and the watchlist complete, up to a slot: nothing is
 * stored between the filling and the start of a service, however much later that is.
 */
export async function markComplete(store: Store, slot: number): Promise<void> {
  await insertProgress(store, progressOf(slot))
}

/** Whether `fill` has come to its end in a database. */
export async function isFilled(store: Store): Promise<boolean> {
  const [row] = await store.query<{ found: number }>(
    "SELECT toUInt32(count()) AS found FROM progress WHERE worker = 'rollups'",
  )
  return (row?.found ?? 0) > 0
}

/** Lets the fold worker store the events of the first wallets, over a log in memory. */
async function foldFirst(
  store: Store,
  history: {
    readonly wallets: number
    readonly tokensPerWallet: number
    readonly slots: number
    readonly every: number
    readonly endSlot: number
  },
): Promise<void> {
  const { wallets, tokensPerWallet, slots, every, endSlot } = history
  const workload = createWorkload({ wallets, tokensPerWallet })
  const worker = await startWorker(store)
  const slotOf = (number: number) => endSlot - (slots - number) * every
  for (let number = 1; number <= slots; number += 1)
    await worker.log.appendSlot(
      movedTo(workload.slotOf(number, PER_SLOT), slotOf(number), slotOf(number - 1)),
    )
  await worker.stored(slotOf(slots))
  await worker.stop()
}

/** The slot at another place of the chain, with every price known and without balances. */
function movedTo({ marker, records }: SlotRecords, slot: number, parent: number): SlotRecords {
  const blockTime = blockTimeOf(slot)
  const solPrice = { time: blockTime, usdE9: USD_E9 }
  return {
    marker: { ...marker, slot, parent, blockTime, solPrice, blockId: null, finalized: null },
    records: records.flatMap((record) => {
      if (record.kind === 'balance') return []
      const price = record.kind === 'swap' && { solPriceUsdE9: USD_E9 }
      return { ...record, slot, blockTime, ...price }
    }),
  }
}

/** Copies the rows of the first wallets, in every table that has any, for all wallets. */
async function copyRows(store: Store, first: number, wallets: number): Promise<void> {
  const tables = await store.query<{ table: string }>(
    `SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase()
     AND name = 'wallet' AND type = 'UInt32' AND table IN (
       SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0)`,
  )
  for (const { table } of tables) {
    const names = await columnsOf(store, table)
    const values = names.map((name) => COPIED[name] ?? name)
    await store.command(
      `CREATE TABLE first_rows ENGINE = MergeTree ORDER BY wallet AS SELECT ${names} FROM ${table} FINAL`,
    )
    // Those of the first wallets too, as they were written just now.
    await store.command(`TRUNCATE TABLE ${table}`)
    for (let offset = 0; offset < wallets; offset += first)
      await store.command(
        `INSERT INTO ${table} (${names}) SELECT ${values} FROM first_rows WHERE wallet <= {last:UInt32}`,
        { offset, last: wallets - offset, letter: letterOf(offset / first) },
      )
    await store.command('DROP TABLE first_rows')
  }
}

async function columnsOf(store: Store, table: string): Promise<string[]> {
  const columns = await store.query<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}
     AND default_kind NOT IN ('ALIAS', 'EPHEMERAL', 'MATERIALIZED')`,
    { table },
  )
  return columns.map(({ name }) => name)
}

/** A digit of base58 for a number. */
function letterOf(number: number): string {
  return '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstu'[number % MINT_GROUPS] ?? '2'
}

/** Another address of 32 bytes in place of a column's. */
const addressIn = (column: string, begin: string) =>
  `if(${column} = '', '', concat('${begin}', {letter:String}, substring(${column}, 3)))`

/** What copies have in a column; elsewhere the same. */
const COPIED: Readonly<Record<string, string>> = {
  wallet: 'wallet + {offset:UInt32}',
  mint: addressIn('mint', 'A'),
  base_mint: addressIn('base_mint', 'A'),
  pool: `if(pool = '', '', concat('B', {letter:String}, substring(base_mint, 3)))`,
  signature: `base58Encode(concat(SHA256(concat(signature, toString({offset:UInt32}))),
    SHA256(concat(toString({offset:UInt32}), signature))))`,
  // JSON of the state: it begins with the wallet, and each of its tokens with the mint.
  state: `replaceRegexpAll(
    replaceRegexpOne(state, '^[[][0-9]+', concat('[', toString(wallet + {offset:UInt32}))),
    '[[]"..([^"]{40,42}",[0-9])', concat('["A', {letter:String}, '\\\\1'))`,
  inserted_at: LONG_AGO,
}

const MINTS = `
  INSERT INTO mints (mint, token_program, decimals, supply, symbol, name, metadata, fetched_at,
    asked, ask_again_at, version, inserted_at)
  SELECT mint, 'spl_token', 6, 1000000000000000, substring(mint, 1, 4), substring(mint, 1, 8),
    'metaplex', toUnixTimestamp(now()), 1, NULL, 1, ${LONG_AGO}
  FROM (SELECT DISTINCT mint FROM positions)`

/**
 * That every wallet's balances were read, at a slot that never comes: so ingest does not read them
 * again, and no link is compared with them (`forgetBalances`).
 */
const SNAPSHOTS = `
  INSERT INTO balance_snapshots (wallet, account, mint, slot, amount, inserted_at)
  SELECT wallet, '', '', {slot:UInt64}, 0, ${LONG_AGO} FROM tracked_wallets FINAL`

function progressOf(slot: number) {
  const now = Date.now()
  const links = Array.from({ length: PARTITIONS }, (_, partition) => ({
    worker: 'links',
    partition,
    partitions: PARTITIONS,
    slot,
    parent: slot,
    block_time: Math.floor(now / 1000),
  }))
  const blockTime = blockTimeOf(slot)
  const whole = { partition: 0, partitions: 1, parent: 0 }
  const tick = blockTime - (blockTime % TICK_SECONDS)
  return [
    ...links,
    { ...whole, worker: 'rollups', slot: now, block_time: blockTime },
    { ...whole, worker: 'trending', slot: tick, block_time: tick },
  ]
}

/** Rows and bytes on disk of a table. */
export interface TableSize {
  readonly table: string
  readonly rows: number
  readonly bytes: number
}

/** The sizes of all tables with rows, the largest first. */
export async function tableSizes(store: Store): Promise<TableSize[]> {
  const rows = await store.query<{ table: string; rows: string; bytes: string }>(
    `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE database = currentDatabase() AND active GROUP BY table ORDER BY bytes DESC LIMIT 1000`,
  )
  return rows.map(({ table, rows, bytes }) => ({ table, rows: Number(rows), bytes: Number(bytes) }))
}

/** The number of open positions. */
export async function countOpen(store: Store): Promise<number> {
  const [row] = await store.query<{ open: string }>(
    `SELECT countIf(served_bought_amount > served_sold_amount) AS open FROM positions FINAL
     WHERE is_deleted = 0`,
  )
  return Number(row?.open)
}
