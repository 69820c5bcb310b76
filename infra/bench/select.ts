import { createWallets } from '../../pipeline/domain/wallets.ts'
import { cuckooFilterOf } from '../../pipeline/ingest/stream/cuckoo-filter.ts'
import { subscribeRequest } from '../../pipeline/ingest/stream/subscribe-request.ts'
import { createWalletFilter } from '../../pipeline/ingest/stream/wallet-filter.ts'
import { openUpdateStream } from '../../pipeline/ingest/stream/yellowstone.ts'
import { readTransactionUpdate } from '../../pipeline/ingest/wire/read-transaction-update.ts'
import { readEnvelope } from '../../pipeline/ingest/wire/update-envelope.ts'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { startMeter } from './kit/cpu.ts'
import { median, print } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'
import { strangerOf } from './kit/stranger.ts'

const USAGE = `npm run bench -- select [options]

  --wallets N   tracked wallets, none of which trades (250000)
  --slots N     slots of the market (100)
  --rounds N    rounds over their transactions (20)`

/**
 * Cost of the selection of transactions in ingest: memory of the wallets, CPU time of a transaction
 * of the whole stream that is dropped (beside what reading it without decoding costs), and size and
 * time of a cuckoo filter. Run it with `node --expose-gc` for exact bytes.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { wallets: 250_000, slots: 100, rounds: 20 })
  if (read === null) return
  const { wallets: count, slots, rounds } = read.options
  const addresses = Array.from({ length: count }, (_, at) => strangerOf(at))
  const before = memory()
  const wallets = createWallets(addresses)
  print(`${count} wallets take ${((memory() - before) / 2 ** 20).toFixed(1)} MiB beside their list`)

  const updates = await updatesOf(slots)
  const filter = createWalletFilter(() => wallets)
  const contenders = [
    { name: 'dropped by the filter', use: (update: Uint8Array) => filter.judge(update) },
    { name: 'readEnvelope', use: readEnvelope },
    { name: 'readTransactionUpdate', use: readTransactionUpdate },
  ]
  const times = contenders.map((): number[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [at, { use }] of contenders.entries()) {
      const meter = startMeter()
      for (const update of updates) use(update)
      times[at]!.push((meter().cpuSeconds * 1e9) / updates.length)
    }
  for (const [at, { name }] of contenders.entries())
    print(`${name.padEnd(24)} ${Math.round(median(times[at]!))} ns a transaction`)

  const meter = startMeter()
  const { data } = cuckooFilterOf(wallets)
  print(`cuckoo filter of ${data.length} bytes in ${Math.round(meter().seconds * 1000)} ms`)
}

/** The updates of all transactions of some slots of the market. */
async function updatesOf(slots: number): Promise<Uint8Array[]> {
  const startSlot = 405_000_000
  const clock = { kind: 'manual', startSlot } as const
  const simulator = await startSimulator({ clock, trackedPerSlot: 5, othersPerSlot: 5 })
  simulator.advance(slots)
  const updates = await readAll(simulator, startSlot + 1)
  await simulator.close()
  return updates
}

function readAll(simulator: Simulator, fromSlot: number): Promise<Uint8Array[]> {
  const last = simulator.confirmedSlot
  const updates: Uint8Array[] = []
  return new Promise((resolve, reject) => {
    void openUpdateStream({
      endpoint: simulator.endpoint,
      xToken: null,
      request: subscribeRequest({
        wallets: createWallets(simulator.wallets),
        accounts: [],
        fromSlot,
        selection: 'whole',
      }),
      onUpdate(bytes) {
        const envelope = readEnvelope(bytes)
        if (envelope?.kind === 'transaction') updates.push(bytes)
        if (envelope?.kind === 'slot' && envelope.slot >= last) resolve(updates)
      },
      onEnd: ({ kind }) => reject(new Error(`the stream ended: ${kind}`)),
    })
  })
}

function memory(): number {
  for (let turn = 0; turn < 2; turn++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
