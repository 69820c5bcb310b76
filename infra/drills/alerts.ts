import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parse } from 'yaml'
import type { Role } from '../../pipeline/config.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { readOptions } from '../bench/kit/options.ts'
import { killServers, startServers, stopServers } from '../servers/servers.ts'
import { fillDisk, freeDisk, mountSmallDisks } from '../servers/small-disks.ts'
import type { ServerName } from '../servers/state.ts'
import { loadDataConfig } from '../service/config.ts'
import { startFlakyRelay } from '../simulate/flaky-relay.ts'
import { Customer, until } from '../whole-service/customer.ts'
import { deploy, newSecrets } from '../whole-service/deployment.ts'
import { Follower } from '../whole-service/follower.ts'
import { marketTruth } from '../whole-service/market-truth.ts'
import {
  type FiringAlert,
  type PrometheusProcess,
  startPrometheus,
  WHY_NO_PROMETHEUS,
} from '../whole-service/prometheus-process.ts'
import {
  ROOT,
  type ServiceProcess,
  startOperator,
  startProcess,
} from '../whole-service/service-process.ts'
import { startRefusingRpc } from './kit/refusing-rpc.ts'

const USAGE = `npm run -s drill -- alerts [options]

Injects faults into a service on real servers, one after another, with a real Prometheus. The right
alert must fire within its \`for\` and 60 s, no other page be sent, and without a fault nothing fire
(rule J11). Exits with 1 otherwise. Needs root: each server has a small disk (tmpfs), to fill it.

  --only TEXT       only the faults that have this text in their names; none: no fault (all)
  --watch N         seconds during which pages are watched after an alert (60)
  --calm N          seconds without a fault, at the end (600)
  --mb N            size of the disk of each server (700)
  --port-base N     first of the ports of the servers (28000)`

/** A fault, and the alert that pages for it. */
interface Fault {
  readonly name: string
  readonly alert: string
  /** What leads to the fault; the alert's time counts from its end. */
  prepare?(): Promise<unknown>
  inject(): Promise<unknown>
  heal(): Promise<unknown>
}

const SEED = 7
const ROLES: readonly Role[] = ['api', 'workers', 'ingest', 'webhooks']
/** An alert may fire this long after its `for`. */
const LATENESS_SECONDS = 60
/** After a fault, every alert ends within this time: some count what was within 15 minutes. */
const OVER_SECONDS = 1200
/** What RPC refuses is given up after this time; only then is there something to be woken for. */
const REFUSAL_SECONDS = 15
/** A schema file of a newer version that no older process may go on with (rule K19). */
const NEWER_FILE = '9999_newer.sql'

/** Runs the drill. Returns whether only what had to fire fired. */
export async function run(args: readonly string[]): Promise<boolean> {
  const defaults = { only: '', watch: 60, calm: 600, mb: 700, 'port-base': 28_000 }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return true
  if (WHY_NO_PROMETHEUS !== '') throw new Error(WHY_NO_PROMETHEUS)
  const { only, watch: watchSeconds, calm, mb, 'port-base': portBase } = read.options
  const folder = mkdtempSync(join(tmpdir(), 'drill-alerts-'))
  chmodSync(folder, 0o711) // the servers' users can enter it
  const unmount = mountSmallDisks(join(folder, 'servers'), { cluster: false, portBase, mb })
  try {
    const world = await startWorld(folder, portBase)
    try {
      await isSilent(world.prometheus)
      let isGood = true
      for (const fault of world.faults.filter(({ name }) => name.includes(only)))
        isGood = (await drill(fault, world.prometheus, watchSeconds)) && isGood
      const fired = await watch(world.prometheus, calm)
      print({ fault: 'none', seconds: calm, fired })
      return isGood && fired.length === 0
    } finally {
      await world.stop()
    }
  } finally {
    await stopServers(join(folder, 'servers'))
    unmount()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Injects a fault, waits for its alert, watches which pages are sent, and heals the fault. */
async function drill(
  { name, alert, prepare, inject, heal }: Fault,
  prometheus: PrometheusProcess,
  watchSeconds: number,
): Promise<boolean> {
  const limit = waitOf(alert) + LATENESS_SECONDS
  await prepare?.()
  const began = Date.now()
  const passed = () => Math.round((Date.now() - began) / 1000)
  await inject()
  const sent = new Set<string>()
  while (!sent.has(alert) && passed() < limit + LATENESS_SECONDS) {
    for (const page of pagesOf(await prometheus.firing())) sent.add(page)
    await pause(1000)
  }
  const fired = sent.has(alert) ? passed() : null
  for (const page of await watch(prometheus, watchSeconds, pagesOf)) sent.add(page)
  await heal()
  const healed = Date.now()
  await isSilent(prometheus)
  const over = Math.round((Date.now() - healed) / 1000)
  print({ fault: name, alert, fired, limit, pages: [...sent], over })
  return fired !== null && fired <= limit && sent.size === 1
}

/** The names of alerts that fire within some seconds, each once. */
async function watch(
  prometheus: PrometheusProcess,
  seconds: number,
  select = (firing: readonly FiringAlert[]) => firing.map(({ alertname }) => alertname),
): Promise<string[]> {
  const fired = new Set<string>()
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(1000))
    for (const name of select(await prometheus.firing())) fired.add(name)
  return [...fired]
}

/** The pages that Alertmanager sends: no symptoms while the page of a cause fires. */
function pagesOf(firing: readonly FiringAlert[]): string[] {
  const pages = firing.filter(({ severity }) => severity === 'page')
  const causes = pages.filter(({ layer }) => layer === 'cause')
  return (causes.length > 0 ? causes : pages).map(({ alertname }) => alertname)
}

/** Resolves when no page has fired for half a minute. */
async function isSilent(prometheus: PrometheusProcess): Promise<void> {
  const end = Date.now() + OVER_SECONDS * 1000
  const pages = (firing: readonly FiringAlert[]) =>
    firing.filter(({ severity }) => severity === 'page').map(({ alertname }) => alertname)
  for (;;) {
    const firing = await watch(prometheus, 30, pages)
    if (firing.length === 0) return
    if (Date.now() > end) throw new Error(`still firing: ${firing.join(', ')}`)
  }
}

/** The `for` of an alert, in seconds. */
function waitOf(alert: string): number {
  const { groups } = parse(readFileSync(join(ROOT, 'infra/prometheus/alerts.yml'), 'utf8')) as {
    groups: { rules: { alert: string; for?: string }[] }[]
  }
  const rule = groups.flatMap(({ rules }) => rules).find((one) => one.alert === alert)
  return Number.parseInt(rule?.for ?? '0', 10) * 60
}

function print(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Starts servers, a market, a process for each role, a customer, and Prometheus. */
async function startWorld(folder: string, portBase: number) {
  const dir = join(folder, 'servers')
  const servers = await startServers(dir)
  const ports = ['--port', String(portBase + 50), '--rpc-port', String(portBase + 51)]
  const startMarket = (...trouble: string[]) =>
    startProcess('infra/simulator/main.js', {}, ['--seed', String(SEED), ...ports, ...trouble])
  let market: ServiceProcess = startMarket()
  const rpc = await startRefusingRpc(await market.line('SOLANA_RPC_URL'))
  const deployment = await deploy('embedded', marketTruth(SEED).wallets, {
    ...servers,
    ...(await newSecrets(folder)),
    YELLOWSTONE_ENDPOINT: await market.line('YELLOWSTONE_ENDPOINT'),
    SOLANA_RPC_URL: rpc.url,
    RPC_REFUSAL_SECONDS: String(REFUSAL_SECONDS),
    SOL_PRICE_POOL: await market.line('SOL_PRICE_POOL'),
  })
  const store = await createStore(loadDataConfig(deployment.env).store)
  const key = await deployment.createAccount(1_000_000_000)
  const probeKey = await deployment.createAccount(1_000_000_000)
  const targets = Object.fromEntries(ROLES.map((role, at) => [role, portBase + 60 + at]))
  const port = String(portBase + 65) // clients find an API that was started again
  const start = (role: Role) =>
    deployment.start(role, { METRICS_PORT: String(targets[role]), PORT: port })
  for (const role of ROLES) start(role)
  const customer = await deployment.customer(key)
  const follower = new Follower(customer, OVER_SECONDS * 1000)
  // A new key is refused until the API knows it, which would end the probe.
  const probing = new Customer(customer.url, probeKey)
  await until(
    () => probing.get('/wallets').catch(() => null),
    (answer) => answer?.status === 200,
  )
  const network = await startFlakyRelay(`http://127.0.0.1:${port}`)
  const probePort = portBase + 66
  const probe = startOperator({ PROBE_URL: network.url, PROBE_API_KEY: probeKey }, [
    'probe',
    '--port',
    String(probePort),
  ])
  const calls = callEachSecond(customer)
  const prometheus = await startPrometheus(folder, portBase + 70, targets, probePort)
  const dies = (role: Role): Fault => ({
    name: `${role} killed`,
    alert: 'RoleDown',
    inject: async () => deployment.processes.get(role)?.kill(),
    heal: async () => start(role),
  })
  const lost = (only: ServerName, alert: string): Fault => ({
    name: `${only} killed`,
    alert,
    inject: () => killServers(dir, { only }),
    heal: () => startServers(dir),
  })
  const full = (only: ServerName, alert: string): Fault => ({
    name: `${only} disk full`,
    alert,
    inject: async () => fillDisk(dir, only),
    heal: () => freeDisk(dir, only),
  })
  const restart = async (role: Role) => {
    await deployment.processes.get(role)?.kill()
    start(role)
  }
  const restarts = (role: Role) =>
    prometheus.query(`changes(process_start_time_seconds{role="${role}"}[15m])`)
  return {
    prometheus,
    faults: [
      ...ROLES.map(dies),
      lost('kafka', 'LogUnreachable'),
      lost('clickhouse', 'StoreUnreachable'),
      lost('redis', 'MeterUnreachable'),
      full('kafka', 'LogUnreachable'),
      full('clickhouse', 'StoreWritesFail'),
      full('redis', 'MeterUnreachable'),
      {
        name: 'network of the probe hangs',
        alert: 'ProbeFailing',
        inject: async () => network.fail('hang'),
        heal: async () => network.fail(null),
      } satisfies Fault,
      {
        name: 'stream and RPC killed',
        alert: 'StreamSilent',
        inject: () => market.kill(),
        heal: async () => {
          market = startMarket()
          await market.line('SOLANA_RPC_URL')
        },
      } satisfies Fault,
      {
        name: 'tables of a newer version',
        alert: 'ProcessTooOld',
        inject: () =>
          store.insert('schema_migrations', [{ name: NEWER_FILE, checksum: '', applied_at: 0 }]),
        heal: () => store.command(`DELETE FROM schema_migrations WHERE name = '${NEWER_FILE}'`),
      } satisfies Fault,
      {
        name: 'RPC refuses',
        alert: 'RpcRefuses',
        prepare: async () => {
          // A stream that begins again without the slots between leaves them to RPC.
          rpc.refuse(true)
          await market.kill()
          market = startMarket('--trouble', 'lostReplay')
          await market.line('SOLANA_RPC_URL')
          await pause(REFUSAL_SECONDS * 1000)
        },
        inject: async () => {},
        heal: async () => rpc.refuse(false),
      } satisfies Fault,
      {
        name: 'webhooks start again and again',
        alert: 'CrashLoop',
        prepare: async () => {
          for (const seen of [1, 2]) {
            await restart('webhooks')
            await until(
              () => restarts('webhooks'),
              (samples) => samples.some(({ value }) => value >= seen),
            )
          }
        },
        inject: () => restart('webhooks'),
        heal: async () => {},
      } satisfies Fault,
    ],
    async stop() {
      calls.abort()
      await prometheus.stop()
      await probe.kill()
      await network.close()
      await follower.stop().catch(() => {}) // it may have given up
      await store.close()
      await deployment.remove()
      await rpc.close()
      await market.kill()
    },
  }
}

/** Asks for a wallet each second, as a customer's program does, until aborted. */
function callEachSecond(customer: Customer): AbortController {
  const ending = new AbortController()
  const call = async () => {
    while (!ending.signal.aborted) {
      await customer.get('/wallets/W1/metrics').catch(() => {}) // refused answers are expected
      await pause(1000)
    }
  }
  void call()
  return ending
}
