import { createDecoder } from '../../pipeline/decode/decoder.ts'
import type { DecodedRecord } from '../../pipeline/domain/slot.ts'
import type { Transaction } from '../../pipeline/domain/transaction.ts'
import { createWallets, type Wallets } from '../../pipeline/domain/wallets.ts'
import { normalize } from '../../pipeline/ingest/wire/raw-transaction.ts'
import { encodeMessage } from '../../pipeline/log/record.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { insertDecodedRows } from '../../pipeline/store/tables/decoded-rows.ts'
import { decodedRow } from '../../pipeline/workers/fold/event-rows.ts'
import { feePayers, readCorpus } from '../corpus/read-corpus.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { print, printHead, printRow, sum } from './kit/figures.ts'
import { withStore } from './kit/folder.ts'

const START = 405_000_000
const SLOTS = 3000
const ROUNDS = 20

/**
 * Cost of the links of accounts (rule K8): bytes an event on the log and stored, of recorded
 * transactions with every fee payer tracked and of the simulator's market, and the time that the
 * decoder takes.
 */
export async function run(): Promise<void> {
  const corpus = readCorpus().map(({ tx }) => tx)
  const wallets = createWallets(feePayers(readCorpus()))
  await report('recorded', decodeAll(corpus, wallets))
  await report('simulator', await simulated())
  print(`\ndecoded in ${decodeUs(corpus, wallets).toFixed(1)} us a recorded transaction`)
}

function decodeAll(txs: readonly Transaction[], wallets: Wallets): DecodedRecord[] {
  const decoder = createDecoder(wallets)
  return txs.flatMap((tx, at) => {
    // The index replaces the slot, which is unknown for some recorded transactions.
    const normalized = normalize({ kind: 'kept', slot: at + 1, bytes: tx.encoded() })
    if (normalized.kind === 'malformed') return []
    const decoded = decoder.decode(normalized, at, () => 6)
    return decoded.kind === 'decoded' ? decoded.records : []
  })
}

/** Microseconds of a decoding, the least of some rounds. */
function decodeUs(txs: readonly Transaction[], wallets: Wallets): number {
  const decoder = createDecoder(wallets)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = process.cpuUsage()
    for (const tx of txs) decoder.decode(tx, 1, () => 6)
    const { user, system } = process.cpuUsage(startedAt)
    least = Math.min(least, (user + system) / txs.length)
  }
  return least
}

async function simulated(): Promise<DecodedRecord[]> {
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({ clock, wallets: 250, trackedPerSlot: 5 })
  const records: DecodedRecord[] = []
  for (let slot = START; slot < START + SLOTS; slot += 1) {
    for (const record of simulator.truth(slot).records) records.push(record)
  }
  await simulator.close()
  return records
}

async function report(name: string, records: readonly DecodedRecord[]): Promise<void> {
  const events = records.filter((record) => 'eventIndex' in record).length
  const links = records.filter((record) => record.kind === 'token_link')
  const balances = records.filter((record) => record.kind === 'balance')
  const logged = (some: readonly DecodedRecord[]) =>
    sum(some.map((record) => encodeMessage({ kind: 'record', record, late: null }).length))
  const before = sum(
    balances.map((record) => `,"lamportsBefore":"${record.lamportsBefore}"`.length),
  )
  print(`\n${name}: ${events} events, ${balances.length} balances, ${links.length} token links\n`)
  printHead('bytes an event', 'all records', 'of them links')
  const all = logged(records)
  const each = (bytes: number) => (bytes / events).toFixed(1)
  printRow('on the log', each(all), each(logged(links) + before))
  const stored = await withStore((store) => storedBytes(store, records))
  printRow('stored', each(stored.all), each(stored.links))
}

/** Bytes on disk of all records, and of those that only the chains of links need. */
async function storedBytes(store: Store, records: readonly DecodedRecord[]) {
  const rows = new Map<Parameters<typeof insertDecodedRows>[1], Record<string, unknown>[]>()
  for (const record of records) {
    const [table, row] = decodedRow(record, null)
    const some = rows.get(table)
    if (some === undefined) rows.set(table, [row])
    else some.push(row)
  }
  for (const [table, some] of rows) {
    await insertDecodedRows(store, table, some)
    await store.command(`OPTIMIZE TABLE ${table} FINAL`)
  }
  const sizes = await store.query<{ name: string; column: string; bytes: number }>(
    `SELECT table AS name, column, toFloat64(sum(column_data_compressed_bytes)) AS bytes
     FROM system.parts_columns WHERE active AND database = currentDatabase() GROUP BY table, column`,
  )
  const parts = await store.query<{ name: string; bytes: number }>(
    `SELECT table AS name, toFloat64(sum(data_compressed_bytes)) AS bytes
     FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table`,
  )
  const wanted = parts.filter(({ name }) => [...rows.keys()].some((table) => table === name))
  const column = sizes.find(
    ({ name, column }) => name === 'sol_balances' && column === 'lamports_before',
  )
  const links = wanted.find(({ name }) => name === 'token_links')
  return {
    all: sum(wanted.map(({ bytes }) => bytes)),
    links: (links?.bytes ?? 0) + (column?.bytes ?? 0),
  }
}
