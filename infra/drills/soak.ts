import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import bs58 from 'bs58'
import { diskKiB } from '../bench/kit/disk.ts'
import { median, print, printHead, printRow } from '../bench/kit/figures.ts'
import { readOptions } from '../bench/kit/options.ts'
import { residentMiB } from '../bench/kit/resident.ts'
import { serversStatus, startServers } from '../servers/servers.ts'
import { CALM_MARKET } from '../simulator/market/sizes.ts'
import { type ContractTrade, Customer } from '../whole-service/customer.ts'
import { type Deployment, deploy, emptyServers } from '../whole-service/deployment.ts'
import { Follower } from '../whole-service/follower.ts'
import { freePort } from '../whole-service/free-port.ts'
import { ROOT, startProcess } from '../whole-service/service-process.ts'
import { Fleet } from './kit/fleet.ts'
import { runOperator } from './kit/run-operator.ts'

const USAGE = `npm run -s drill -- soak --data DIR [options]

Runs two processes of each role on a cluster, over many times the trades of the market that npm
start has, with a follower on each API. Prints the longest lag of an API, the memory of each process
and the disk of each server every few minutes. Exits with 1 if a process of the service grows after
the first quarter, the lag grows, a process ends, a follower got other trades than those of
GET /trades, or credits do not add up.

  --data DIR     folder of a cluster (infra/servers); left running
  --minutes N    how long (120)
  --times N      transactions, in times those of npm start (10)
  --every N      seconds between two lines (120)`

/** The median of the last quarter may be this much above that of the second one. */
const MAX_GROWTH = 1.15
const MAX_LAG_SECONDS = 30
/** From the second quarter to the last one. */
const MAX_LAG_GROWTH_SECONDS = 2
const GRANTED = 1_000_000_000
/** Usage is rolled up within a second. */
const ROLL_UP_MS = 3000

/** What was measured at one time. */
interface Sample {
  readonly minute: number
  readonly lag: number
  /** MiB by process or server. */
  readonly memory: ReadonlyMap<string, number>
  readonly disk: ReadonlyMap<string, number>
}

/** Runs the drill. Returns whether nothing grew that must not. */
export async function run(args: readonly string[]): Promise<boolean> {
  const defaults = { data: '', minutes: 120, times: 10, every: 120 }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return true
  const { data, minutes, times, every } = read.options
  if (data === '') throw new Error(USAGE)
  const folder = mkdtempSync(join(tmpdir(), 'soak-'))
  const servers = await emptyServers(await startServers(data, { cluster: true }))
  const simulator = startProcess('infra/simulator/main.js', {}, [
    ...['--wallets-file', join(folder, 'wallets.txt')],
    ...['--tracked-per-slot', String(times * CALM_MARKET.trackedPerSlot)],
    ...['--others-per-slot', String(times * CALM_MARKET.othersPerSlot)],
  ])
  await simulator.line('WALLETS_FILE')
  const deployment = await deploy('embedded', [], {
    ...servers.env,
    ...Object.fromEntries(simulator.lines),
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
  })
  const fleet = await Fleet.create(deployment.env)
  try {
    for (const member of fleet.members) {
      fleet.start(member, ROOT)
      await fleet.answers(member)
    }
    const urls = await Promise.all(
      fleet.of('api').map(async ({ process }) => (await process?.line('url')) ?? ''),
    )
    // An account has one connection at a time.
    const accounts = [await createAccount(deployment), await createAccount(deployment)]
    const followers = accounts.map(
      ({ key }, place) => new Follower(new Customer(urls[place] ?? '', key)),
    )
    for (const member of fleet.members) await fleet.ready(member)
    const from = unixSeconds() + MAX_LAG_SECONDS
    const samples = await watch(fleet, data, urls, { minutes, every })
    const to = unixSeconds() - MAX_LAG_SECONDS
    await Promise.all(followers.map((follower) => follower.stop()))
    await delay(ROLL_UP_MS)
    const reader = new Customer(urls[0] ?? '', (await createAccount(deployment)).key)
    const stored = await reader.walkTrades()
    const faults = [...growing(samples), ...differing(followers, stored.trades, { from, to })]
    for (const [place, { wallet }] of accounts.entries()) {
      const sent = followers[place]?.allIds().length ?? 0
      const shown = await runOperator(deployment, 'account', 'show', '--wallet', wallet)
      const paid = GRANTED - Number(shown.balance_credits)
      print(`${sent} trades sent by API ${place + 1}, ${paid} credits paid`)
      if (sent === 0) faults.push(`API ${place + 1} sent no trade`)
      if (paid !== sent) faults.push(`a customer pays ${paid} credits for ${sent} trades`)
    }
    print(`${fleet.takeovers} takeovers of ingest without need`)
    faults.push(...(await deployment.ledgerFaults()), ...(await fleet.stop()))
    for (const fault of faults) print(`FAULT ${fault}`)
    return faults.length === 0
  } finally {
    await fleet.close()
    await deployment.remove()
    await simulator.stop()
    await servers.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function createAccount(deployment: Deployment) {
  const wallet = bs58.encode(randomBytes(32))
  const args = ['account', 'create', '--wallet', wallet, '--credits', String(GRANTED)]
  return { wallet, key: String((await runOperator(deployment, ...args)).api_key) }
}

/** Takes samples, and prints each. */
async function watch(
  fleet: Fleet,
  data: string,
  urls: readonly string[],
  { minutes, every }: { readonly minutes: number; readonly every: number },
): Promise<Sample[]> {
  const samples: Sample[] = []
  const startedAt = Date.now()
  for (let n = 0; Date.now() - startedAt < minutes * 60_000; n += 1) {
    for (const at = startedAt + n * every * 1000; Date.now() < at; await delay(1000))
      fleet.supervise()
    const sample = await takeSample(fleet, data, urls, startedAt)
    if (n === 0)
      printHead(
        'minute',
        'lag s',
        ...[...sample.memory.keys()].map((name) => `${name} MiB`),
        ...[...sample.disk.keys()].map((name) => `${name} disk MiB`),
      )
    printRow(sample.minute, sample.lag, ...sample.memory.values(), ...sample.disk.values())
    samples.push(sample)
  }
  return samples
}

async function takeSample(
  fleet: Fleet,
  data: string,
  urls: readonly string[],
  startedAt: number,
): Promise<Sample> {
  const lags = await Promise.all(
    urls.map(async (url) => {
      const response = await fetch(`${url}/status`)
      return ((await response.json()) as { lag_seconds: number }).lag_seconds // rule J4
    }),
  )
  const nodes = await serversStatus(data)
  const memory = new Map<string, number>()
  for (const [place, { role, process }] of fleet.members.entries())
    memory.set(`${role} ${1 + (place % 2)}`, residentMiB(process?.child.pid ?? 0))
  for (const { name, pid } of nodes) if (pid !== null) memory.set(name, residentMiB(pid))
  const disk = new Map(
    nodes
      .filter(({ name }) => !/proxy|sentinel/.test(name))
      .map(({ name }) => [name, Math.ceil(diskKiB(join(data, name)) / 1024)]),
  )
  return {
    minute: Math.round((Date.now() - startedAt) / 60_000),
    lag: Math.max(...lags),
    memory,
    disk,
  }
}

/** What grows after the first quarter of the time. */
function growing(samples: readonly Sample[]): string[] {
  const quarter = (n: number) =>
    samples.slice(Math.floor((samples.length * n) / 4), Math.ceil((samples.length * (n + 1)) / 4))
  const faults: string[] = []
  for (const name of samples[0]?.memory.keys() ?? []) {
    if (!/^(api|workers|ingest|webhooks) /.test(name)) continue
    const [early, late] = [1, 3].map((n) =>
      median(quarter(n).map(({ memory }) => memory.get(name) ?? 0)),
    )
    if (early === undefined || late === undefined || late <= early * MAX_GROWTH) continue
    faults.push(`the memory of ${name} grows from ${early} to ${late} MiB`)
  }
  const [early = 0, late = 0] = [1, 3].map((n) => median(quarter(n).map(({ lag }) => lag)))
  if (!(late <= Math.min(MAX_LAG_SECONDS, early + MAX_LAG_GROWTH_SECONDS)))
    faults.push(`the lag goes from ${early} to ${late} s`)
  return faults
}

/** Block times of the simulator are those of the clock. */
const unixSeconds = () => Math.floor(Date.now() / 1000)

/** Whether each follower got just the trades that `GET /trades` has, between two block times. */
function differing(
  followers: readonly Follower[],
  stored: readonly ContractTrade[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly string[] {
  const received = followers.map((follower) => [...follower.all(), ...follower.allLate()])
  const textsOf = (trades: readonly ContractTrade[]) =>
    trades
      .filter(({ block_time }) => Number(block_time) >= from && Number(block_time) < to)
      .map((trade) => JSON.stringify(trade))
      .sort()
  const expected = textsOf(stored)
  print(`${expected.length} trades of GET /trades compared with those of each follower`)
  if (expected.length === 0) return ['there was no trade to compare']
  return received.flatMap((own, place) => {
    const texts = textsOf(own)
    if (texts.join('\n') === expected.join('\n')) return []
    return [`API ${place + 1} sent ${texts.length} trades, GET /trades has ${expected.length}`]
  })
}
