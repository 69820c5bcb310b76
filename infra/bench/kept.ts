import { createDecoder } from '../../pipeline/decode/decoder.ts'
import type { KeptTransaction } from '../../pipeline/domain/event.ts'
import type { WalletRecord } from '../../pipeline/domain/slot.ts'
import type { Transaction } from '../../pipeline/domain/transaction.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import type { createMintDecimals } from '../../pipeline/ingest/rpc/mint-decimals.ts'
import { createRefusals } from '../../pipeline/ingest/rpc/refusals.ts'
import { createRpc } from '../../pipeline/ingest/rpc/rpc.ts'
import { selectTracked } from '../../pipeline/ingest/select-tracked.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { normalize } from '../../pipeline/ingest/wire/raw-transaction.ts'
import { decodeMessage, encodeMessage } from '../../pipeline/log/record.ts'
import { loadZstd } from '../../pipeline/log/zstd.ts'
import { batches } from '../../pipeline/runtime/batches.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { insertTransactions } from '../../pipeline/store/tables/transactions.ts'
import { recordRow } from '../../pipeline/workers/fold/event-rows.ts'
import { decodeRecords } from '../../pipeline/workers/ingest/decode-records.ts'
import { feePayers, readCorpus } from '../corpus/read-corpus.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { startMeter } from './kit/cpu.ts'
import { print, printHead, printRow, sum } from './kit/figures.ts'
import { withStore } from './kit/folder.ts'

const START = 405_000_000
const SLOTS = 400
const ROUNDS = 20
/** Transactions that a batch of a partition has. */
const BATCHES = [1, 4, 16]
/** Candidate codecs of the column; the schema's own is the first. */
const CODECS = ['ZSTD(3)', 'ZSTD(1)', 'ZSTD(9)', 'LZ4']

/**
 * Cost of keeping the bytes of transactions: microseconds of CPU to take, to log and to read each,
 * bytes of each with its other records in a batch of Kafka, and in the store by codec of the
 * column. Measures recorded transactions of the corpus, where it is there, and the simulator's.
 */
export async function run(): Promise<void> {
  const corpus = readCorpus()
  const wallets = createWallets(feePayers(corpus))
  await report(
    'recorded transactions',
    await keptOf(
      corpus.map(({ tx }) => tx),
      wallets,
    ),
  )
  const { txs, tracked } = await simulated()
  await report("the simulator's", await keptOf(txs, tracked))
}

/** A transaction, the record with its bytes, and the entries of all its records. */
interface Kept {
  readonly tx: Transaction
  readonly record: KeptTransaction
  readonly entries: readonly Buffer[]
}

const entryOf = (record: WalletRecord) => encodeMessage({ kind: 'record', record, late: null })

/** Transactions as the stream sends them, of those that are kept. */
async function keptOf(txs: readonly Transaction[], wallets: ReturnType<typeof createWallets>) {
  const decoder = createDecoder(wallets)
  const decimals = { of: () => 6, load: async () => {} } satisfies ReturnType<
    typeof createMintDecimals
  >
  const logger = createLogger('silent')
  const refusals = createRefusals(0, { logger, metrics: createIngestMetrics(createRegistry()) })
  const deps = { decimals, logger, refusals, stop: new AbortController().signal }
  const kept: Kept[] = []
  for (const [at, original] of txs.entries()) {
    // The index replaces the slot, which is unknown for some recorded transactions.
    const tx = normalize({ kind: 'kept', slot: at + 1, bytes: original.encoded() })
    if (tx.kind === 'malformed') continue
    const records = await decodeRecords(decoder, tx, at, deps)
    const entries = records.map((record) => Buffer.from(entryOf(record)))
    for (const record of records) if (record.kind === 'kept') kept.push({ tx, record, entries })
  }
  return kept
}

async function simulated() {
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({ clock, wallets: 250, trackedPerSlot: 5 })
  simulator.advance(SLOTS)
  const rpc = createRpc({ url: simulator.rpcUrl, metrics: createIngestMetrics(createRegistry()) })
  const tracked = createWallets(simulator.wallets)
  const txs: Transaction[] = []
  for (let slot = START; slot < simulator.confirmedSlot; slot++) {
    const block = await rpc.getBlock(slot)
    if (typeof block === 'string') continue
    for (const { item } of selectTracked(block, tracked).transactions) {
      const tx = normalize(item)
      if (tx.kind === 'transaction') txs.push(tx)
    }
  }
  rpc.close()
  await simulator.close()
  return { txs, tracked }
}

async function report(name: string, kept: readonly Kept[]): Promise<void> {
  if (kept.length === 0) return print(`${name}: none`)
  const sizes = kept.map(({ record }) => record.bytes.length).sort((a, b) => a - b)
  const mean = sum(sizes) / sizes.length
  print(
    `\n${name}: ${kept.length} kept, ${Math.round(mean)} bytes each (median ${sizes[sizes.length >> 1]}, largest ${sizes.at(-1)})\n`,
  )
  const entries = kept.map(({ record }) => Buffer.from(entryOf(record)))
  const us = {
    'taken from the stream': cpuUs(kept, ({ tx }) => tx.encoded()),
    'written for the log': cpuUs(kept, ({ record }) => entryOf(record)),
    'read from the log': cpuUs(entries, (entry) => decodeMessage(entry)),
  }
  for (const [what, value] of Object.entries(us)) print(`${what.padEnd(24)} ${value.toFixed(1)} us`)
  const zstd = await loadZstd()
  print('\nall records of a transaction, in a batch of several:\n')
  printHead('transactions', 'bytes', 'compressed', 'compressing, us', 'back, us')
  for (const size of BATCHES) {
    const whole = [...batches(kept, size)].filter(({ length }) => length === size)
    const buffers = whole.map((some) => Buffer.concat(some.flatMap(({ entries }) => entries)))
    const compressed = await Promise.all(buffers.map((buffer) => zstd.compress({ buffer })))
    const each = (some: readonly Buffer[]) => Math.round(bytesOf(some) / (some.length * size))
    const [there, back] = [
      cpuUs(buffers, (buffer) => zstd.compress({ buffer })),
      cpuUs(compressed, (bytes) => zstd.decompress(bytes)),
    ]
    const us = [there, back].map((value) => (value / size).toFixed(1))
    printRow(size, each(buffers), each(compressed), ...us)
  }
  print('')
  for (const [codec, bytes] of await storedBytes(kept.map(({ record }) => record)))
    print(`${`stored, ${codec}`.padEnd(24)} ${Math.round(bytes)} bytes`)
}

function bytesOf(some: readonly Buffer[]): number {
  return sum(some.map(({ length }) => length))
}

/** Microseconds of CPU of one call, the least of some rounds over all items. */
function cpuUs<T>(items: readonly T[], run: (item: T) => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const meter = startMeter()
    for (const item of items) run(item)
    least = Math.min(least, (meter().cpuSeconds * 1e6) / items.length)
  }
  return least
}

/** Bytes on disk of column `bytes` a transaction, by codec, in one part as after merging. */
function storedBytes(records: readonly KeptTransaction[]): Promise<[string, number][]> {
  return withStore(async (store) => {
    await insertTransactions(
      store,
      records.map((record) => recordRow(record)),
    )
    const found: [string, number][] = []
    for (const [at, codec] of CODECS.entries()) {
      const table = `kept_${at}`
      await store.command(
        `CREATE TABLE ${table} (slot UInt64, tx_index UInt32, bytes String CODEC(${codec})) ENGINE = MergeTree ORDER BY (slot, tx_index) SETTINGS min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0`,
      )
      await store.command(
        `INSERT INTO ${table} SELECT slot, tx_index, bytes FROM transactions ORDER BY slot, tx_index SETTINGS max_insert_block_size = 10000000, min_insert_block_size_rows = 10000000, min_insert_block_size_bytes = 0`,
      )
      const [size] = await store.query<{ bytes: number }>(
        `SELECT toFloat64(sum(column_data_compressed_bytes)) AS bytes FROM system.parts_columns WHERE table = '${table}' AND column = 'bytes' AND active`,
      )
      found.push([codec, (size?.bytes ?? 0) / records.length])
    }
    return found
  })
}
