import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import anyTest, { type ExecutionContext } from 'ava'
import type { Role } from '../../pipeline/config.ts'
import { killServers, startServers, stopServers } from '../servers/servers.ts'
import { type ContractTrade, type Customer, type CustomerAnswer, until } from './customer.ts'
import { type Deployment, deploy, newSecrets } from './deployment.ts'
import { Follower } from './follower.ts'
import { marketTruth } from './market-truth.ts'
import { type ServiceProcess, startProcess } from './service-process.ts'

/*
 * Kills each server that the service needs, keeps it away for some slots, and starts it again.
 * Meanwhile requests that cannot be answered are refused; afterwards nothing is missing and nothing
 * is doubled (rules D2, J4, K1, K5).
 */

/** The test kills servers, and so starts its own; it runs only where servers are used already. */
const enabled = Boolean(process.env.KAFKA_BROKERS)
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: KAFKA_BROKERS is not set)'
/** Below the ports that the kernel gives to clients, which a restarted server may find taken. */
const PORT_BASE = 27_000
const SIMULATOR_PORTS = ['--port', String(PORT_BASE + 10), '--rpc-port', String(PORT_BASE + 11)]
const METRICS_PORTS: Readonly<Record<Role, number>> = {
  api: PORT_BASE + 20,
  workers: PORT_BASE + 21,
  ingest: PORT_BASE + 22,
  webhooks: PORT_BASE + 23,
}

const SEED = 7
const CREDITS = 1_000_000
const SLOTS_AWAY = 10
/** Every response comes within this time, whatever is down. */
const ANSWER_MS = 5000

const dir = mkdtempSync(join(tmpdir(), 'lost-dependency-'))
const truth = marketTruth(SEED)

let simulator: ServiceProcess
let deployment: Deployment
let customer: Customer
let follower: Follower
/** The oldest trade that was stored before any server was killed. */
let oldest: ContractTrade | undefined
/** The costs that answers named. */
let spent = 0

anyTest.before('servers, a market, and four processes', async () => {
  if (!enabled) return
  const servers = await startServers(join(dir, 'servers'), { portBase: PORT_BASE })
  simulator = startSimulator()
  deployment = await deploy('embedded', truth.wallets, {
    ...servers,
    ...(await newSecrets(dir)),
    YELLOWSTONE_ENDPOINT: await simulator.line('YELLOWSTONE_ENDPOINT'),
    SOLANA_RPC_URL: await simulator.line('SOLANA_RPC_URL'),
    SOL_PRICE_POOL: await simulator.line('SOL_PRICE_POOL'),
  })
  const key = await deployment.createAccount(CREDITS)
  for (const role of ['api', 'workers', 'ingest', 'webhooks'] as const) {
    deployment.start(role, { METRICS_PORT: String(METRICS_PORTS[role]) })
  }
  customer = await deployment.customer(key)
  follower = new Follower(customer)
  oldest = (await until(walk, (trades) => trades.length > 0)).at(-1)
})

anyTest.after.always('stop', async () => {
  await follower?.stop()
  await deployment?.remove()
  await simulator?.kill()
  if (enabled) await stopServers(join(dir, 'servers'))
  rmSync(dir, { recursive: true, force: true })
})

function startSimulator(): ServiceProcess {
  return startProcess('infra/simulator/main.js', {}, ['--seed', String(SEED), ...SIMULATOR_PORTS])
}

/** Calls as a customer, in bounded time, and adds up the costs that answers name. */
async function ask(t: ExecutionContext, path: string): Promise<CustomerAnswer> {
  const beganAt = Date.now()
  const answer = await customer.get(path)
  t.true(Date.now() - beganAt < ANSWER_MS, `${path} took ${Date.now() - beganAt} ms`)
  spent += Number(answer.headers.get('x-credits-cost') ?? 0)
  return answer
}

/**
 * Another program of the customer, which calls without pause until it is stopped. Some of its calls
 * are under way when a server is killed.
 */
async function callWithoutPause(t: ExecutionContext) {
  let stopped = false
  const statuses = new Set([(await ask(t, '/wallets/W1/metrics')).status])
  const calling = (async () => {
    while (!stopped) statuses.add((await ask(t, '/wallets/W1/metrics')).status)
  })()
  return {
    /** Returns the distinct statuses, in ascending order. */
    async stop(): Promise<number[]> {
      stopped = true
      await calling
      return [...statuses].sort()
    },
  }
}

async function isRefused(t: ExecutionContext, path: string): Promise<void> {
  const { status, headers, body } = await ask(t, path)
  t.like(
    { status, type: headers.get('content-type'), cost: headers.get('x-credits-cost'), body },
    {
      status: 503,
      type: 'application/problem+json',
      cost: '0',
      body: { status: 503, code: 'unavailable', detail: 'unavailable' },
    },
    path,
  )
}

async function isAnswered(t: ExecutionContext, path: string): Promise<void> {
  t.is((await ask(t, path)).status, 200, path)
}

/** The failed checks of a role's `/readyz`. */
async function notReady(role: Role): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${METRICS_PORTS[role]}/readyz`)
  const { checks } = (await response.json()) as { checks: Record<string, string> } // rule J4
  const wrong = Object.keys(checks).filter((name) => checks[name] !== 'ok')
  if (response.status !== (wrong.length === 0 ? 200 : 503)) throw new Error(`${response.status}`)
  return wrong.sort()
}

/**
 * Resolves once `/readyz` of a role reports exactly the failed checks `expected`. Its report is up
 * to a second old.
 */
async function isNotReady(role: Role, expected: readonly string[]): Promise<void> {
  await until(
    () => notReady(role),
    (wrong) => wrong.join() === expected.join(),
  )
}

async function walk(): Promise<ContractTrade[]> {
  const { trades, calls } = await customer.walkTrades()
  spent += 3 * calls
  return trades
}

async function storedSlot(): Promise<number> {
  const { body } = await customer.get<{ storage: { slot: number | null } }>('/status')
  return body.storage.slot ?? 0
}

async function slotsPass(count: number): Promise<void> {
  const end = truth.slotAt(Date.now()) + count
  await until(
    async () => truth.slotAt(Date.now()),
    (slot) => slot >= end,
  )
}

/**
 * Checks that the service continues, and that storage and the socket have all trades of the market.
 */
async function goesOn(t: ExecutionContext): Promise<void> {
  const now = truth.slotAt(Date.now())
  await until(storedSlot, (slot) => slot >= now)
  for (const role of ['api', 'workers', 'ingest'] as const) {
    await until(
      () => notReady(role),
      (wrong) => wrong.length === 0,
    )
  }
  const stored = (await walk()).reverse()
  const sinceFirst = stored.slice(indexOf(oldest, stored))
  const market = truth.trades(firstSlot, truth.slotAt(Date.now()) + 5)
  const firstIndex = indexOf(oldest, market)
  t.deepEqual(sinceFirst, market.slice(firstIndex, firstIndex + sinceFirst.length))
  const due = truth.trades(firstSlot, now).length
  t.true(firstIndex + sinceFirst.length >= due, 'every trade up to the slot that is stored')
  const sent = indexOf(follower.all()[0], market)
  await until(
    async () => sent + follower.all().length,
    (count) => count >= due,
  )
  const came = follower.all()
  t.deepEqual(
    came,
    truth.trades(firstSlot, truth.slotAt(Date.now()) + 5).slice(sent, sent + came.length),
  )
  t.deepEqual(follower.allLate(), [])
  for (const [role, process] of deployment.processes) {
    t.is(process.child.exitCode, null, `${role} runs\n${process.stderr()}`)
    t.deepEqual(errorsOf(process), [], role)
  }
}

const firstSlot = truth.slotAt(Date.now()) - 5

function indexOf(item: unknown, items: readonly unknown[]): number {
  return items.findIndex((one) => isDeepStrictEqual(one, item))
}

/** Log lines of a level that wakes someone. */
function errorsOf(process: ServiceProcess): unknown[] {
  return process
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number })
    .filter(({ level }) => level >= 50)
}

const kill = (only: 'clickhouse' | 'redis' | 'kafka') => killServers(join(dir, 'servers'), { only })

const PRODUCT = ['/trades?limit=5', '/wallets', '/wallets/W1/metrics']

test(`without ClickHouse, reads are refused, and everything continues once it is back${why}`, async (t) => {
  const caller = await callWithoutPause(t)
  await kill('clickhouse')
  // A cached response stays valid while the marker does not move, for 5 s at most.
  for (const path of PRODUCT)
    await until(
      () => ask(t, path),
      ({ status }) => status === 503,
    )
  for (const path of PRODUCT) await isRefused(t, path)
  await isNotReady('api', ['store'])
  await isNotReady('workers', ['store'])
  await isNotReady('webhooks', ['store'])
  await slotsPass(SLOTS_AWAY)
  for (const path of PRODUCT) await isRefused(t, path)
  t.deepEqual(await caller.stop(), [200, 503])
  await startServers(join(dir, 'servers'))
  await goesOn(t)
})

test(`without Redis no call is answered for free, and none is charged twice${why}`, async (t) => {
  const caller = await callWithoutPause(t)
  await kill('redis')
  for (const path of PRODUCT) await isRefused(t, path)
  await isNotReady('api', ['meter'])
  await isNotReady('webhooks', ['meter'])
  const stored = await storedSlot()
  await slotsPass(SLOTS_AWAY)
  for (const path of PRODUCT) await isRefused(t, path)
  t.true((await storedSlot()) > stored, 'what comes is stored meanwhile')
  t.deepEqual(await caller.stop(), [200, 503])
  await startServers(join(dir, 'servers'))
  await goesOn(t)
})

test(`without Kafka, reads continue and the feed waits${why}`, async (t) => {
  const caller = await callWithoutPause(t)
  await kill('kafka')
  for (const path of PRODUCT) await isAnswered(t, path)
  await isNotReady('api', ['log'])
  await isNotReady('ingest', ['log'])
  await isNotReady('webhooks', ['log'])
  await slotsPass(SLOTS_AWAY)
  for (const path of PRODUCT) await isAnswered(t, path)
  t.deepEqual(await caller.stop(), [200])
  await startServers(join(dir, 'servers'))
  await goesOn(t)
})

test(`without a stream, reads continue, and the missed slots come afterwards${why}`, async (t) => {
  const caller = await callWithoutPause(t)
  await simulator.kill()
  await slotsPass(SLOTS_AWAY)
  for (const path of PRODUCT) await isAnswered(t, path)
  t.deepEqual(await caller.stop(), [200])
  simulator = startSimulator()
  await goesOn(t)
})

test(`afterwards the books agree and every process stops cleanly${why}`, async (t) => {
  await follower.stop()
  const sent = follower.all().length + follower.allLate().length
  const retracted = follower.feeds.flatMap((feed) => feed.retracted).length
  // The credit of a withdrawn trade is given back (rule K9).
  const used = spent + sent - retracted
  let calls = 0
  // The unused reserve of a closed connection is returned a moment after its end.
  const gone = await until(
    async () => {
      const { headers } = await ask(t, '/wallets/W1/metrics')
      return CREDITS - Number(headers.get('x-credits-remaining')) - ++calls
    },
    (credits) => credits === used,
    10_000,
  )
  t.log(`${used} credits were used, ${gone} went; ${follower.connections} connections of the feed`)
  t.log(`${follower.allLate().length} late trades, ${retracted} withdrawn ones`)
  t.is(gone, used)
  for (const [role, process] of deployment.processes) {
    t.is(await process.stop(), 0, `${role} stops cleanly\n${process.stderr()}`)
  }
  const ledger = await deployment.operator('ledger', 'check')
  t.deepEqual(ledger, { code: 0, document: { accounts: 1, mismatches: [] } })
})
