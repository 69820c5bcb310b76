import type { Address } from '../../pipeline/domain/address.ts'
import { LIVE_START, type SlotMarker } from '../../pipeline/domain/slot.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { hasOpenBackfills, newJob } from '../../pipeline/store/tables/backfills.ts'
import { AutoBackfill } from '../../pipeline/workers/backfill/auto-backfill.ts'
import { createBackfills } from '../../pipeline/workers/backfill/backfills.ts'
import { startIngest } from '../../pipeline/workers/ingest/ingest.ts'
import { trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { startBenchFold } from './fold/worker.ts'
import { print } from './kit/figures.ts'
import { withStore } from './kit/folder.ts'
import { readOptions } from './kit/options.ts'
import { forkBench } from './kit/processes.ts'
import { strangerOf } from './kit/stranger.ts'

const USAGE = `npm run bench -- gap [options]

  --wallets N      tracked wallets, each with the gap (250000)
  --active N       of these, wallets that trade (500)
  --slots N        slots of the gap (3000)
  --per-second N   requests that the RPC server answers in a second (50)
  --sample N       trading and idle wallets of which the calls are counted before (0); the server
                   reads its whole history for an idle one, so take few slots
  --fill           instead, the gap that ingest fills itself before it goes on
  --seconds N      how long the gap may take (600)`

/**
 * Seconds until a gap of all tracked wallets is fetched, folded and closed, with an RPC server that
 * answers only so many requests a second, and the calls and bytes of RPC. With `--sample`, also
 * those of a wallet. The tables are embedded and the log is in memory, in this process; the server
 * is another one.
 */
export async function run(args: readonly string[]): Promise<void> {
  const defaults = {
    serve: false,
    fill: false,
    wallets: 250_000,
    active: 500,
    slots: 3000,
    sample: 0,
  }
  const read = readOptions(args, USAGE, { ...defaults, 'per-second': 50, seconds: 600 })
  if (read === null) return
  const { options } = read
  if (options.serve) return serve(options)
  const flags = ['active', 'slots', 'per-second'] as const
  const { child, message: source } = await forkBench<Source>([
    ...['gap', '--serve'],
    ...flags.flatMap((flag) => [`--${flag}`, String(options[flag])]),
  ])
  if (options.fill) await fill(source, options)
  else await withStore((store) => measure(store, source, options))
  child.disconnect()
}

/** The gap as ingest fills it after a disconnect, when the server replays nothing of it. */
async function fill(source: Source, size: { wallets: number; slots: number }): Promise<void> {
  const { endpoint, rpcUrl, pricePool, tip } = source
  const log = createMemoryLog({ logger: createLogger('error'), registry: createRegistry() })
  const began = performance.now()
  const ingest = await startIngest({
    config: { endpoint, xToken: null, rpcUrl, pricePool, priceMaxAgeSeconds: 3600 },
    wallets: createWallets(addressesOf(source, size.wallets)),
    log,
    logger: createLogger('warn'),
    registry: createRegistry(),
    limits: { recheckSlots: 0 },
    resumePoint: async () => ({ ...LIVE_START, checkpoint: markerOf(tip, size.slots) }),
  })
  while ((ingest.status()?.slot ?? 0) < tip.slot - REPLAYED)
    await new Promise((go) => setTimeout(go, 250))
  const seconds = (performance.now() - began) / 1000
  print(`ingest filled ${size.slots} slots for ${size.wallets} wallets in ${seconds.toFixed(0)} s`)
  await ingest.stop()
  await log.close()
}

/** The marker of the slot so many before the tip. */
function markerOf(tip: Source['tip'], slots: number): SlotMarker {
  const slot = tip.slot - slots
  return {
    slot,
    parent: slot - 1,
    blockTime: tip.blockTime,
    solPrice: null,
    blockId: null,
    finalized: null,
  }
}

/** The wallets that trade, and further ones. */
function addressesOf({ wallets }: Source, count: number): Address[] {
  return [...wallets, ...Array.from({ length: count - wallets.length }, (_, at) => strangerOf(at))]
}

interface Source {
  readonly endpoint: string
  readonly pricePool: Address
  readonly rpcUrl: string
  readonly wallets: readonly Address[]
  readonly tip: { readonly slot: number; readonly blockTime: number }
}

const SLOT = 405_000_000
/** Slots after the gap. */
const AFTER = 64
/** Slots that the stream can replay. */
const REPLAYED = 10

async function serve(size: { active: number; slots: number; 'per-second': number }) {
  const simulator = await startSimulator({
    wallets: size.active,
    trackedPerSlot: 4,
    othersPerSlot: 4,
    historySlots: size.slots + 1000,
    replaySlots: REPLAYED,
    clock: { kind: 'manual', startSlot: SLOT },
    rpcPerSecond: size['per-second'],
  })
  const { endpoint, rpcUrl, solPricePool: pricePool, wallets, market } = simulator
  const { confirmedSlot: slot } = simulator
  const tip = { slot, blockTime: market.timeOf(slot) }
  process.send?.({ endpoint, rpcUrl, pricePool, wallets, tip } satisfies Source)
  process.once('disconnect', () => process.exit(0))
}

async function measure(
  store: Store,
  source: Source,
  size: { wallets: number; slots: number; sample: number; seconds: number },
): Promise<void> {
  const addresses = addressesOf(source, size.wallets)
  await trackWallets(store, addresses, 'the bench')
  const log = createMemoryLog({ logger: createLogger('error'), registry: createRegistry() })
  const fold = await startBenchFold(store, log)
  const metrics = createIngestMetrics(createRegistry())
  const logger = createLogger('warn')
  const calls = new Map<string, number>()
  let bodies: string[] = []
  const backfills = createBackfills({
    store,
    log,
    logger,
    metrics,
    logIsDurable: false,
    priceMaxAgeSeconds: 3600,
    rpcUrl: source.rpcUrl,
    onRequest(body) {
      const { method } = JSON.parse(body) as { method: string }
      calls.set(method, (calls.get(method) ?? 0) + 1)
      if (bodies.length < 200) bodies.push(body)
    },
  })
  const range = { fromSlot: SLOT - AFTER - size.slots + 1, toSlot: SLOT - AFTER }
  const gapOf = (_: Address, at: number) => newJob(at + 1, 'gap', range, Date.now())
  const stop = new AbortController()

  const byWallet = async (name: string, first: number) => {
    calls.clear()
    bodies = []
    for (let wallet = first; wallet < first + size.sample; wallet++) {
      const [address, job] = [addresses[wallet - 1]!, newJob(wallet, 'gap', range, Date.now())]
      await backfills.runJob({ job, address, liveSlot: 0 }, stop.signal)
    }
    const each = count(calls) / size.sample
    const bytes = await bytesOf(source, bodies)
    print(
      `by wallet, ${name.padEnd(8)} ${each.toFixed(1)} calls a wallet, ${Math.round(bytes)} bytes a call`,
    )
  }
  if (size.sample > 0) {
    await byWallet('trading', 1)
    await byWallet('idle', addresses.length - size.sample + 1)
  }

  calls.clear()
  bodies = []
  await backfills.jobs.save(addresses.map(gapOf))
  const onBug = (error: unknown) => {
    throw error
  }
  const auto = new AutoBackfill({ store, backfills, metrics, logger, onBug })
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  await auto.begin(source.tip)
  while ((await hasOpenBackfills(store)) && seconds() < size.seconds)
    await new Promise((go) => setTimeout(go, 250))
  const took = seconds()
  const isOpen = await hasOpenBackfills(store)
  const list = [...calls].map(([method, times]) => `${method} ${times}`).join(', ')
  print(`all ${addresses.length} wallets, ${size.slots} slots: ${list}`)
  print(`  ${isOpen ? 'NOT closed' : 'closed'} after ${took.toFixed(0)} s`)
  const blocks = bodies.filter((body) => body.includes('"getBlock"'))
  print(`  ${Math.round(await bytesOf(source, blocks))} bytes a block`)
  print(`  RSS ${Math.round(process.memoryUsage().rss / 1024 / 1024)} MiB`)
  await auto.close()
  backfills.close()
  await fold.stop()
  await log.close()
}

const count = (calls: ReadonlyMap<string, number>) =>
  [...calls.values()].reduce((sum, times) => sum + times, 0)

/** Mean size in bytes of the answers to at most 40 of the requests, which are repeated slowly. */
async function bytesOf(source: Source, bodies: readonly string[]): Promise<number> {
  const some = bodies.filter((_, at) => at % Math.ceil(bodies.length / 40) === 0)
  let bytes = 0
  for (const body of some) {
    const headers = { 'content-type': 'application/json' }
    for (;;) {
      const answer = await fetch(source.rpcUrl, { method: 'POST', headers, body })
      const text = await answer.text()
      if (answer.status === 200) {
        bytes += Buffer.byteLength(text)
        break
      }
      await new Promise((go) => setTimeout(go, 1000))
    }
  }
  return bytes / Math.max(1, some.length)
}
