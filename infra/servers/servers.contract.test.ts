import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import { probeKafka } from '../../pipeline/log/kafka-client.ts'
import { attackAsAnalyst } from './hostile-analyst.ts'
import type { ServerStatus } from './servers.ts'

/** These tests install and start servers, so they run only where servers are in use already. */
const enabled = Boolean(process.env.KAFKA_BROKERS)
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: KAFKA_BROKERS is not set)'
const PORT_BASE = 28_900

const MAIN = join(import.meta.dirname, 'main.js')
const dir = mkdtempSync(join(tmpdir(), 'servers-'))
chmodSync(dir, 0o711) // the servers' users can enter it

/** Runs `npm run servers` as a shell would. */
function servers(command: string, ...args: string[]) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = spawn(process.execPath, [MAIN, command, ...args], {
      env: { ...process.env, ANALYST_PASSWORD: "an analyst's" },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (text) => (stdout += text))
    child.stderr.on('data', (text) => (stderr += text))
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

const lineOf = (lines: string, key: string) =>
  new RegExp(`^${key}=(.*)$`, 'm').exec(lines)?.[1] ?? ''

anyTest.after.always('stop', async () => {
  for (const name of enabled ? ['data', 'closed', 'earlier'] : [])
    await servers('stop', '--data', join(dir, name))
  rmSync(dir, { recursive: true, force: true })
})

test(`servers start, keep what was written over a kill, and stop; hostile analysts fail no query of the service${why}`, async (t) => {
  const options = ['--data', join(dir, 'data')]
  const first = await servers('start', ...options, '--port-base', String(PORT_BASE))
  t.is(first.code, 0, first.stderr)
  t.regex(
    first.stdout,
    /^KAFKA_BROKERS=127\.0\.0\.1:28900\nCLICKHOUSE_URL=http:\S+\n(?:CLICKHOUSE_URL_(?:INGEST|WORKERS|API|WEBHOOKS)=http:\S+\n){4}CLICKHOUSE_READER_URL=http:\S+\nANALYST_PASSWORD='an analyst'\\''s'\nREDIS_URL=redis:\S+\n$/,
  )
  t.is(statSync(join(dir, 'data/servers.json')).mode & 0o777, 0o600)

  const clickhouse = createClient({
    url: lineOf(first.stdout, 'CLICKHOUSE_URL'),
    log: { level: ClickHouseLogLevel.OFF },
  })
  const redis = new Redis(lineOf(first.stdout, 'REDIS_URL'), { lazyConnect: true })
  redis.on('error', () => {})
  const kafka = () =>
    probeKafka({ brokers: [`127.0.0.1:${PORT_BASE}`], topicPrefix: '', ssl: false, sasl: null })
  await kafka()
  await clickhouse.command({ query: 'CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n' })
  await clickhouse.insert({ table: 'kept', values: [{ n: '7' }], format: 'JSONEachRow' })
  await redis.set('kept', '7')

  t.deepEqual(await servers('start', ...options), { code: 0, stdout: first.stdout, stderr: '' })

  const status = async () => {
    const { code, stdout } = await servers('status', ...options)
    const { items } = JSON.parse(stdout) as { items: ServerStatus[] }
    return { code, states: items.map(({ name, state, pid }) => [name, state, pid !== null]) }
  }
  const [kafkaUp, redisUp] = ['kafka', 'redis'].map((name) => [name, 'answers', true])
  t.deepEqual(await status(), {
    code: 0,
    states: [kafkaUp, ['clickhouse', 'answers', true], redisUp],
  })
  t.is((await servers('kill', ...options, '--only', 'clickhouse')).code, 0)
  t.deepEqual(await status(), {
    code: 1,
    states: [kafkaUp, ['clickhouse', 'down', false], redisUp],
  })
  t.false((await clickhouse.ping()).success)
  const second = await servers('start', ...options)
  t.is(second.stdout, first.stdout)
  const rows = await clickhouse.query({ query: 'SELECT n FROM kept', format: 'JSONEachRow' })
  t.deepEqual(await rows.json(), [{ n: '7' }])
  t.is((await servers('restart', ...options, '--only', 'redis')).code, 0)
  t.is(await redis.get('kept'), '7')

  const url = new URL(lineOf(first.stdout, 'CLICKHOUSE_URL'))
  const analyst = createClient({
    url: `http://${url.host}`,
    username: 'analyst',
    password: "an analyst's",
    log: { level: ClickHouseLogLevel.OFF },
  })
  const kept = { query: 'SELECT n FROM tracked_wallets.kept' }
  await t.throwsAsync(analyst.query(kept), { message: /Database analyst does not exist/ })
  await clickhouse.command({ query: 'CREATE DATABASE analyst' })
  await t.throwsAsync(analyst.query(kept), { message: /not enough privileges/i })
  await clickhouse.command({
    query:
      'CREATE VIEW analyst.kept DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT n FROM kept',
  })
  const seen = await analyst.query({ query: 'SELECT n FROM analyst.kept', format: 'JSONEachRow' })
  t.deepEqual(await seen.json(), [{ n: '7' }])
  for (const query of [
    'SELECT * FROM system.processes',
    "SELECT * FROM url('http://127.0.0.1/', LineAsString)",
    "SELECT * FROM file('/etc/passwd', LineAsString)",
    'CREATE TABLE analyst.mine (n UInt8) ENGINE = Memory',
    'SET max_memory_usage = 0',
  ])
    await t.throwsAsync(analyst.command({ query }), undefined, query)

  // In this build `file()` needs no grant and reads any folder, so tables are encrypted on disk.
  const text = 'an address that no analyst may see'
  await clickhouse.command({
    query: 'CREATE TABLE named (text String) ENGINE = MergeTree ORDER BY text',
  })
  await clickhouse.insert({ table: 'named', values: [{ text }], format: 'JSONEachRow' })
  const parts = await clickhouse.query({
    query: "SELECT path FROM system.parts WHERE table = 'named' AND active",
    format: 'JSONEachRow',
  })
  const [part] = await parts.json<{ path: string }>()
  const file = await analyst.query({
    query: `SELECT hex(file('${part?.path}data.bin')) AS bytes`,
    format: 'JSONEachRow',
  })
  const [read] = await file.json<{ bytes: string }>()
  t.true(Buffer.from(read?.bytes ?? '', 'hex').length > text.length)
  t.false(Buffer.from(read?.bytes ?? '', 'hex').includes(text), 'tables are encrypted on disk')

  // `work` needs 0.1 GB of memory. The hostile analyst tries to use all of the server's 4 GB.
  const work = async () => {
    await clickhouse.command({ query: 'INSERT INTO kept SELECT number FROM numbers(10000)' })
    await clickhouse.command({
      query: 'SELECT groupArray(number) FROM numbers(10000000) FORMAT Null',
    })
  }
  const limits = { forMs: 15_000, rounds: 6 }
  const { failures, rounds, attacks } = await attackAsAnalyst(analyst, work, limits)
  t.deepEqual(failures, [])
  t.true(rounds > 5 && attacks >= 8, `${rounds} rounds, ${attacks} attacks`)

  await Promise.all([clickhouse.close(), analyst.close(), redis.disconnect()])
  t.is((await servers('stop', ...options)).code, 0)
  await t.throwsAsync(kafka())
  t.deepEqual(await servers('stop', ...options), { code: 0, stdout: '', stderr: '' })
})

test(`servers run as separate users, and nobody reads files or passwords through ClickHouse${why}`, async (t) => {
  const isRoot = process.getuid?.() === 0
  const data = join(dir, 'closed')
  const options = ['--data', data, '--port-base', String(PORT_BASE + 20)]
  const started = await servers('start', ...options)
  t.is(started.code, 0, started.stderr)
  t.false(started.stderr.includes('WARNING'), started.stderr)
  const url = new URL(lineOf(started.stdout, 'CLICKHOUSE_URL'))
  const redisUrl = new URL(lineOf(started.stdout, 'REDIS_URL'))
  const passwords = [url.password, redisUrl.password, "an analyst's"]
  const http = `http://${url.host}/`

  const state = JSON.parse(readFileSync(join(data, 'servers.json'), 'utf8')) as {
    readonly processes: Readonly<Record<string, { readonly pid: number }>>
  }
  for (const [name, { pid }] of Object.entries(state.processes)) {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    t.false(
      passwords.some((text) => `${environment}${command}`.includes(text)),
      name,
    )
    const [, uid] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    t.is(uid === String(process.getuid?.()), !isRoot, name)
  }
  for (const file of readdirSync(join(data, 'clickhouse'), { recursive: true, encoding: 'utf8' })) {
    const path = join(data, 'clickhouse', file)
    if (!/^(config|users).*\.xml$/.test(file)) continue
    t.is(statSync(path).mode & 0o007, 0, file)
    const text = readFileSync(path, 'utf8')
    t.false(
      passwords.some((password) => text.includes(password)),
      file,
    )
  }

  /** The error code of ClickHouse, or the response. */
  const ask = async (query: string, user: string, password: string, host?: string) => {
    const { status, text } = await post(http, query, {
      'x-clickhouse-user': user,
      'x-clickhouse-key': password,
      ...(host === undefined ? {} : { host }),
    })
    return /^Code: (\d+)/.exec(text)?.[1] ?? (status === 200 ? text : String(status))
  }
  const users = [
    ['tracked_wallets', url.password],
    ['analyst', "an analyst's"],
  ] as const
  t.is(await ask('SELECT 1', ...users[0]), '1\n')
  t.is(await ask('CREATE DATABASE analyst', ...users[0]), '') // the default one of analysts
  // The user of the launcher may have one session, which the launcher has.
  const noMore = '700'
  t.is(await ask('SELECT 1', 'default', ''), noMore)
  t.is(await ask("SELECT toUInt8(file('/proc/self/environ'))", 'default', ''), noMore)
  t.is(await ask('SELECT 1', ...users[0], 'attacker.example'), '404')
  t.is(await ask('SELECT 1', ...users[0], `localhost:${url.port}`), '1\n')

  const secret = join(data, 'secret')
  writeFileSync(secret, 'do not read', { mode: 0o600 })
  for (const [user, password] of users) {
    if (isRoot)
      for (const path of [
        secret,
        '/etc/shadow',
        '/proc/self/environ',
        `/proc/${process.pid}/environ`,
      ])
        t.is(await ask(`SELECT file('${path}')`, user, password), '76', `${user} reads ${path}`)
    for (const source of [
      `file('${secret}', LineAsString)`,
      `"fi\\x6ce"/**/('${secret}', LineAsString)`,
      "filesystem('/etc')",
      `icebergLocal('${data}')`,
      "sqlite('/tmp/a.db', 'a')",
      "url('http://127.0.0.1/', LineAsString)",
      "remote('127.0.0.1', 'system', 'one')",
    ])
      t.is(await ask(`SELECT * FROM ${source}`, user, password), '497', `${user}: ${source}`)
    const engine = `CREATE TABLE tracked_wallets.taken (line String) ENGINE = File(LineAsString)`
    t.is(await ask(engine, user, password), '497', user)
  }
  t.is((await servers('stop', ...options)).code, 0)
})

test(`a data folder of servers that ran as one user is taken over${why}`, async (t) => {
  const data = join(dir, 'earlier')
  const options = ['--data', data, '--port-base', String(PORT_BASE + 30), '--only', 'redis']
  const first = await servers('start', ...options)
  t.is(first.code, 0, first.stderr)
  const url = lineOf(first.stdout, 'REDIS_URL')
  const write = new Redis(url)
  await write.set('kept', '7')
  await write.quit()
  await servers('stop', ...options)
  // The folder is as an earlier version left it.
  const files = join(data, 'redis/appendonlydir')
  renameSync(join(data, 'redis/data/appendonlydir'), files)
  rmdirSync(join(data, 'redis/data'))
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '0:0', data])
  const second = await servers('start', ...options)
  t.is(second.code, 0, second.stderr)
  const read = new Redis(url)
  t.is(await read.get('kept'), '7')
  await read.quit()
  t.is((await servers('stop', ...options)).code, 0)
})

/** Sends a POST with any headers; `fetch` would send its own `Host`. */
function post(url: string, body: string, headers: Readonly<Record<string, string>>) {
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once('error', reject).end(body)
  })
}

test(`a port that is taken is named, and nothing is started${why}`, async (t) => {
  const listener = createServer().listen(PORT_BASE + 12, '127.0.0.1')
  const options = ['--data', join(dir, 'taken'), '--port-base', String(PORT_BASE + 10)]
  const result = await servers('start', ...options)
  listener.close()
  t.deepEqual(result, {
    code: 1,
    stdout: '',
    stderr:
      'port 28912 (ClickHouse http) is taken by another process; choose other ports with --port-base N\n',
  })
})

anyTest.serial('a data folder with other content is refused and left as it was', async (t) => {
  const folder = mkdtempSync(join(dir, 'other-'))
  writeFileSync(join(folder, 'letter.txt'), 'dear')
  const file = join(folder, 'letter.txt')
  t.deepEqual(await servers('start', '--data', folder), {
    code: 1,
    stdout: '',
    stderr: `--data ${folder}: it is not empty and no data folder of these servers\n`,
  })
  t.is(readFileSync(file, 'utf8'), 'dear')
  const notAFolder = await servers('start', '--data', file)
  t.is(notAFolder.code, 1)
  t.true(notAFolder.stderr.startsWith(`--data ${file}: `), notAFolder.stderr)
})

anyTest(
  'only the owner reads a file of passwords that a README writes; git and images ignore it',
  (t) => {
    const root = join(import.meta.dirname, '../../..')
    const dockerIgnored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    for (const readme of ['docs/operating.md', 'infra/servers/README.md']) {
      const text = readFileSync(join(root, readme), 'utf8')
      const lines = [...text.matchAll(/^.*servers -- start .*> (\S+\.env).*$/gm)]
      t.is(lines.length, 1, readme)
      for (const [line, file = ''] of lines) {
        t.true(line.startsWith('(umask 077; '), line)
        t.notThrows(() => execFileSync('git', ['check-ignore', '-q', file], { cwd: root }))
      }
    }
    t.true(dockerIgnored.includes('**/*.env'))
  },
)
