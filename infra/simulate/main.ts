import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { readOptions } from '../bench/kit/options.ts'
import { interruption, stopOnSignal } from '../operator/stop-on-signal.ts'
import { startServers, stopServers } from '../servers/servers.ts'
import { mountSmallDisks } from '../servers/small-disks.ts'
import { describeDifference } from './compare.ts'
import { describeHealing, type Healed } from './healing.ts'
import { EXTRAS, type RunOptions, type RunResult, runSimulation } from './run.ts'
import { describeSilences, type Silence } from './silence.ts'
import { PACES } from './test-bed.ts'

const USAGE = `npm run -s simulate -- [options]

  --seed N        what the market does and what is done to the service (1)
  --seeds A-B     one run after the other
  --jobs N        as many runs at once (1); not with --servers
  --hours H       hours of the market, as fast as the service takes them (0.1)
  --pace P        how the market runs: busy; calm, with few trades and actions; or minutes, with a block a minute, in which a day takes about three minutes (busy)
  --packages DIR  programs follow the feed too, with the packages that clients/check.sh installed there
  --also LIST     of backfill (the operator's command), wallet (one more by SIGHUP), absence (over 3,000 slots), omissions (the stream leaves transactions out), reversals (confirmed blocks that never become final)
  --port-base P   first of the ports of those servers (29000, or what the folder was last used with)
  --servers DIR   three processes on the real servers of this folder (infra/servers), which are ended and started too; else one process
  --cluster       two processes of each role, and clusters of servers on small disks, in a folder of their own or that of --servers; needs root`

const SHOWN = 2
/** Of each server of a cluster. */
const DISK_MB = 1500

/** Runs one seed or several. Exits with 0 when every table of every run was right. */
async function main(): Promise<number> {
  const beganAt = Date.now()
  const read = readOptions(process.argv.slice(2), USAGE, {
    seed: '1',
    seeds: '',
    jobs: 1,
    hours: 0.1,
    servers: '',
    cluster: false,
    also: '',
    pace: 'busy',
    packages: '',
    'port-base': 0,
  })
  if (read === null) return 0
  const { jobs, hours, also: extras, cluster, 'port-base': portBase } = read.options
  const [first = Number.NaN, last = first] = (read.options.seeds || read.options.seed)
    .split('-')
    .map(Number)
  if (!Number.isInteger(first) || !Number.isInteger(last) || !(hours > 0)) throw new Error(USAGE)
  const hasServers = cluster || read.options.servers !== ''
  if (!(jobs >= 1) || (hasServers && jobs > 1)) throw new Error(USAGE)
  const asked = extras.split(',').filter((name) => name !== '')
  const also = new Set(EXTRAS.filter((name) => asked.includes(name)))
  if (also.size !== asked.length || read.words.length > 0) throw new Error(USAGE)
  const pace = PACES.find((name) => name === read.options.pace)
  if (pace === undefined) throw new Error(USAGE)
  const isOwn = cluster && read.options.servers === ''
  const servers = isOwn ? mkdtempSync(join(tmpdir(), 'cluster-')) : read.options.servers || null
  const failed: number[] = []
  const healed: Healed[] = []
  const limit = pLimit(jobs)
  const silences: Silence[] = []
  const every = {
    hours,
    serversDir: servers,
    isCluster: cluster,
    pace,
    packages: read.options.packages || null,
    also,
  }
  const runOne = async (one: number) => {
    const run = await runSeed({ ...every, seed: one })
    if (!run.isRight) failed.push(one)
    healed.push(...run.healed)
    silences.push(...run.silences)
  }
  const seeds = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const interrupted = interruption(stopOnSignal())
  const runAll = () =>
    Promise.race([interrupted, Promise.all(seeds.map((one) => limit(runOne, one)))])
  try {
    if (servers === null) await runAll()
    else await withServers(servers, { cluster, ...(portBase !== 0 && { portBase }) }, runAll)
  } finally {
    if (isOwn && servers !== null) rmSync(servers, { recursive: true })
  }
  const seconds = ((Date.now() - beganAt) / 1000).toFixed(0)
  const told = failed.length === 0 ? 'every seed is right' : `failing seeds: ${failed.join(', ')}`
  if (also.has('omissions') && seeds.length > 1)
    for (const line of describeHealing(healed)) process.stdout.write(`${line}\n`)
  // Without a cluster the market does not go on at the pace of a clock.
  if (cluster) for (const line of describeSilences(silences)) process.stdout.write(`${line}\n`)
  process.stdout.write(`${told}; ${seconds} s\n`)
  return failed.length === 0 ? 0 : 1
}

/** Does `work` while the servers of a folder run. Those of a cluster have small disks. */
async function withServers(
  dir: string,
  options: { readonly cluster: boolean; readonly portBase?: number },
  work: () => Promise<unknown>,
): Promise<void> {
  await stopServers(dir)
  const unmount = options.cluster ? mountSmallDisks(dir, { ...options, mb: DISK_MB }) : () => {}
  try {
    await startServers(dir, options)
    await work()
  } finally {
    await stopServers(dir)
    unmount()
  }
}

async function runSeed(
  options: Omit<RunOptions, 'tell'>,
): Promise<Pick<RunResult, 'healed' | 'silences'> & { readonly isRight: boolean }> {
  const { seed, hours, serversDir, isCluster, pace, packages = null, also } = options
  const beganAt = Date.now()
  const tell = (line: string) => process.stdout.write(`seed ${seed}: ${line}\n`)
  const repeat = [
    `npm run -s simulate -- --seed ${seed} --hours ${hours}`,
    ...(serversDir === null ? [] : [`--servers ${serversDir}`]),
    ...(isCluster ? ['--cluster'] : []),
    ...(pace === 'busy' ? [] : [`--pace ${pace}`]),
    ...(packages === null ? [] : [`--packages ${packages}`]),
    ...(also.size === 0 ? [] : [`--also ${[...also].join(',')}`]),
  ].join(' ')
  const where =
    serversDir === null
      ? 'one process'
      : isCluster
        ? 'two processes of each role on clusters'
        : 'a process of each role on real servers'
  tell(`${hours} hours of the market, ${where}`)
  const result: RunResult = await runSimulation({ ...options, tell }).catch((error: unknown) => ({
    differences: [],
    faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    rows: {},
    healed: [],
    silences: [],
  }))
  const { differences, faults, rows, healed, silences } = result
  const seconds = ((Date.now() - beganAt) / 1000).toFixed(1)
  const counts = Object.entries(rows).map(([table, count]) => `${table} ${count}`)
  if (differences.length === 0 && faults.length === 0) {
    tell(`every table is right (${counts.join(', ')}) after ${seconds} s`)
    return { isRight: true, healed, silences }
  }
  for (const fault of faults) tell(`FAULT ${fault}`)
  const tables = new Set(differences.map(({ table }) => table))
  for (const table of tables) {
    const own = differences.filter((difference) => difference.table === table)
    tell(`${table}: ${own.length} rows of ${rows[table] ?? 'some'} differ from the truth`)
    for (const difference of own.slice(0, SHOWN)) tell(`  ${describeDifference(difference)}`)
  }
  tell(`FAILED after ${seconds} s; again: ${repeat}`)
  return { isRight: false, healed, silences }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  },
)
