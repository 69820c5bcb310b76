import type { Row, Store } from '../../pipeline/store/store.ts'
import { withClickHouse } from './kit/clickhouse.ts'
import { percentiles, printHead, printRow } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'

const USAGE = `usage: npm run bench -- durability [--inserts N]
  --inserts N   inserts of each kind, without and with fsync each (200)`

type Kind = readonly [table: string, rows: number, row: (n: number) => Row]

/** The inserts of a flush, of the ledger, and of a backfill: table, rows, and how a row looks. */
const KINDS: readonly Kind[] = [
  ['swaps', 20, swapRow],
  ['swaps', 5000, swapRow],
  [
    'progress',
    6,
    (n) => ({
      worker: 'bench',
      partition: n % 6,
      partitions: 6,
      slot: n,
      parent: n,
      block_time: n,
    }),
  ],
  [
    'ledger_entries',
    50,
    (n) => ({ wallet: `wallet ${n}`, idempotency_key: `key ${n}`, credits: -1, cause: 'usage' }),
  ],
]

/**
 * Milliseconds of an insert into ClickHouse without and with `fsync_after_insert`. Both take turns,
 * so that they share the load of the machine. `fsync_part_directory` is left out: on an encrypted
 * disk, as `npm run servers` has, ClickHouse 26.7 fails with code 107.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { inserts: 200 })
  if (read === null) return
  await withClickHouse((store) => measure(store, read.options.inserts))
}

async function measure(store: Store, inserts: number): Promise<void> {
  printHead('table', 'rows', 'p50 ms', 'p99 ms', 'p50 ms, fsync', 'p99 ms, fsync', 'fsyncs')
  for (const kind of KINDS) {
    const { times, syncs } = await insertBoth(store, kind, inserts)
    const figures = times.flatMap((some) => percentiles(some, 0.5, 0.99))
    printRow(kind[0], kind[1], ...figures.map((ms) => ms.toFixed(1)), (syncs / inserts).toFixed(1))
  }
}

/** Inserts by turns without and with fsync. Returns both times, and the fsyncs of the latter. */
async function insertBoth(store: Store, [table, rows, row]: Kind, inserts: number) {
  const times: [number[], number[]] = [[], []]
  let syncs = 0
  for (let at = 0; at < 2 * inserts; at += 1) {
    const fsync = at % 2
    await store.command(`ALTER TABLE ${table} MODIFY SETTING fsync_after_insert = ${fsync}`)
    const block = Array.from({ length: rows }, (_, n) => row(at * rows + n))
    const before = await readSyncs(store)
    const startedAt = performance.now()
    await store.insert(table, block)
    times[fsync === 0 ? 0 : 1].push(performance.now() - startedAt)
    if (fsync === 1) syncs += (await readSyncs(store)) - before
  }
  return { times, syncs }
}

/** The number of files that the server has flushed to disk until now. */
async function readSyncs(store: Store): Promise<number> {
  const [row] = await store.query<{ n: string }>(
    "SELECT sum(value) AS n FROM system.events WHERE event = 'FileSync'",
  )
  return Number(row?.n)
}

function swapRow(n: number): Row {
  return {
    slot: 400_000_000 + n,
    tx_index: n % 1000,
    wallet: n % 250,
    event_index: 0,
    block_time: 1_700_000_000 + n,
    signature: `signature ${n}`.padEnd(88, 'x'),
    side: 'buy',
    base_mint: `mint ${n % 5000}`.padEnd(44, 'x'),
    base_amount: String(1_000_000 + n),
    base_decimals: 6,
    quote_amount: String(n),
    program: 'pump_fun',
    program_id: 'x'.repeat(44),
    confidence: 'high',
    quote_mismatch: false,
    fee_lamports: '5000',
  }
}
