import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../pipeline/store/migrate.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newestWallet, readTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import { stopOnSignal } from '../operator/stop-on-signal.ts'
import { serversStatus, startServers, stopServers } from '../servers/servers.ts'
import { describeDifference, MAX_AGE_SECONDS } from '../simulate/compare.ts'
import { compareSample } from '../simulate/compare-sample.ts'
import { Customer } from '../whole-service/customer.ts'
import { emptyServers } from '../whole-service/deployment.ts'
import { type AtEnd, withEnd } from './kit/at-end.ts'
import { diskKiB } from './kit/disk.ts'
import { print, printHead, printRow, sum } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'
import { growingStages, untilStill } from './scale/backlog.ts'
import { confirmedSlot } from './scale/due.ts'
import { countOpen, fill, markComplete, tableSizes } from './scale/fill.ts'
import { copyFilled, forgetBalances, openFilled } from './scale/filled.ts'
import { trackedAddresses } from './scale/market-options.ts'
import { countSwaps, measureBurst, measureLoad } from './scale/measure.ts'
import { printReport } from './scale/report.ts'
import { type Rig, startRig } from './scale/rig.ts'

const USAGE = `npm run -s bench -- scale [options]

  --fill F            only: fills tables and prints their sizes; no: measures the service over the
                      tables that an earlier run has filled in DIR; yes: both (yes)
  --data DIR          folder of single servers (infra/servers), which are stopped at the end while
                      their data stay; by default a folder in TMPDIR that is removed
  --port-base N       first of four ports of the servers (26000)
of the tables:
  --swaps N           stored swaps (100000000)
  --positions N       positions, about half of which end open (10000000)
  --wallets N         tracked wallets; with --fill no, as many as were filled (250000)
of the load:
  --rate N            swaps a second (3000)
  --minutes N         how long (10)
  --answers N         REST requests a second (500)
  --sockets N         sockets of the feed: 10 take every trade, each other one those of 100 wallets
                      (1000)
  --burst N           swaps a second of the burst afterwards (10000)
  --burst-seconds N   its length; 0: no burst (10)
and afterwards:
  --compare N         wallets of which every answer of REST is compared with the slow reference, and
                      a twentieth as many tokens, once nothing is stored any more; 0: none (0)
  --seed N            which ones (1)

The data take some 100 GB with the defaults.`

const DEFAULTS = {
  fill: 'yes',
  data: '',
  'port-base': 26_000,
  swaps: 100_000_000,
  positions: 10_000_000,
  wallets: 250_000,
  rate: 3000,
  minutes: 10,
  answers: 500,
  sockets: 1000,
  burst: 10_000,
  'burst-seconds': 10,
  compare: 0,
  seed: 1,
}
type Options = typeof DEFAULTS

/**
 * The service at its full size: fills tables as of a service that has run for long, and prints
 * their sizes. Over a copy of them it runs a process of each role on single servers, with a
 * simulated market, REST requests at a constant rate and sockets, each a process of its own on the
 * same cores. Prints latencies, backlogs, memory, CPU and bytes, and how long a burst takes to
 * pass. Everything that it starts ends with it, also when it is interrupted.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, DEFAULTS)
  if (read === null) return
  const { options } = read
  const { fill, data, sockets, 'burst-seconds': burstSeconds, compare, ...positive } = options
  const areValid =
    ['only', 'no', 'yes'].includes(fill) &&
    [sockets, burstSeconds, compare].every((value) => value >= 0) &&
    Object.values(positive).every((value) => value > 0)
  if (!areValid) throw new Error(USAGE)
  await withEnd(stopOnSignal(), (atEnd) => fillAndMeasure(options, atEnd))
}

async function fillAndMeasure(options: Options, atEnd: AtEnd): Promise<void> {
  const { fill, 'port-base': portBase } = options
  const folder = mkdtempSync(join(tmpdir(), 'bench-scale-'))
  chmodSync(folder, 0o711) // the servers' users can enter it
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const data = options.data || join(folder, 'servers')
  atEnd(() => stopServers(data))
  const { CLICKHOUSE_URL = '' } = await startServers(data, { portBase, only: 'clickhouse' })
  const { store: filled, isComplete } = await openFilled(CLICKHOUSE_URL)
  atEnd(() => filled.close())
  if (fill === 'no' && !isComplete)
    throw new Error('--fill no: the tables of the folder are not filled; use --fill yes or only')
  if (fill !== 'no' && isComplete)
    throw new Error(`--fill ${fill}: the tables of the folder are filled; use --fill no`)
  if (fill !== 'no') await fillTables(filled, options)
  await printSizes(filled)
  if (fill !== 'only') await measure(filled, { ...options, data }, folder, atEnd)
}

async function fillTables(store: Store, { swaps, positions, wallets }: Options): Promise<void> {
  const startedAt = performance.now()
  const addresses = trackedAddresses(wallets)
  await fill(store, { swaps, positions, addresses, endSlot: confirmedSlot(Date.now()) })
  const seconds = (performance.now() - startedAt) / 1000
  print(`tables filled in ${seconds.toFixed(0)} s, load average ${loadavg()[0]?.toFixed(1)}\n`)
}

async function printSizes(store: Store): Promise<void> {
  const sizes = await tableSizes(store)
  const stored = sizes.find(({ table }) => table === 'swaps')?.rows ?? 0
  printHead('table', 'rows', 'MiB', 'bytes a swap')
  const row = (name: string, rows: number | string, bytes: number) =>
    printRow(name, rows, (bytes / 2 ** 20).toFixed(1), (bytes / stored).toFixed(1))
  for (const { table, rows, bytes } of sizes.slice(0, 12)) row(table, rows, bytes)
  row('all tables', '', sum(sizes.map(({ bytes }) => bytes)))
  print(`\nopen positions: ${await countOpen(store)}\n`)
}

async function measure(
  filled: Store,
  options: Options,
  folder: string,
  atEnd: AtEnd,
): Promise<void> {
  const { data, rate, burst, sockets, answers, minutes } = options
  const wallets = await newestWallet(filled)
  const addresses = trackedAddresses(wallets)
  if ((await readTrackedWallets(filled)).join() !== addresses.join())
    throw new Error('--fill no: the simulator has other wallets now; fill another folder')
  const servers = await emptyServers(await startServers(data))
  atEnd(() => servers.drop())
  const { store } = servers
  await migrate(store)
  await copyFilled(store)
  const slot = confirmedSlot(Date.now())
  await markComplete(store, slot)
  const kafka = join(data, 'kafka')
  const before = {
    slot,
    kafka: diskKiB(kafka),
    clickhouse: await bytesOf(store),
  }
  const size = { wallets, rate, burst }
  const rig = await startRig({ servers: servers.env, folder, addresses, size, sockets }, atEnd)
  await forgetBalances(store)
  const nodes = await serversStatus(data)
  const pids = new Map(nodes.flatMap(({ name, pid }) => (pid === null ? [] : [[name, pid]])))
  const watched = { store, folder, wallets, answers, minutes, servers: pids }
  const load = await measureLoad(rig, watched, atEnd)
  const swaps = await countSwaps(store, before.slot)
  const kafkaBytes = ((diskKiB(kafka) - before.kafka) * 1024) / swaps
  // The topic is made with the service.
  const stateBytes = (stateLogKiB(kafka) * 1024) / swaps
  const clickhouseBytes = ((await bytesOf(store)) - before.clickhouse) / swaps
  // A service that cannot keep up with the rate does not catch up after a burst.
  const keepsUp = growingStages(load.samples.map(({ backlog }) => backlog)).length === 0
  const hasBurst = keepsUp && options['burst-seconds'] > 0
  const burstFigures = hasBurst ? await measureBurst(rig, options['burst-seconds']) : null
  print(`load average ${loadavg()[0]?.toFixed(1)}\n`)
  printReport({ load, burst: burstFigures, kafkaBytes, stateBytes, clickhouseBytes })
  if (options.compare > 0) await compare(store, rig, { ...options, wallets })
}

/** Compares what REST answers about a sample, once the service stores nothing new. */
async function compare(
  store: Store,
  rig: Rig,
  options: { readonly wallets: number; readonly compare: number; readonly seed: number },
): Promise<void> {
  const now = await untilStill(rig)
  const startedAt = performance.now()
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(0)
  const { answers, differences } = await compareSample({
    store,
    customer: new Customer(rig.url, rig.key),
    wallets: options.wallets,
    size: options.compare,
    seed: options.seed,
    now,
    solPriceMaxAgeSeconds: MAX_AGE_SECONDS,
    tell: (done) => {
      if (done % 200 === 0) print(`${done} wallets compared after ${seconds()} s`)
    },
  })
  for (const difference of differences.slice(0, 10)) print(describeDifference(difference))
  print(`\n${answers} answers compared in ${seconds()} s, ${differences.length} differ`)
  if (differences.length > 0) throw new Error('answers differ from the slow reference')
}

/** The disk that the partitions of the log of states take. */
function stateLogKiB(kafka: string): number {
  const data = join(kafka, 'data')
  const partitions = readdirSync(data).filter((name) => name.includes('wallet-state-'))
  return sum(partitions.map((name) => diskKiB(join(data, name))))
}

async function bytesOf(store: Store): Promise<number> {
  return sum((await tableSizes(store)).map(({ bytes }) => bytes))
}
