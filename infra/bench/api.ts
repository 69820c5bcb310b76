import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { type ServiceProcess, startProcess } from '../whole-service/service-process.ts'
import { chargeFor } from './api/charges.ts'
import { type Load, type LoadOptions, load } from './api/load.ts'
import { type PathValues, requestMix, SOME_MINTS } from './api/mix.ts'
import { measureNeighbours } from './api/neighbours.ts'
import { measureOpenLoop } from './api/open-loop.ts'
import { mintOf } from './api/seed.ts'
import { measureStart } from './api/start.ts'
import { walkTrades } from './api/walk.ts'
import { cpuSeconds } from './kit/cpu.ts'
import { median, percentiles, print, printHead, printRow } from './kit/figures.ts'
import { inFolder } from './kit/folder.ts'
import { type Mode, readModes, withMode } from './kit/modes.ts'
import { readOptions } from './kit/options.ts'
import { residentMiB } from './kit/resident.ts'
import { withServers } from './kit/servers.ts'
import { startOptions } from './kit/start-options.ts'

const USAGE = `npm run bench -- api [PART ...] [options]

  PART            mix, page, walk, charges, neighbours, memory, start (the first four when none is
                  named)
  --mode M        embedded, servers or cluster, or several with commas between (embedded,servers)
  --swaps N       swaps stored (10000000; for the walk 200000 at most)
  --seconds N     how long each turn of load lasts (10)
  --rounds N      turns of the service and of the bare route, one after the other (3)
  --minutes N     how long memory is watched (10)
  --positions N   open positions of a start, of 250,000 wallets (5000000)`

/**
 * Responses of the API a second and their latency, with authentication, credits and limits on.
 * Beside it: a bare Koa route that serves the same bytes in the same run; a page of swaps that no
 * cache has; a read of all pages of trades while 1,000 per second are stored; charges per second of
 * the meter on Redis alone; the latency of other customers while one floods; memory under load; a
 * start with many open positions. Then the mix at a constant rate: half the measured answers a
 * second, as many, and twice as many. Service and clients are processes on the same cores.
 */
export async function run(args: readonly string[]): Promise<void> {
  const defaults = {
    mode: 'embedded,servers',
    swaps: 10_000_000,
    seconds: 10,
    rounds: 3,
    minutes: 10,
    positions: 5_000_000,
  }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return
  const { options, words } = read
  const modes = readModes(options.mode, ['embedded', 'servers', 'cluster'])
  if (modes === null) return print(USAGE)
  const parts = words.length > 0 ? words : ['mix', 'page', 'walk', 'charges']
  if (parts.includes('start')) await measureStart(options.positions)
  for (const mode of modes) {
    const stored = options.swaps
    if (parts.includes('neighbours'))
      await withService(
        mode,
        { stored, perSlot: 4 },
        async (service) => {
          print(`\n${mode}: ${stored} swaps stored in ${service.seeded} s, more every 400 ms`)
          const [after = ''] = (await known(service)).cursors
          await measureNeighbours({ ...service, mints, after }, options.seconds)
        },
        { TRUSTED_PROXIES: '1', ACCOUNTS: '6' },
      )
    if (parts.some((part) => ['mix', 'page', 'memory'].includes(part)))
      await withService(mode, { stored, perSlot: 4 }, async (service) => {
        print(`\n${mode}: ${stored} swaps stored in ${service.seeded} s, more every 400 ms`)
        if (parts.includes('mix')) await measureMix(service, options)
        if (parts.includes('page')) await measurePage(service)
        if (parts.includes('memory')) await watchMemory(service, options.minutes)
      })
    if (parts.includes('walk'))
      await withService(mode, { stored: Math.min(stored, MOST_WALKED), perSlot: 400 }, walk)
    if (parts.includes('charges') && mode !== 'embedded')
      await withServers(async ({ REDIS_URL }) => {
        const { perSecond, cpuUs } = await chargeFor(options.seconds, REDIS_URL ?? '')
        print(
          `${mode}: ${perSecond.toFixed(0)} charges a second on Redis, ${cpuUs.toFixed(1)} us of CPU each beside Redis' own, load ${loadavg()[0]?.toFixed(1)}`,
        )
      }, mode)
  }
}

const MOST_WALKED = 200_000
/** Limits that no client reaches. They cost as much CPU as real limits. */
const HIGH_LIMITS = {
  RATE_LIMIT_PER_MINUTE: '10000000',
  ACCOUNT_RATE_LIMIT_PER_MINUTE: '10000000',
  ACCOUNT_CONCURRENT_REQUESTS: '10000',
  MAX_CONNECTIONS_PER_ADDRESS: '0',
}
/** Both servers have the options of `npm start`. */
const NODE_OPTIONS = startOptions()

interface Service {
  readonly mode: Mode
  readonly url: string
  readonly key: string
  /** API keys of all accounts. */
  readonly keys: readonly string[]
  readonly seeded: string
  readonly process: ServiceProcess
  readonly folder: string
}

/**
 * Starts a service over its own store with a number of swaps, which stores more of them every 400
 * ms.
 */
async function withService(
  mode: Mode,
  swaps: { readonly stored: number; readonly perSlot: number },
  use: (service: Service) => Promise<void>,
  settings: Readonly<Record<string, string>> = HIGH_LIMITS,
): Promise<void> {
  return withMode(mode, (env) => inFolder((folder) => serve(folder, env)))

  async function serve(folder: string, env: Readonly<Record<string, string>>): Promise<void> {
    const serveEnv = {
      SECRET_KEY: randomBytes(32).toString('hex'),
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      METRICS_PORT: '0',
      ...settings,
      ...env,
      SWAPS: String(swaps.stored),
      SWAPS_PER_SLOT: String(swaps.perSlot),
    }
    const started = startProcess('infra/bench/api/serve.js', serveEnv, [], NODE_OPTIONS)
    try {
      const seeded = await started.line('seeded')
      const keys = (await started.line('keys')).split(',')
      const [key = ''] = keys
      await use({
        mode,
        process: started,
        folder,
        seeded,
        key,
        keys,
        url: await started.line('url'),
      })
    } finally {
      await started.stop()
    }
  }
}

/** As the rows are generated (`seed.ts`). */
const mints = SOME_MINTS.map(mintOf)

async function ask({ url, key }: Service, path: string): Promise<string> {
  // Not compressed, as in the mix: a page of 40 KB costs the service, and this process, 2 ms.
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' }
  const answer = await fetch(`${url}${path}`, { headers })
  const body = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body}`)
  return body
}

async function known(service: Service): Promise<PathValues> {
  const cursors: string[] = []
  let cursor = ''
  for (let page = 0; page < 20; page++) {
    const body = await ask(service, `/trades?limit=100${cursor && `&cursor=${cursor}`}`)
    cursor = (JSON.parse(body) as { next_cursor: string }).next_cursor // millions are stored
    cursors.push(cursor)
  }
  return { mints, cursors }
}

const CONNECTIONS = 128

async function measureMix(service: Service, options: { seconds: number; rounds: number }) {
  const paths = requestMix(2000, await known(service))
  const answers: Record<string, string> = {}
  for (const path of paths) answers[path] ??= await ask(service, path)
  const file = join(service.folder, 'answers.json')
  writeFileSync(file, JSON.stringify(answers))
  const bare = startProcess('infra/bench/api/bare.js', { ANSWERS: file }, [], NODE_OPTIONS)
  const turn = { paths, seconds: options.seconds, connections: CONNECTIONS, key: service.key }
  const bareUrl = await bare.line('url')
  const measured = { ours: [] as Turn[], theirs: [] as Turn[] }
  for (const url of [service.url, bareUrl]) await load({ ...turn, url, seconds: 3 }) // to warm up
  for (let round = 0; round < options.rounds; round++) {
    const a = await loadProcess(service.process, { ...turn, url: service.url })
    const b = await loadProcess(bare, { ...turn, url: bareUrl })
    if (a.failed > 0) {
      const told = `${a.failed} answers of the service failed: ${JSON.stringify(a.statuses)}`
      throw new Error(`${told}\n${service.process.stderr().slice(-5000)}`)
    }
    measured.ours.push(a)
    measured.theirs.push(b)
    print(
      `  round ${round + 1}: ${a.perSecond.toFixed(0)} against ${b.perSecond.toFixed(0)} answers/s, load ${loadavg()[0]?.toFixed(1)}`,
    )
  }
  await bare.stop()
  const [ours, theirs] = [mediansOf(measured.ours), mediansOf(measured.theirs)]
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(0)}%`
  printHead('mix of 90% hot answers', 'answers/s', 'of the bare route', 'CPU us each')
  for (const [name, turns] of [
    ['bare Koa route, same bytes', theirs],
    [`the service, ${service.mode}`, ours],
  ] as const) {
    const ofBare = percent(turns.perSecond, theirs.perSecond)
    printRow(name, turns.perSecond.toFixed(0), ofBare, turns.cpuUs.toFixed(0))
  }
  await measureOpenLoop(service, { paths, seconds: options.seconds, capacity: ours.perSecond })
}

interface Turn extends Load {
  /** Microseconds of CPU of the server for each response. */
  readonly cpuUs: number
}

async function loadProcess(server: ServiceProcess, options: LoadOptions): Promise<Turn> {
  const { pid = 0 } = server.child
  const before = cpuSeconds(pid)
  const turn = await load(options)
  return { ...turn, cpuUs: ((cpuSeconds(pid) - before) * 1e6) / (turn.ok + turn.failed) }
}

function mediansOf(turns: readonly Turn[]) {
  return {
    perSecond: median(turns.map(({ perSecond }) => perSecond)),
    cpuUs: median(turns.map(({ cpuUs }) => cpuUs)),
  }
}

/**
 * Pages of `/tokens/{mint}/swaps`, one after the other, each of another mint, so that none is
 * cached.
 */
async function measurePage(service: Service): Promise<void> {
  const times: number[] = []
  for (const mint of mints.slice(0, 500)) {
    const started = performance.now()
    await ask(service, `/tokens/${mint}/swaps`)
    times.push(performance.now() - started)
  }
  const [p50, p99] = percentiles(times, 0.5, 0.99).map((ms) => ms.toFixed(1))
  print(`${service.mode}: uncached page of /tokens/{mint}/swaps: p50 ${p50} ms, p99 ${p99} ms`)
}

async function walk(service: Service): Promise<void> {
  const { pages, seconds, inserted, walked, skipped, repeated } = await walkTrades((path) =>
    ask(service, path),
  )
  print(
    `${service.mode}: a walk of /trades to its end, ${pages} pages in ${seconds.toFixed(1)} s: ${inserted} swaps inserted meanwhile (${(inserted / seconds).toFixed(0)} a second), ` +
      `${walked} walked, ${skipped} skipped, ${repeated} repeated`,
  )
  if (skipped + repeated > 0) process.exitCode = 1
}

async function watchMemory(service: Service, minutes: number): Promise<void> {
  const paths = requestMix(2000, await known(service))
  for (let minute = 0; minute <= minutes; minute++) {
    const { perSecond } = await load({
      paths,
      connections: CONNECTIONS,
      url: service.url,
      key: service.key,
      seconds: minute === 0 ? 10 : 60,
    })
    const mib = residentMiB(service.process.child.pid ?? 0)
    print(`minute ${minute}: ${mib} MiB at ${perSecond.toFixed(0)} answers/s`)
  }
}
