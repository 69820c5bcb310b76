import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { type ContractTrade, Customer, contractFields, until } from '../whole-service/customer.ts'

/*
 * What must hold of the containers of docker-compose.yml. `run-compose.sh` starts them, over the
 * simulated market, and names their folder in CONTAINERS.
 */

const folder = process.env.CONTAINERS ?? ''
const why = folder === '' ? ' (skipped: CONTAINERS is not set)' : ''
const test = folder === '' ? anyTest.serial.skip : anyTest.serial

const ROLES = ['api', 'ingest', 'webhooks', 'workers']
const SERVERS = ['clickhouse', 'kafka', 'redis'] as const
const PORTS = { clickhouse: 8123, kafka: 9092, redis: 6379 }
const API = `http://127.0.0.1:${process.env.API_PORT}`
const PROMETHEUS = `http://127.0.0.1:${process.env.PROMETHEUS_PORT}`
const ALERTMANAGER = `http://127.0.0.1:${process.env.ALERTMANAGER_PORT}`

/** Runs `docker`; rejects with its output when it fails. Returns what it writes to stdout. */
async function docker(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args, {
    cwd: folder,
    maxBuffer: 256 * 1024 * 1024,
  })
  return stdout
}
const compose = (...args: string[]) => docker('compose', ...args)
const operator = async (...args: string[]) =>
  JSON.parse(await compose('run', '--rm', 'operator', ...args)) as Record<string, unknown>

interface Container {
  readonly Name: string
  readonly Config: { readonly Env: readonly string[]; readonly Labels: Record<string, string> }
  readonly HostConfig: { readonly ReadonlyRootfs: boolean }
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>>
  }
  readonly RestartCount: number
  readonly State: {
    readonly Status: string
    readonly Pid: number
    readonly ExitCode: number
    readonly Health?: { readonly Status: string }
  }
}

/** The containers of the project by the names of their services. */
async function containers(): Promise<Readonly<Record<string, Container>>> {
  const ids = (await compose('ps', '--all', '--quiet')).split('\n').filter((id) => id !== '')
  const found = JSON.parse(await docker('inspect', ...ids)) as Container[] // as `docker` documents
  return Object.fromEntries(
    found.map((one) => [one.Config.Labels['com.docker.compose.service'] ?? one.Name, one]),
  )
}

/** Resolves when all containers are healthy, and those that run once have ended. */
async function allHealthy(): Promise<void> {
  const expected = JSON.stringify({
    ...Object.fromEntries([...ROLES, ...SERVERS].map((name) => [name, 'healthy'])),
    migrate: 'exited 0',
    topics: 'exited 0',
  })
  const order = Object.keys(JSON.parse(expected) as object)
  const states = async () => {
    const found = await containers()
    return order.map((name) => {
      const { Status = 'absent', ExitCode = 0, Health } = found[name]?.State ?? {}
      return [name, Health?.Status ?? `${Status} ${ExitCode}`]
    })
  }
  const isExpected = (now: Awaited<ReturnType<typeof states>>) =>
    JSON.stringify(Object.fromEntries(now)) === expected
  await until(states, isExpected, 300_000)
}

const wallets = () => readFileSync(join(folder, 'wallets.txt'), 'utf8').trim().split('\n')

/** Makes an account of a tracked wallet's address, by an operator command. */
async function createCustomer(wallet = ''): Promise<Customer> {
  const account = await operator('account', 'create', '--wallet', wallet, '--credits', '5000')
  return new Customer(API, String(account.api_key))
}

async function followThreeTrades(customer: Customer): Promise<number> {
  const feed = await customer.follow()
  await feed.received(3)
  feed.close()
  await feed.closed()
  return feed.trades.length
}

anyTest.before(async () => {
  if (folder !== '') await allHealthy()
})

test(`processes run without root, capabilities or new privileges${why}`, async (t) => {
  // Of each process of a container: user, bounding set, effective set, no new privileges, seccomp.
  const read = `cat /proc/[0-9]*/status | grep -E '^(Name|Uid|CapBnd|CapEff|NoNewPrivs|Seccomp):'`
  for (const service of [...ROLES, ...SERVERS]) {
    const status = await compose('exec', '--no-TTY', service, 'sh', '-c', read)
    const field = (name: string) =>
      [...status.matchAll(new RegExp(`^${name}:\\s+(\\w+)`, 'gm'))].map(([, value]) => value)
    t.deepEqual([...new Set(field('NoNewPrivs'))], ['1'], service)
    t.deepEqual([...new Set(field('Seccomp'))], ['2'], service)
    if (service === 'clickhouse') {
      // Its entry point changes from root to the server's user, as do the commands of this test.
      const users = field('Uid')
      const servers = field('CapEff').filter((_, index) => users[index] !== '0')
      t.deepEqual(servers, ['0000000000000000'], 'the server')
      continue
    }
    t.deepEqual([...new Set(field('CapBnd'))], ['0000000000000000'], service)
    t.false(field('Uid').includes('0'), `${service} runs as root`)
  }
})

test(`the file systems of roles and of Redis are read-only but for /tmp${why}`, async (t) => {
  const write =
    'for f in / /app /etc /home/node /var/tmp /tmp; do touch $f/new 2>/dev/null && echo $f; done; true'
  const writable = async (service: string) =>
    (await compose('exec', '--no-TTY', service, 'sh', '-c', write)).trim()
  for (const role of ROLES) t.is(await writable(role), '/tmp', role)
  t.is(await writable('redis'), '')
})

test(`no secret is in an environment or a log, and no server reaches another${why}`, async (t) => {
  const secrets = readdirSync(join(folder, 'secrets'))
    .map((name) => readFileSync(join(folder, 'secrets', name), 'utf8').trim())
    .flatMap((text) => [text, ...text.split(/[\s:@"]+/)])
    .filter((text) => text.length >= 40)
  const environments = Object.values(await containers()).flatMap(({ Config }) => Config.Env)
  const logs = await compose('logs', '--no-color')
  const leaked = (text: string) => secrets.some((secret) => text.includes(secret))
  t.deepEqual(environments.filter(leaked), [])
  t.deepEqual(logs.split('\n').filter(leaked), [])
  const found = await containers()
  const reached = await Promise.all(
    SERVERS.map(async (name) => {
      const others = SERVERS.filter((other) => other !== name).flatMap((other) =>
        Object.values(found[other]?.NetworkSettings.Networks ?? {}).map(
          ({ IPAddress }) => `/dev/tcp/${IPAddress}/${PORTS[other]}`,
        ),
      )
      const connect = `for to in ${others.join(' ')}; do timeout 1 bash -c "<$to" 2>/dev/null && echo $to; done; true`
      return compose('exec', '--no-TTY', name, 'bash', '-c', connect)
    }),
  )
  t.deepEqual(reached, ['', '', ''])
})

test(`a bad value is refused with the key that has it${why}`, async (t) => {
  const run = docker('run', '--rm', '--env', 'KAFKA_BROKERS=no port', 'tracked-wallets')
  const { message } = (await t.throwsAsync(run)) ?? {}
  t.regex(message ?? '', /KAFKA_BROKERS/)
})

test(`operator commands run, and a trade reaches a socket through the published port${why}`, async (t) => {
  const { items } = await operator('wallets')
  t.deepEqual(
    (items as { address: string }[]).map(({ address }) => address), // as commands.md shows it
    wallets(),
  )
  t.is((await fetch(`${API}/status`)).status, 200)
  t.true((await followThreeTrades(await createCustomer(wallets()[0]))) >= 3)
})

test(`what is killed comes back by its restart policy, and trades go on${why}`, async (t) => {
  const before = await containers()
  for (const name of [...SERVERS, ...ROLES]) {
    const { Pid = 0 } = before[name]?.State ?? {}
    if (Pid > 0) process.kill(Pid, 'SIGKILL')
  }
  await until(
    async () => Object.values(await containers()),
    (found) =>
      found.every(({ State, RestartCount }) => State.Health === undefined || RestartCount > 0),
  )
  await allHealthy()
  t.true((await followThreeTrades(await createCustomer(wallets()[1]))) >= 3)
})

test(`roles end with 0 when they are stopped, and accounts, credits and trades outlive the containers${why}`, async (t) => {
  const customer = await createCustomer(wallets()[2])
  const head = await customer.get<{ items: ContractTrade[] }>('/trades?limit=100')
  t.is(head.status, 200)
  const remaining = Number(head.headers.get('x-credits-remaining'))
  await compose('stop')
  const stopped = await containers()
  t.deepEqual(
    ROLES.map((role) => [role, stopped[role]?.State.ExitCode]),
    ROLES.map((role) => [role, 0]),
  )
  await compose('down')
  t.deepEqual(await compose('ps', '--all', '--quiet'), '')
  await compose('up', '--detach')
  await allHealthy()
  const answer = await until(
    () => customer.get('/trades?limit=1'),
    ({ status }) => status === 200,
  )
  const cost = Number(answer.headers.get('x-credits-cost'))
  t.is(Number(answer.headers.get('x-credits-remaining')), remaining - cost)
  const { trades } = await customer.walkTrades()
  const kept = new Set(trades.map((trade) => JSON.stringify(trade)))
  t.deepEqual(
    head.body.items.map(contractFields).filter((trade) => !kept.has(JSON.stringify(trade))),
    [],
  )
})

test(`Prometheus of the profile monitoring scrapes each role and knows Alertmanager${why}`, async (t) => {
  // The machine has no Grafana: it comes only in its official image.
  await compose('--profile', 'monitoring', 'up', '--detach', 'prometheus', 'alertmanager')
  interface Targets {
    readonly data: { readonly activeTargets: readonly { scrapeUrl: string; health: string }[] }
  }
  const targets = async () => {
    const response = await fetch(`${PROMETHEUS}/api/v1/targets`).catch(() => null)
    if (response?.ok !== true) return []
    const { data } = (await response.json()) as Targets // as Prometheus documents
    return data.activeTargets.map(({ scrapeUrl, health }) => `${scrapeUrl} ${health}`).sort()
  }
  const expected = ROLES.map((role) => `http://${role}:9464/metrics up`)
  t.deepEqual(await until(targets, (now) => now.join() === expected.join()), expected)
  const managers = async () => {
    const response = await fetch(`${PROMETHEUS}/api/v1/alertmanagers`)
    const { data } = (await response.json()) as {
      readonly data: { readonly activeAlertmanagers: readonly { readonly url: string }[] }
    } // as Prometheus documents
    return data.activeAlertmanagers.map(({ url }) => url)
  }
  t.deepEqual(await managers(), ['http://alertmanager:9093/api/v2/alerts'])
  const ready = async () => (await fetch(`${ALERTMANAGER}/-/ready`).catch(() => null))?.status
  t.is(await until(ready, (status) => status === 200), 200)
  const found = await containers()
  for (const name of ['prometheus', 'alertmanager'])
    t.true(found[name]?.HostConfig.ReadonlyRootfs, name)
})
