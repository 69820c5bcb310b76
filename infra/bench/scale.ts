import { loadavg } from 'node:os'
import type { Store } from '../../pipeline/store/store.ts'
import { GENESIS_MS, SLOT_MS } from '../simulator/market/slot-time.ts'
import { withClickHouse } from './kit/clickhouse.ts'
import { print, printHead, printRow, sum } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'
import { strangerOf } from './kit/stranger.ts'
import { fill, tableSizes } from './scale/fill.ts'

const USAGE = `npm run -s bench -- scale [options]

  --swaps N           stored swaps (100000000)
  --positions N       positions, open or closed (5000000)
  --wallets N         tracked wallets (250000)`

/**
 * The size of the tables of a service that has run for long: fills them, and prints their rows and
 * their bytes on disk.
 */
export async function run(args: readonly string[]): Promise<void> {
  const defaults = { swaps: 100_000_000, positions: 5_000_000, wallets: 250_000 }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return
  const { swaps, positions, wallets } = read.options
  const addresses = Array.from({ length: wallets }, (_, number) => strangerOf(number))
  await withClickHouse(async (store) => {
    const startedAt = performance.now()
    await fill(store, { swaps, positions, addresses, endSlot: slotOf(Date.now()) })
    const seconds = (performance.now() - startedAt) / 1000
    print(`tables filled in ${seconds.toFixed(0)} s, load average ${loadavg()[0]?.toFixed(1)}\n`)
    await printSizes(store)
  })
}

async function printSizes(store: Store): Promise<void> {
  const sizes = await tableSizes(store)
  const stored = sizes.find(({ table }) => table === 'swaps')?.rows ?? 0
  printHead('table', 'rows', 'MiB', 'bytes a swap')
  const row = (name: string, rows: number | string, bytes: number) =>
    printRow(name, rows, (bytes / 2 ** 20).toFixed(1), (bytes / stored).toFixed(1))
  for (const { table, rows, bytes } of sizes.slice(0, 12)) row(table, rows, bytes)
  row('all tables', '', sum(sizes.map(({ bytes }) => bytes)))
}

/** The newest slot of the simulator at a time, in unix milliseconds. */
function slotOf(ms: number): number {
  return Math.floor((ms - GENESIS_MS) / SLOT_MS) - 1
}
