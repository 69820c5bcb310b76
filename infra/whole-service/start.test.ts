import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { newWallet, tokenOf } from '../../api/testing/a-wallet.ts'
import { openChdb } from '../../pipeline/store/chdb.ts'
import { createPayer } from '../simulator/testing/payer.ts'
import { Customer, until } from './customer.ts'
import { marketTruth } from './market-truth.ts'
import {
  commandOutcome,
  type ServiceProcess,
  startOperator,
  startProcess,
} from './service-process.ts'

/* Output and files of `npm start`, and its refusal of faulty configurations (rules J1, J2, J5). */

const folder = mkdtempSync(join(tmpdir(), 'start-'))
const truth = marketTruth(1, 26)

/** A data folder with trades, filled by the first test. */
const stored = join(folder, 'stored')

const PASSWORD = 'pass-that-nobody-may-see'

test.after.always('remove', () => rmSync(folder, { recursive: true, force: true }))

function start(t: ExecutionContext, env: Readonly<Record<string, string>>): ServiceProcess {
  const process = startProcess('infra/service/main.js', { PORT: '0', METRICS_PORT: '0', ...env })
  t.teardown(() => process.kill())
  return process
}

test.serial(
  'without settings it shows where it is, a key and a call, goes on after a stop, and has a day of history',
  async (t) => {
    const beganAt = Date.now()
    const first = start(t, { DATA_DIR: stored })
    const key = await first.line('api_key')
    const customer = new Customer(await first.line('url'), key)
    const feed = await customer.follow()
    await feed.received(1)
    t.log(`the first trade came ${Date.now() - beganAt} ms after the start`)
    await feed.received(5)
    // Older trades come with the history, wallet by wallet.
    const since = Number(feed.trades[0]?.block_time) + 1
    // Trades reach sockets before they are stored.
    const known = await until(
      () => customer.walkTrades(100, since),
      ({ trades }) => trades.length >= 3,
    )
    await showsCall(t, first)
    t.is(await first.stop(), 0)
    keepsSecrets(t, first)

    const second = start(t, { DATA_DIR: stored })
    t.is(await second.line('api_key'), key)
    const again = new Customer(await second.line('url'), key)
    const goesOn = await again.follow()
    await goesOn.received(1)
    const other = start(t, { DATA_DIR: stored })
    t.is(await other.ended, 1)
    t.is(
      messages(other),
      'DATA_DIR: another process owns the data; stop it, or set another folder\n',
    )
    await until(
      () => again.walkTrades(100, since),
      ({ trades }) => trades.length > known.trades.length + 5,
    )
    const { trades } = await again.walkTrades(100, since)
    // The service fetches some trades of slots before its first start over RPC (rule K2).
    const oldest = known.trades.at(-1)
    const sinceFirst = [...trades].reverse().slice(indexOf(oldest, [...trades].reverse()))
    const market = truth.trades(truth.slotAt(beganAt) - 5, truth.slotAt(Date.now()) + 5)
    const firstIndex = indexOf(oldest, market)
    t.deepEqual(sinceFirst, market.slice(firstIndex, firstIndex + sinceFirst.length))

    await until(
      async () => first.stderr() + second.stderr(),
      (text) => text.includes('"backfill done"'),
      300_000,
    )
    t.log(`the history was there ${Date.now() - beganAt} ms after the first start`)
    await hasHistory(t)
    second.child.kill('SIGINT')
    t.is(await second.ended, 0)
    keepsSecrets(t, second)
  },
)

/** The lines have URLs, a key and a call, which a shell can make. The RPC server takes payments. */
async function showsCall(t: ExecutionContext, process: ServiceProcess): Promise<void> {
  t.regex(
    process.stdout(),
    /^url=(http:\/\/127\.0\.0\.1:[0-9]+)\napi_key=(tw_[1-9A-HJ-NP-Za-km-z]{36,50})\ncurl -s -H 'Authorization: Bearer \2' '\1\/trades\?limit=3'\nrpc_url=http:\/\/127\.0\.0\.1:[0-9]+\n$/,
  )
  const call = process.stdout().split('\n')[2] ?? ''
  const answer = JSON.parse(execFileSync('sh', ['-c', call], { encoding: 'utf8' })) as object
  t.like(answer, { count: 3, limit: 3, has_more: true })
  await t.notThrowsAsync(createPayer({ rpcUrl: await process.line('rpc_url') }, 49_000_000n))
}

/** A day of all wallets is stored, with a price for each swap. */
async function hasHistory(t: ExecutionContext): Promise<void> {
  const [history] = await sql<Record<string, number>>(stored, HISTORY)
  // The market's first swap may be an hour and a half after its first slot; this depends on the
  // time of day.
  t.true(Number(history?.hours) >= 24 && Number(history?.scored) >= 10, JSON.stringify(history))
  const wallets = truth.wallets.length
  t.like(history, { open: 0, wallets, covered: wallets, unpriced: 0 })
}

/** Progress of the history: wallets with an open backfill, complete wallets, ... */
const HISTORY = `SELECT (SELECT toUInt32(count()) FROM backfills FINAL WHERE state = 'open') AS open,
  (SELECT toUInt32(count()) FROM wallet_metrics FINAL) AS wallets,
  (SELECT toUInt32(countIf(status = 'scored')) FROM wallet_metrics FINAL) AS scored,
  (SELECT toUInt32(count()) FROM wallet_coverage FINAL WHERE since_time < toUnixTimestamp(now()) - 26 * 3600) AS covered,
  (SELECT toUInt32((max(block_time) - min(block_time)) / 3600) FROM swaps) AS hours,
  (SELECT toUInt32(count()) FROM swaps FINAL WHERE sol_price_usd_e9 IS NULL AND quote_mint IS NOT NULL) AS unpriced`

/** Sends SIGHUP; returns the resulting log line that begins with a text. */
async function readAgain(service: ServiceProcess, text: string) {
  const logged = () => logLines(service).filter(({ msg }) => msg.startsWith(text))
  const { length } = logged()
  service.child.kill('SIGHUP')
  const lines = await until(
    async () => logged(),
    (lines) => lines.length > length,
  )
  return lines.at(-1)
}

test.serial(
  'what was traded has its facts, prices of SOL are stored with their source, and first buys have market caps (J7, J8, C15)',
  async (t) => {
    const DATA_DIR = join(folder, 'facts')
    const file = join(folder, 'prices.csv')
    writeFileSync(file, 'unix_seconds,usd\n1700000000,61.25\n1700000060,61.5\n')
    const settings = { DATA_DIR, SOL_PRICES_FILE: file, SIMULATOR_HISTORY_HOURS: '0' }
    const service = start(t, settings)
    await service.line('api_key')
    const beganAt = Date.now()
    const [facts] = await until(
      () =>
        sql<{ traded: string; mints: string; named: string; capped: string }>(
          DATA_DIR,
          `SELECT (SELECT uniqExact(base_mint) FROM swaps WHERE base_mint IN (SELECT mint FROM mints)) AS traded,
             count() AS mints, countIf(symbol != '' AND name != '' AND supply > 0) AS named,
             (SELECT count() FROM analyst.first_buys WHERE entry_mcap_usd_e6 > 0) AS capped
           FROM mints FINAL`,
        ),
      ([row]) => Number(row?.mints) >= 3 && Number(row?.capped) >= 1,
    )
    t.log(`three mints were there ${Date.now() - beganAt} ms after the start`)
    // Facts are fetched for traded mints alone, and the simulator describes each of its coins.
    t.is(facts?.traded, facts?.mints)
    t.is(facts?.named, facts?.mints)
    const prices = await until(
      () =>
        sql<{ source: string; prices: string }>(
          DATA_DIR,
          'SELECT source, toString(count()) AS prices FROM sol_prices FINAL GROUP BY source ORDER BY source',
        ),
      (rows) => rows.length === 2,
    )
    t.deepEqual(prices[1], { source: 'file', prices: '2' })
    t.is(prices[0]?.source, 'pool')
    t.is(await service.stop(), 0)
  },
)

test.serial(
  'strategies are read again on SIGHUP, a bad file leaves the old ones in force, and they are backtested beside the service and without it (J5, G5)',
  async (t) => {
    const DATA_DIR = join(folder, 'facts')
    const path = join(folder, 'strategies.json')
    const strategies = (field: string) =>
      `{"strategies": [{"name": "held", "description": "d", "conditions": [{"field": "${field}", "op": ">", "value": 1}]}]}`
    writeFileSync(path, strategies('wallets_holding'))
    const settings = { DATA_DIR, STRATEGIES_FILE: path, SIMULATOR_HISTORY_HOURS: '0' }
    const service = start(t, settings)
    await service.line('api_key')
    const reread = () => readAgain(service, 'strategies')
    writeFileSync(path, strategies('wallet_holding'))
    t.like(await reread(), {
      msg: 'strategies not read again, the old ones stay in force',
      reason: `STRATEGIES_FILE: 1 fault in ${path}:\n  line 1:79, strategy held, conditions[0].field: the watchlist has no field "wallet_holding"; did you mean wallets_holding?`,
    })
    writeFileSync(path, '{"strategies": []}')
    t.like(await reread(), { msg: 'strategies read again', strategies: 0 })

    writeFileSync(path, strategies('wallets_holding'))
    // A period without stored data, because figures of the newest minutes change constantly.
    const from = '2020-01-01'
    const to = '2020-01-01T01:00:00Z'
    const backtest = (...times: string[]) => {
      const args = ['signals', 'backtest', '--strategy', path, ...times]
      return commandOutcome(startOperator({ DATA_DIR }, args))
    }
    t.like(await backtest('--from', to, '--to', from), { code: 1 })
    const beside = await backtest('--from', from, '--to', to)
    t.like(beside, { code: 0, document: { ticks: 361, strategies: [{ strategy: 'held' }] } })
    t.is(await service.stop(), 0)
    t.deepEqual(await backtest('--from', from, '--to', to), beside)
  },
)

test.serial('a Kafka that accepts connections and answers nothing is named (J1)', async (t) => {
  const silent = createTcpServer().listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo // listening on TCP
  const KAFKA_BROKERS = `127.0.0.1:${port}`
  const service = start(t, { DATA_DIR: join(folder, 'silent'), KAFKA_BROKERS })
  t.is(await service.ended, 1)
  t.is(
    messages(service),
    `KAFKA_BROKERS: no answer from ${KAFKA_BROKERS}: Connection error: the broker did not answer in time\n`,
  )
})

test.serial('a start that waits for a server ends within 10 s of SIGTERM (J5)', async (t) => {
  const statements = new EventEmitter()
  const hanging = createServer(async (request, response) => {
    const statement = `${request.url} ${await text(request)}`
    if (/CREATE.DATABASE|SELECT 1$/.test(statement)) response.end('1\n')
    else statements.emit('waits')
  }).listen(0, '127.0.0.1')
  t.teardown(() => {
    hanging.close()
    hanging.closeAllConnections()
  })
  await once(hanging, 'listening')
  const { port } = hanging.address() as AddressInfo // listening on TCP
  const service = start(t, {
    DATA_DIR: join(folder, 'waiting'),
    CLICKHOUSE_URL: `http://127.0.0.1:${port}`,
    SECRET_KEY,
    JWT_KEYS_FILE,
  })
  await once(statements, 'waits')
  const beganAt = Date.now()
  t.is(await service.stop(), 1)
  t.true(Date.now() - beganAt < 10_000)
  t.is(messages(service), 'not stopped after 9500 ms\n')
})

test.serial(
  'labels are read again on SIGHUP, a bad file leaves the old ones in force, and operators compare them with a list (J5, B11a)',
  async (t) => {
    const DATA_DIR = join(folder, 'facts')
    const path = join(folder, 'labels.csv')
    const program = 'HADRoNbLovyqhCsocfYQYB7QdfCAAinN9HTePvBCVDQ8'
    const list = join(folder, 'list.json')
    writeFileSync(path, `name,program_id\nhadron,${program}\n`)
    writeFileSync(list, JSON.stringify({ [program]: 'Hadron' }))
    const settings = { DATA_DIR, PROGRAM_LABELS_FILE: path, SIMULATOR_HISTORY_HOURS: '0' }
    const service = start(t, settings)
    await service.line('api_key')
    const compare = (env: Record<string, string>) =>
      commandOutcome(startOperator(env, ['labels', 'diff', '--from', list]))
    const same = { labels: 1, listed: 1, new: [], gone: [], renamed: [] }
    t.deepEqual(await compare({ DATA_DIR }), { code: 0, document: same })
    const reread = () => readAgain(service, 'labels')
    writeFileSync(path, 'name,program_id\nhadron,HADR\n')
    t.like(await reread(), {
      msg: 'labels not read again, the old ones stay in force',
      reason: `PROGRAM_LABELS_FILE: 1 fault in ${path}:\n  line 2: program_id: expected a base58 address of 32 bytes`,
    })
    t.deepEqual(await compare({ DATA_DIR }), { code: 0, document: same })
    writeFileSync(path, `name,program_id\nmine,${program}\n`)
    t.like(await reread(), { msg: 'labels read again', labels: 1 })
    const renamed = [{ program_id: program, name: 'mine', label: 'Hadron' }]
    t.deepEqual(await compare({ DATA_DIR }), { code: 0, document: { ...same, renamed } })
    t.is(await service.stop(), 0)
    const without = { DATA_DIR, PROGRAM_LABELS_FILE: path }
    t.deepEqual(await compare(without), { code: 0, document: { ...same, renamed } })
  },
)

test.serial(
  'JWT keys are read again on SIGHUP: a bad file leaves the old ones in force and is not repeated, tokens of a removed key end at once (J5)',
  async (t) => {
    const path = join(folder, 'rotated-keys.json')
    const newKey = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
    const [old, next] = [newKey(), newKey()]
    const write = (...keys: object[]) =>
      writeFileSync(path, JSON.stringify({ keys }), { mode: 0o600 })
    write(old)
    const settings = { DATA_DIR: join(folder, 'facts'), SIMULATOR_HISTORY_HOURS: '0' }
    const service = start(t, { ...settings, JWT_KEYS_FILE: path })
    const url = await service.line('url')
    const reread = () => readAgain(service, 'JWT keys')
    const published = async () => {
      const response = await fetch(`${url}/.well-known/jwks.json`)
      const { keys } = (await response.json()) as { keys: { x: string }[] }
      return keys.map(({ x }) => x)
    }
    const token = await tokenOf({ url }, newWallet())
    const status = async () =>
      (await fetch(`${url}/me/api`, { headers: { authorization: `Bearer ${token}` } })).status
    t.is(await status(), 200)

    writeFileSync(path, JSON.stringify({ keys: [{ ...old, d: `${old.d}A` }] }))
    t.like(await reread(), {
      msg: 'JWT keys not read again, the old ones stay in force',
      reason:
        'JWT_KEYS_FILE: expected a JWK set of Ed25519 keys, {"keys":[{"kty":"OKP","crv":"Ed25519","x":"...","d":"..."}]}',
    })
    t.deepEqual([await status(), await published()], [200, [old.x]])
    rmSync(path)
    t.like(await reread(), {
      reason: `JWT_KEYS_FILE: cannot read ${path}: there is no such file`,
    })
    write(next, old)
    t.like(await reread(), { msg: 'JWT keys read again', keys: 2 })
    t.deepEqual([await status(), await published()], [200, [next.x, old.x]])
    write(next)
    t.like(await reread(), { keys: 1 })
    t.deepEqual([await status(), await published()], [401, [next.x]])
    for (const secret of [old.d, next.d, token]) t.false(service.stderr().includes(String(secret)))
    t.is(await service.stop(), 0)
  },
)

/** The log lines of a process. */
function logLines(process: ServiceProcess) {
  const lines = process.stderr().split('\n').filter(isLogLine)
  return lines.map((line) => JSON.parse(line) as { readonly msg: string }) // pino's
}

/** Queries a running service by the operator's command. */
async function sql<T>(dataDir: string, query: string): Promise<readonly T[]> {
  const { document } = await commandOutcome(startOperator({ DATA_DIR: dataDir }, ['sql', query]))
  return (document as { items: readonly T[] }).items // rule J3
}

function indexOf(item: unknown, items: readonly unknown[]): number {
  return items.findIndex((one) => isDeepStrictEqual(one, item))
}

/**
 * stderr has log lines alone, each with the process and its roles, and none holds an address, a
 * signature or a key (rule I1).
 */
function keepsSecrets(t: ExecutionContext, process: ServiceProcess): void {
  t.is(messages(process), '')
  for (const line of logLines(process))
    t.like(line, { pid: process.child.pid, roles: 'ingest,workers,api,webhooks' })
  t.notRegex(process.stderr(), /[1-9A-HJ-NP-Za-km-z]{32,}/)
}

/** Lines of stderr that are not log lines. */
function messages(process: ServiceProcess): string {
  const lines = process.stderr().split(/^/m)
  return lines.filter((line) => !isLogLine(line)).join('')
}

function isLogLine(line: string): boolean {
  try {
    return typeof (JSON.parse(line) as { level?: unknown }).level === 'number'
  } catch {
    return false
  }
}

/** Placeholders for ports that are known only when the tests run. */
const takenPort = '{taken port}'
const nowhere = '127.0.0.1:{closed port}'
const ports = new Map<string, number>()

test.before('one port is taken, another closed', async () => {
  for (const name of [takenPort, '{closed port}']) {
    const server = createServer().listen(0, '127.0.0.1').unref()
    await once(server, 'listening')
    ports.set(name, (server.address() as AddressInfo).port) // listening on TCP
    if (name !== takenPort) server.close()
  }
})

function withPorts(text: string): string {
  return text.replace(/\{\w+ port\}/g, (name) => String(ports.get(name)))
}

/** A start that must fail: its environment, and all its output. */
interface Refusal {
  readonly title: string
  readonly env: Readonly<Record<string, string>>
  readonly says: string
  /**
   * Whether the service starts on the data folder of the first test. Otherwise it has no data
   * folder.
   */
  readonly onStored?: boolean
}

function refused({ title, env, says, onStored = false }: Refusal): void {
  test.serial(`it does not start with ${title}`, async (t) => {
    const dataDir = onStored ? stored : join(folder, 'absent')
    const before = contentOf(dataDir)
    const beganAt = Date.now()
    const values = Object.entries(env).map(([name, value]) => [name, withPorts(value)])
    const process = start(t, { DATA_DIR: dataDir, ...Object.fromEntries(values) })
    const code = await process.ended
    const tookMs = Date.now() - beganAt
    t.deepEqual(
      { code, stdout: process.stdout(), says: messages(process) },
      { code: 1, stdout: '', says: withPorts(says) },
    )
    t.false(process.stderr().includes(PASSWORD))
    t.deepEqual(contentOf(dataDir), before)
    t.log(`ended ${tookMs} ms after its start (5 s are allowed on a machine of its own, rule J1)`)
  })
}

/**
 * The engine merges parts of tables whenever it is open (`data` links to `store`), so that their
 * contents are compared as rows.
 */
const PARTS = /\/clickhouse\/(store|data)\//

/** The digests of all files of a folder; null when the folder is absent. */
function contentOf(path: string): Record<string, string> | null {
  if (!existsSync(path)) return null
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !PARTS.test(file))
  return Object.fromEntries(
    files.map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]),
  )
}

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name)
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
  return path
}

const SECRET_KEY = 'ab'.repeat(32)
const [w1 = '', w2 = ''] = truth.wallets
const absent = join(folder, 'no-such-file')
const aKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
const JWT_KEYS_FILE = file('jwt-keys.json', JSON.stringify({ keys: [aKey] }))
const openKeys = file('open-keys.json', JSON.stringify({ keys: [aKey] }))
chmodSync(openKeys, 0o644)
const openSalt = file('salt', 'a salt of twenty bytes')
chmodSync(openSalt, 0o620)
const openData = join(folder, 'open-data')
mkdirSync(openData)
chmodSync(openData, 0o775)
const openSecret = join(folder, 'open-secret')
mkdirSync(openSecret, { mode: 0o700 })
writeFileSync(join(openSecret, 'secret-key'), PASSWORD)
chmodSync(join(openSecret, 'secret-key'), 0o604)
const wallets = file('wallets.txt', ...truth.wallets)
const other = 'So11111111111111111111111111111111111111112'

refused({
  title: 'several wrong values',
  env: {
    ROLES: 'ingest,cook',
    PORT: 'http',
    METRICS_PORT: '70000',
    OTEL_EXPORTER_OTLP_ENDPOINT: `grpc://user:${PASSWORD}@127.0.0.1`,
    SECRET_KEY: PASSWORD,
    SHED_LOAD_ABOVE_MS: '-1',
    CLICKHOUSE_URL: `ftp://user:${PASSWORD}@127.0.0.1/x`,
    CLICKHOUSE_CLUSTER: 'main; DROP',
    REDIS_URL: `http://user:${PASSWORD}@127.0.0.1`,
    KAFKA_REPLICATION_FACTOR: '0',
    KAFKA_PARTITIONS: '257',
    KAFKA_LOG_FORMAT: '2',
    KAFKA_SASL: `kerberos:user:${PASSWORD}`,
  },
  says: `bad configuration:
  ROLES: expected roles of ingest, workers, api, webhooks, for example ingest,workers
  KAFKA_REPLICATION_FACTOR: expected an integer from 1 to 9, for example 3
  KAFKA_PARTITIONS: expected an integer from 1 to 256, for example 24
  KAFKA_LOG_FORMAT: expected an integer from 3 to 3, for example 3
  KAFKA_SASL: expected mechanism:user:password with plain, scram-sha-256 or scram-sha-512, for example scram-sha-512:service:...
  CLICKHOUSE_URL: expected a URL starting with http:// or https://, for example http://user:password@clickhouse:8123/tracked_wallets
  CLICKHOUSE_CLUSTER: expected letters, digits, dashes, underscores, for example main
  METRICS_PORT: expected an integer from 0 to 65535, for example 9464
  OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL starting with http:// or https://, for example http://collector:4318
  PORT: expected an integer from 0 to 65535, for example 8080
  REDIS_URL: expected a URL starting with redis://, rediss://, redis+sentinel:// or rediss+sentinel://, for example redis://user:password@redis:6379 or redis+sentinel://user:password@host1:26379,host2:26379/mymaster
  SECRET_KEY: expected different keys of at least 32 bytes in hex or base64, separated by commas, for example one of openssl rand -hex 32
  SHED_LOAD_ABOVE_MS: expected an integer from 0 to 10000, for example 50
`,
})
refused({
  title: 'secrets that other users can read or write',
  env: { JWT_KEYS_FILE: openKeys, PRIVACY_SALT_FILE: openSalt, DATA_DIR: openData },
  says: `bad configuration:
  PRIVACY_SALT_FILE: ${openSalt} can be written by other users (mode 0620): chmod 600 ${openSalt}
  JWT_KEYS_FILE: ${openKeys} can be read by other users (mode 0644): chmod 600 ${openKeys}
  DATA_DIR: ${openData} can be written by other users (mode 0775): chmod go-w ${openData}
`,
})
refused({
  title: 'a key of its own that other users can read',
  env: { DATA_DIR: openSecret },
  says: `bad configuration:
  DATA_DIR: ${openSecret}/secret-key can be read by other users (mode 0604): chmod 600 ${openSecret}/secret-key
`,
})
refused({
  title: 'secrets in files that are missing or empty, or given twice',
  env: {
    REDIS_URL: `redis://:${PASSWORD}@127.0.0.1`,
    REDIS_URL_FILE: file('redis-url', `redis://:${PASSWORD}@127.0.0.1`),
    SECRET_KEY_FILE: absent,
    KAFKA_SASL_FILE: file('empty', ''),
  },
  says: `bad configuration:
  SECRET_KEY_FILE: cannot read ${absent}: there is no such file
  REDIS_URL_FILE: REDIS_URL is also set; set only one of them
  KAFKA_SASL_FILE: ${join(folder, 'empty')} is empty
`,
})
refused({
  title: 'a secret in a file that is no such secret',
  env: { SECRET_KEY_FILE: file('bad-secret', PASSWORD) },
  says: `bad configuration:
  SECRET_KEY: expected different keys of at least 32 bytes in hex or base64, separated by commas, for example one of openssl rand -hex 32
`,
})
refused({
  title: 'several secret keys and no key of trade ids',
  env: { SECRET_KEY: `${SECRET_KEY},${'cd'.repeat(32)}` },
  says: 'bad configuration:\n  TRADE_ID_KEY: required with several keys in SECRET_KEY: the only key that SECRET_KEY had before, so that no trade_id changes\n',
})
refused({
  title: 'some of the roles and no servers',
  env: { ROLES: 'ingest' },
  says: `bad configuration:
  KAFKA_BROKERS: required unless ROLES names all roles: processes can share only real servers
  CLICKHOUSE_URL: required unless ROLES names all roles: processes can share only real servers
  REDIS_URL: required unless ROLES names all roles: processes can share only real servers
`,
})
refused({
  title: 'workers of a real stream without RPC',
  env: { ROLES: 'workers', YELLOWSTONE_ENDPOINT: `http://${nowhere}` },
  says: `bad configuration:
  SOLANA_RPC_URL: required with YELLOWSTONE_ENDPOINT, for backfills and mint facts
  KAFKA_BROKERS: required unless ROLES names all roles: processes can share only real servers
  CLICKHOUSE_URL: required unless ROLES names all roles: processes can share only real servers
  REDIS_URL: required unless ROLES names all roles: processes can share only real servers
`,
})
refused({
  title: 'a token for some of several streams',
  env: {
    YELLOWSTONE_ENDPOINT: `http://${nowhere},http://${nowhere},http://${nowhere}`,
    YELLOWSTONE_X_TOKEN: `${PASSWORD},other`,
    SOLANA_RPC_URL: `http://${nowhere}`,
    WALLETS_FILE: 'wallets.txt',
  },
  says: 'bad configuration:\n  YELLOWSTONE_X_TOKEN: expected one token, or one for each of the 3 servers of YELLOWSTONE_ENDPOINT\n',
})
refused({
  title: 'a standby of a log in memory',
  env: { INGEST_FAILOVER: 'true' },
  says: 'bad configuration:\n  KAFKA_BROKERS: required with INGEST_FAILOVER: a log in memory has one process\n',
})
refused({
  title: 'a real stream without RPC and wallets',
  env: { YELLOWSTONE_ENDPOINT: `http://${nowhere}`, YELLOWSTONE_X_TOKEN: PASSWORD },
  says: `bad configuration:
  SOLANA_RPC_URL: required with YELLOWSTONE_ENDPOINT, for backfills and mint facts
  WALLETS_FILE: required with YELLOWSTONE_ENDPOINT: one base58 address a line
`,
})
refused({
  title: 'a token of a stream and no stream',
  env: { YELLOWSTONE_X_TOKEN: PASSWORD },
  says: 'bad configuration:\n  YELLOWSTONE_X_TOKEN: has no effect without YELLOWSTONE_ENDPOINT\n',
})
refused({
  title: 'a server and no secrets',
  env: { CLICKHOUSE_URL: `http://user:${PASSWORD}@${nowhere}` },
  says: `bad configuration:
  JWT_KEYS_FILE: required by role api with REDIS_URL or CLICKHOUSE_URL: a JWK set of Ed25519 keys, the same in every process; docs/operating.md has the command
  SECRET_KEY: required by roles api and webhooks with REDIS_URL or CLICKHOUSE_URL: 32 bytes or more in hex or base64, the same in every process, for example from: openssl rand -hex 32
`,
})
refused({
  title: 'files that cannot be read, and one that holds what it should not',
  env: {
    WALLETS_FILE: file('one-wallet.txt', 'W1'),
    SOL_PRICES_FILE: absent,
    STRATEGIES_FILE: folder,
    JWT_KEYS_FILE: absent,
    SIMULATOR_BLOCKS: `${wallets},${absent},${folder}`,
  },
  says: `bad configuration:
  WALLETS_FILE: line 1 of ${join(folder, 'one-wallet.txt')} is not a base58 address of 32 bytes
  SOL_PRICES_FILE: cannot read ${absent}: there is no such file
  STRATEGIES_FILE: cannot read ${folder}: it is a folder
  JWT_KEYS_FILE: cannot read ${absent}: there is no such file
  SIMULATOR_BLOCKS: cannot read ${absent}: there is no such file
  SIMULATOR_BLOCKS: cannot read ${folder}: it is a folder
`,
})
refused({
  title: 'a file of keys that holds none',
  env: {
    JWT_KEYS_FILE: file('no-keys.json', JSON.stringify({ keys: [{ kty: 'oct', k: PASSWORD }] })),
  },
  says: `bad configuration:\n  JWT_KEYS_FILE: expected a JWK set of Ed25519 keys, {"keys":[{"kty":"OKP","crv":"Ed25519","x":"...","d":"..."}]}\n`,
})
refused({
  title: 'one port for two purposes',
  env: { PORT: '18080', METRICS_PORT: '18080' },
  says: 'bad configuration:\n  METRICS_PORT: must differ from PORT\n',
})
const badWallet = file('bad-wallet.txt', '# tracked', w1, 'W2')
refused({
  title: 'a line of wallets that is no address',
  env: { WALLETS_FILE: badWallet },
  says: `bad configuration:\n  WALLETS_FILE: line 3 of ${badWallet} is not a base58 address of 32 bytes\n`,
})
const twice = file('twice.txt', w1, w2, `${w1} # again`)
refused({
  title: 'a wallet listed twice',
  env: { WALLETS_FILE: twice },
  says: `bad configuration:\n  WALLETS_FILE: line 3 of ${twice} repeats the address of line 1\n`,
})
const badStrategies = file(
  'bad-strategies.json',
  '{ "strategies": [',
  '  { "name": "x", "description": "d", "conditions": [{ "field": "age_second", "op": "=>", "value": 1 }] }',
  '] }',
)
refused({
  title: 'a file of strategies with faults',
  env: { STRATEGIES_FILE: badStrategies },
  says: `bad configuration:
  STRATEGIES_FILE: 2 faults in ${badStrategies}:
    line 2:64, strategy x, conditions[0].field: the watchlist has no field "age_second"; did you mean age_seconds?
    line 2:84, strategy x, conditions[0].op: expected one of >= > <= < = !=
`,
})
const badLabels = file('bad-labels.csv', 'name,program_id', 'Hadron,HADR')
refused({
  title: 'a file of labels with a fault',
  env: { PROGRAM_LABELS_FILE: badLabels },
  says: `bad configuration:
  PROGRAM_LABELS_FILE: 1 fault in ${badLabels}:
    line 2: name: expected 1 to 64 letters a to z, digits and _, not unknown
`,
})
const badPrices = file('bad-prices.csv', 'unix_seconds,usd', '1700000000,61.25', '1700000060,cheap')
refused({
  title: 'a line of prices that is none',
  env: { SOL_PRICES_FILE: badPrices },
  says: `bad configuration:\n  SOL_PRICES_FILE: line 3 of ${badPrices} is not "unix_seconds,usd" with usd above 0 and at most 9 decimals, for example "1700000000,61.25"\n`,
})
const noJson = file('no-json.jsonl', '', '{"slot":')
refused({
  title: 'a recorded line that is not JSON',
  env: { SIMULATOR_BLOCKS: noJson },
  says: `SIMULATOR_BLOCKS: ${noJson}, line 2: not JSON\n`,
})
const noTransaction = file(
  'no-transaction.jsonl',
  '{"slot":7,"meta":{},"transaction":{"message":{"instructions":[],"accountKeys":["x"]},"signatures":[]}}',
)
refused({
  title: 'a recorded line that is no transaction',
  env: { SIMULATOR_BLOCKS: noTransaction },
  says: `SIMULATOR_BLOCKS: ${noTransaction}, line 1: not a transaction of encoding json: Expected String\n`,
})
refused({
  title: 'a stream and an RPC that do not answer',
  env: {
    YELLOWSTONE_ENDPOINT: `http://user:${PASSWORD}@${nowhere}`,
    YELLOWSTONE_X_TOKEN: PASSWORD,
    SOLANA_RPC_URL: `http://${nowhere}/?api-key=${PASSWORD}`,
    WALLETS_FILE: wallets,
  },
  says: `YELLOWSTONE_ENDPOINT: nothing answers at ${nowhere}\nSOLANA_RPC_URL: nothing answers at ${nowhere}\n`,
})
refused({
  title: 'a Kafka that does not answer',
  env: { KAFKA_BROKERS: `${nowhere},127.0.0.1:1`, KAFKA_SASL: `plain:user:${PASSWORD}` },
  says: `KAFKA_BROKERS: nothing answers at ${nowhere}, 127.0.0.1:1\n`,
})
refused({
  title: 'a ClickHouse that does not answer',
  env: { CLICKHOUSE_URL: `http://user:${PASSWORD}@${nowhere}/x`, SECRET_KEY, JWT_KEYS_FILE },
  says: `CLICKHOUSE_URL: nothing answers at ${nowhere}\n`,
})
refused({
  title: 'a Redis that does not answer',
  env: { REDIS_URL: `redis://user:${PASSWORD}@${nowhere}/3`, SECRET_KEY, JWT_KEYS_FILE },
  says: `REDIS_URL: nothing answers at ${nowhere}\n`,
})
refused({
  title: 'a port of the API that is taken',
  env: { PORT: takenPort },
  says: `PORT: port ${takenPort} is taken by another process; set another, or 0\n`,
})
refused({
  title: 'a port of metrics that is taken',
  env: { METRICS_PORT: takenPort },
  says: `METRICS_PORT: port ${takenPort} is taken by another process; set another, or 0\n`,
})
refused({
  title: 'an address that is not of this machine',
  env: { HOST: '192.0.2.1' },
  says: 'HOST, PORT: cannot listen on 192.0.2.1:0: this machine has no such address\n',
})
refused({
  title: 'a data folder that is a file',
  env: { DATA_DIR: wallets },
  says: `DATA_DIR: ${wallets} cannot be used: ${wallets} is not a folder\n`,
})
refused({
  title: 'a data folder below a file',
  env: { DATA_DIR: join(wallets, 'data') },
  says: `DATA_DIR: ${join(wallets, 'data')} cannot be used: ${wallets} is not a folder\n`,
})
// Node's recursive mkdir would loop there for ever.
for (const DATA_DIR of existsSync('/proc') ? ['/proc/x', '/proc/x/y'] : [])
  refused({
    title: `a data folder that cannot be made: ${DATA_DIR}`,
    env: { DATA_DIR },
    says: `DATA_DIR: ${DATA_DIR} cannot be used: /proc does not accept new folders\n`,
  })
const changed = file('changed.txt', w1, other, ...truth.wallets.slice(2))
refused({
  title: 'a wallet that was changed',
  env: { WALLETS_FILE: changed },
  says: `WALLETS_FILE: line 2 of ${changed} differs from the stored wallets: W2 has another address; lines may only be added at the end\n`,
  onStored: true,
})
const shortened = file('shortened.txt', ...truth.wallets.slice(0, -1))
refused({
  title: 'a wallet that was taken away',
  env: { WALLETS_FILE: shortened },
  says: `WALLETS_FILE: line 30 of ${shortened} differs from the stored wallets: W30 is missing; lines may only be added at the end\n`,
  onStored: true,
})

test.serial(
  'of a refused list no wallet is stored; then a changed schema file is recorded',
  async (t) => {
    const store = await openChdb(join(stored, 'clickhouse'))
    const rows = await store.query('SELECT address FROM tracked_wallets FINAL ORDER BY wallet')
    t.deepEqual(
      rows,
      truth.wallets.map((address) => ({ address })),
    )
    const [applied] = await store.query<{ name: string }>(
      'SELECT name FROM schema_migrations ORDER BY name LIMIT 1',
    )
    t.is(applied?.name, SCHEMA_FILE)
    await store.insert('schema_migrations', [
      {
        name: SCHEMA_FILE,
        checksum: 'statements-sha256:of another text',
        applied_at: 1_700_000_000,
      },
    ])
    await store.close()
  },
)

const SCHEMA_FILE = readdirSync(join(import.meta.dirname, '../../../sql')).sort()[0] ?? ''

refused({
  title: 'a schema file that was changed after it was applied',
  env: {},
  says: `sql/${SCHEMA_FILE} has changed since it was applied: undo the change and add a new file\n`,
  onStored: true,
})
