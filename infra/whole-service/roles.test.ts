import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import { post, tokenOf } from '../../api/testing/a-wallet.ts'
import { ask } from '../../api/testing/ask.ts'
import type { Role } from '../../pipeline/config.ts'
import { startServers, stopServers } from '../servers/servers.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { createPayer } from '../simulator/testing/payer.ts'
import { until } from './customer.ts'
import { type Deployment, deploy, newSecrets } from './deployment.ts'
import { freePort } from './free-port.ts'
import { commandOutcome, ROOT, startOperator } from './service-process.ts'

/*
 * Runs each role with its ClickHouse user and Redis user of docker-compose.yml: everything that
 * customers ask for works, and no user can do more than its role does.
 */

/** The test starts its own servers, because users of roles know only one database. */
const enabled = Boolean(process.env.KAFKA_BROKERS)
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: KAFKA_BROKERS is not set)'
const PORT_BASE = 27_300
const ROLES = ['api', 'workers', 'ingest', 'webhooks'] as const

const dir = mkdtempSync(join(tmpdir(), 'roles-'))
chmodSync(dir, 0o711) // users of servers pass
let servers: Readonly<Record<string, string>>
let simulator: Awaited<ReturnType<typeof startSimulator>>
let deployment: Deployment

anyTest.before('servers and a chain', async () => {
  if (!enabled) return
  servers = await startServers(join(dir, 'servers'), { portBase: PORT_BASE })
  simulator = await startSimulator({
    wallets: 3,
    coins: 12,
    trackedPerSlot: 2,
    othersPerSlot: 0,
    historySlots: 500,
    clock: { kind: 'running', speed: 4 },
  })
  const { pro, credits } = simulator.paymentAddresses
  deployment = await deploy('embedded', simulator.wallets, {
    KAFKA_BROKERS: servers.KAFKA_BROKERS ?? '',
    CLICKHOUSE_URL: servers.CLICKHOUSE_URL ?? '',
    REDIS_URL: servers.REDIS_URL ?? '',
    ...(await newSecrets(dir)),
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    PAYMENT_ADDRESS_PRO: pro,
    PAYMENT_ADDRESS_CREDITS: credits,
    SOL_PRICE_POOL: simulator.solPricePool,
  })
})

anyTest.after.always('stop', async () => {
  await deployment?.remove()
  await simulator?.close()
  if (enabled) await stopServers(join(dir, 'servers'))
  rmSync(dir, { recursive: true, force: true })
})

const urlOf = (role: Role) => servers[`CLICKHOUSE_URL_${role.toUpperCase()}`] ?? ''

/** Creates the Redis users of docker-compose.yml on this server; returns a URL for each. */
async function makeRedisUsers(): Promise<(user: string) => string> {
  const secrets = join(dir, 'secrets')
  execFileSync(join(ROOT, 'infra/docker/make-secrets.sh'), [secrets])
  const read = (name: string) => readFileSync(join(secrets, name), 'utf8').trim()
  const redis = new Redis(servers.REDIS_URL ?? '')
  for (const line of read('redis_users').split('\n').slice(1))
    await redis.call('ACL', 'SETUSER', ...line.split(' ').slice(1))
  await redis.quit()
  return (user) => {
    const url = new URL(read(`redis_url_${user}`))
    url.host = new URL(servers.REDIS_URL ?? '').host
    return url.href
  }
}

test(`a process whose user may not create tables names the user who may${why}`, async (t) => {
  const api = deployment.start('api', { CLICKHOUSE_URL: urlOf('api') })
  t.is(await api.ended, 1)
  t.true(
    api.stderr().includes('the user of CLICKHOUSE_URL may change no table: run `npm run'),
    api.stderr(),
  )
  const operator = (...args: string[]) => commandOutcome(startOperator(deployment.env, args))
  const { document } = await operator('migrate', '--plan')
  t.like(document, { schema: 'behind', files: [{ file: '0001_swaps.sql', compatible: false }] })
  t.deepEqual(await operator('migrate'), { code: 0, document: { schema: 'up_to_date' } })
  t.deepEqual(await operator('migrate', '--plan'), {
    code: 0,
    document: { schema: 'up_to_date', files: [] },
  })
})

test(`with the users of their roles four processes serve and bill customers${why}`, async (t) => {
  const redisUrl = await makeRedisUsers()
  const metricsPort = await freePort()
  for (const role of ROLES)
    deployment.start(role, {
      CLICKHOUSE_URL: urlOf(role),
      REDIS_URL: redisUrl(role === 'api' || role === 'webhooks' ? role : 'idle'),
      WEBHOOK_LOOPBACK: 'true',
      METRICS_PORT: role === 'webhooks' ? String(metricsPort) : '0',
    })
  const api = { url: (await deployment.processes.get('api')?.line('url')) ?? '' }
  const send = (path: string, token: string) => ask(api, path, token, { method: 'POST' })
  const payer = await createPayer(simulator, 100_000_000n)
  const token = await tokenOf(api, payer)
  const key = String((await ask(api, '/me/api', token)).body.api_key)
  await payer.pay(simulator.paymentAddresses.credits, 1_000_000n)
  await until(
    () => send('/billing/credits/check', token),
    ({ body }) => body.credited === 1000,
  )
  const [plan] = (await ask(api, '/billing/plans')).body.plans as { usdt: number }[]
  await payer.pay(simulator.paymentAddresses.pro, BigInt((plan?.usdt ?? 0) * 1_000_000))
  await until(
    () => send('/billing/pro/check', token),
    ({ body }) => body.active === true,
  )

  const customer = await deployment.customer(key)
  const feed = await customer.follow()
  await feed.received(5)
  feed.close()
  const mint = String(feed.trades[0]?.mint)
  await until(
    () => ask(api, '/trades', key),
    ({ body }) => Number(body.count) > 0,
  )
  for (const path of [
    ...['/wallets', '/wallets/W1/metrics', '/wallets/holdings', '/wallets/W1/holdings'],
    ...['/wallets/W1/trades', '/trades?side=buy', '/prices/sol', '/search?q=a', '/account'],
    `/tokens/${mint}`,
    ...['/wallets/W1/positions', '/wallets/W1/pnl?interval=1h&mode=strict'],
    ...[`/tokens/${mint}/swaps`, `/tokens/${mint}/wallet-aggregates`, '/tokens/held'],
  ])
    t.is((await ask(api, path, key)).status, 200, path)
  const tool = { name: 'list_trades', arguments: { limit: 1 } }
  const called = await ask(api, '/mcp', key, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool }),
  })
  t.deepEqual([called.status, called.headers.get('x-credits-cost')], [200, '3'])
  for (const path of [
    ...['/me/keys', '/me/sessions', '/me/events', '/billing/pro/payments'],
    ...['/me/usage', '/billing/credits/topups', '/me/watchlists/trending', '/me/signals/filter'],
  ])
    t.is((await ask(api, path, token)).status, 200, path)
  t.is((await send('/me/api/rotate', token)).status, 200)
  const { body: named } = await ask(api, '/me/keys', token, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'reader', scopes: ['read'] }),
  })
  t.is((await ask(api, '/account', String(named.api_key))).status, 200)
  const gone = await ask(api, `/me/keys/${named.id}`, token, { method: 'DELETE' })
  t.is(gone.status, 204)

  const receiver = await receive()
  t.teardown(() => receiver.close())
  const { body: hook } = await post(api, '/me/webhooks', { url: receiver.url }, token)
  const [first] = await until(receiver.delivered, ({ length }) => length >= 2)
  t.is(first?.data.webhook, String(hook.id))
  const place = { cursor: first?.data.cursor }
  t.is((await post(api, `/me/webhooks/${hook.id}/replay`, place, token)).status, 200)
  const path = `/me/webhooks/${hook.id}/deliveries`
  await until(
    () => ask(api, path, token),
    ({ body }) => body.items.length >= 2,
  )
  t.is((await ask(api, '/me/webhooks', token)).status, 200)
  const own = `http://127.0.0.1:${metricsPort}`
  t.is((await fetch(`${own}/readyz`)).status, 200)
  const metrics = await (await fetch(`${own}/metrics`)).text()
  t.regex(metrics, /^webhooks_running 1$/m)
  t.regex(metrics, /^webhook_attempts_total\{outcome="accepted"\} [1-9]/m)
  t.is((await send('/auth/logout', token)).status, 204)

  for (const role of ROLES) {
    const process = deployment.processes.get(role)
    t.is(await process?.stop(), 0, process?.stderr())
    t.notRegex(process?.stderr() ?? '', /code 497|"code":497|NOPERM|"level":[56]0/, role)
  }
})

/** A delivery of a webhook (rule M1). */
interface Delivery {
  readonly data: { readonly webhook: string; readonly cursor: string }
}

/** Starts a receiver of webhooks on this machine that accepts everything. */
async function receive() {
  const delivered: Delivery[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    delivered.push(JSON.parse(text) as Delivery)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, // it listens on TCP
    delivered: async () => delivered,
    close: () => server.close(),
  }
}

test(`the user of a role can do nothing that the role does not do${why}`, async (t) => {
  const refused = async (role: Role, statements: readonly string[]) => {
    const { username, password, host } = new URL(urlOf(role))
    for (const body of statements) {
      const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password }
      const answer = await fetch(`http://${host}/?database=tracked_wallets`, {
        method: 'POST',
        body,
        headers,
      })
      t.regex(await answer.text(), /^Code: (497|60|81)\./, `${role}: ${body}`)
    }
  }
  const nobody = [
    'CREATE TABLE own (n UInt8) ENGINE = MergeTree ORDER BY n',
    'ALTER TABLE swaps DELETE WHERE 1',
    'TRUNCATE TABLE swaps',
    'DROP TABLE swaps',
    'DROP DATABASE tracked_wallets',
    "SELECT * FROM file('/etc/passwd', LineAsString)",
    "SELECT * FROM url('http://127.0.0.1/', LineAsString)",
    'SYSTEM SHUTDOWN',
    'SELECT * FROM system.query_log',
  ]
  const money = ['accounts', 'api_keys', 'ledger_entries', 'subscriptions', 'revoked_tokens']
  const hooks = ['webhooks', 'webhook_progress', 'webhook_deliveries']
  const reads = (tables: readonly string[]) => tables.map((table) => `SELECT * FROM ${table}`)
  const writes = (tables: readonly string[]) =>
    tables.map((table) => `INSERT INTO ${table} SELECT * FROM ${table} LIMIT 0`)
  await refused('ingest', [
    ...nobody,
    ...reads([...money, ...hooks, 'swaps', 'transactions']),
    ...writes([...money, ...hooks, 'swaps', 'positions']),
  ])
  await refused('workers', [
    ...nobody,
    ...reads([...money, ...hooks, 'deposits']),
    ...writes([...money, ...hooks, 'deposits', 'wallet_coverage']),
  ])
  await refused('api', [
    ...nobody,
    ...reads(['transactions', 'sol_balances', 'lots', 'transfers']),
    ...writes(['swaps', 'positions', 'progress', 'wallet_metrics', 'tracked_wallets']),
    ...writes(['webhook_progress', 'webhook_deliveries']),
  ])
  await refused('webhooks', [
    ...nobody,
    ...reads(['api_keys', 'revoked_tokens', 'deposits', 'transactions', 'positions', 'transfers']),
    ...reads(['webhook_deliveries']),
    ...writes(['accounts', 'api_keys', 'subscriptions', 'account_events', 'webhooks']),
    ...writes(['swaps', 'positions', 'progress', 'tracked_wallets']),
  ])
})
