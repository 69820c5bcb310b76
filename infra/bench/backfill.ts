import { once } from 'node:events'
import { request } from 'node:http'
import type { Address } from '../../pipeline/domain/address.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { createBackfills } from '../../pipeline/workers/backfill/backfills.ts'
import { trackWallets } from '../../pipeline/workers/ingest/track-wallets.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { startBenchFold } from './fold/worker.ts'
import { startMeter } from './kit/cpu.ts'
import { print } from './kit/figures.ts'
import { inFolder } from './kit/folder.ts'
import { readOptions } from './kit/options.ts'
import { forkBench } from './kit/processes.ts'

const USAGE = `npm run bench -- backfill [options]

  --wallets N       wallets whose history is fetched (250)
  --transactions N  of each, about (1000)
  --concurrency N   calls at once (16)
  --seconds N       how long each of the two clients may take (90)
  --fold            with the fold worker in the same process`

/**
 * RPC calls per second of a backfill, which decodes the responses and appends them to the log in
 * memory. Beside it, a bare client (fetch, as many at once) makes the same calls of a fresh server
 * and ignores the responses. `--seconds` bounds each of the two. With `--fold`, the fold worker
 * stores the records in the same process, as in one process of the service.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, {
    serve: false,
    wallets: 250,
    transactions: 1000,
    concurrency: 16,
    seconds: 90,
    fold: false,
  })
  if (read === null) return
  const { options } = read
  if (options.serve) return serve(options)

  const bodies: string[] = []
  const [first, second] = await Promise.all([openSource(options), openSource(options)])
  const ours = await withCpu(first, () =>
    inFolder((folder) => backfill(first, options, folder, bodies)),
  )
  first.close()
  const bare = await withCpu(second, () => replay(second, options, bodies))
  second.close()
  const perSecond = ({ calls, seconds }: Turn) => Math.round(calls / seconds)
  const counted = (turn: Turn & Cost) =>
    `${perSecond(turn)} calls/s (${turn.calls} in ${turn.seconds.toFixed(1)} s; CPU ${(turn.cpuMs / turn.calls).toFixed(2)} ms each, the server's ${(turn.serverCpuMs / turn.calls).toFixed(2)})`
  print(
    `backfill     ${counted(ours)}, ${Math.round(ours.transactions / ours.seconds)} transactions/s, ` +
      `${((60 * ours.wallets) / ours.seconds).toFixed(1)} wallets/min; ${ours.transactions} transactions, ${ours.wallets} wallets whole, RSS ${ours.rssMiB} MiB`,
  )
  print(`bare client  ${counted(bare)}`)
  print(`ratio        ${Math.round((100 * perSecond(ours)) / perSecond(bare))}%`)
}

interface Source {
  readonly rpcUrl: string
  readonly wallets: readonly Address[]
}

interface Turn {
  readonly calls: number
  readonly seconds: number
}

/** CPU time of this process and of the server in one round, without its setup and teardown. */
interface Cost {
  readonly cpuMs: number
  readonly serverCpuMs: number
}

interface Limits {
  readonly concurrency: number
  readonly seconds: number
  readonly fold: boolean
}

const SLOT = 405_000_000
/** Transactions of tracked wallets in a slot; each names about one of them. */
const PER_SLOT = 50

async function withCpu<T>(
  { serverCpuMs }: { serverCpuMs(): Promise<number> },
  turn: () => Promise<T>,
): Promise<T & Cost> {
  const serverBefore = await serverCpuMs()
  const meter = startMeter()
  const done = await turn()
  return {
    ...done,
    cpuMs: meter().cpuSeconds * 1000,
    serverCpuMs: (await serverCpuMs()) - serverBefore,
  }
}

/** The server, in a separate process. */
async function serve(size: { wallets: number; transactions: number }): Promise<void> {
  const simulator = await startSimulator({
    wallets: size.wallets,
    trackedPerSlot: PER_SLOT,
    othersPerSlot: 2,
    historySlots: Math.ceil((size.wallets * size.transactions) / PER_SLOT),
    clock: { kind: 'manual', startSlot: SLOT },
  })
  process.send?.({ rpcUrl: simulator.rpcUrl, wallets: simulator.wallets } satisfies Source)
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1000)
  })
  process.once('disconnect', () => process.exit(0))
}

/**
 * A fresh server that has computed its history: it does so at the first call, which takes half a
 * minute or more for 250,000 transactions.
 */
async function openSource(size: { wallets: number; transactions: number }) {
  const flags = ['--wallets', String(size.wallets), '--transactions', String(size.transactions)]
  const { child, message: source } = await forkBench<Source>(['backfill', '--serve', ...flags])
  const params = [source.wallets.at(-1), { commitment: 'confirmed' }]
  const question = { jsonrpc: '2.0', id: 1, method: 'getSignaturesForAddress', params }
  await new Promise<void>((resolve, reject) => {
    // `fetch` gives up after five minutes, which a busy machine may take.
    const asking = request(source.rpcUrl, { method: 'POST', headers: JSON_BODY }, (answer) =>
      answer.resume().once('end', resolve),
    )
    asking.once('error', reject).end(JSON.stringify(question))
  })
  return {
    ...source,
    async serverCpuMs() {
      child.send('cpu')
      const [ms]: number[] = await once(child, 'message')
      return ms ?? 0
    },
    close: () => child.disconnect(),
  }
}

const JSON_BODY = { 'content-type': 'application/json' }

/** Backfills all wallets, or as many as there is time for, and records the calls. */
async function backfill(source: Source, limits: Limits, folder: string, bodies: string[]) {
  const { fold } = limits
  const logger = createLogger('error')
  const store = await createStore({ kind: 'chdb', path: folder })
  await migrate(store)
  await trackWallets(store, source.wallets, 'the simulator')
  const log = createMemoryLog({ logger, registry: createRegistry() })
  const worker = fold ? await startBenchFold(store, log) : null
  const backfills = createBackfills({
    store,
    log,
    logger,
    rpcUrl: source.rpcUrl,
    logIsDurable: !fold,
    hasFold: fold,
    metrics: createIngestMetrics(createRegistry()),
    priceMaxAgeSeconds: 3600,
    concurrency: limits.concurrency,
    onRequest: (body) => bodies.push(body),
  })
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), limits.seconds * 1000)
  let progress = { wallets: 0, transactions: 0 }
  const began = performance.now()
  const numbers = source.wallets.map((_, at) => at + 1)
  const range = { fromSlot: null, toSlot: null }
  await backfills
    .run(numbers, range, over.signal, (told) => {
      progress = told
    })
    .catch((error: unknown) => {
      if (!over.signal.aborted) throw error
    })
  const seconds = (performance.now() - began) / 1000
  clearTimeout(timer)
  const rssMiB = Math.round(process.memoryUsage().rss / 1024 / 1024)
  backfills.close()
  await worker?.stop()
  await log.close()
  await store.close()
  return { calls: bodies.length, seconds, rssMiB, ...progress }
}

/** The same calls in order, as many at once, for as long. */
async function replay(source: Source, limits: Limits, bodies: readonly string[]): Promise<Turn> {
  let next = 0
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  const client = async () => {
    while (next < bodies.length && seconds() < limits.seconds) {
      const body = bodies[next++] ?? ''
      const response = await fetch(source.rpcUrl, { method: 'POST', headers: JSON_BODY, body })
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: limits.concurrency }, client))
  return { calls: next, seconds: seconds() }
}
