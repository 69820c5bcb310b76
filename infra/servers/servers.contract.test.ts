import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import { probeKafka } from '../../pipeline/log/kafka-client.ts'

/** Installs and starts servers, so it runs only where others are used already. */
const enabled = Boolean(process.env.KAFKA_BROKERS)
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: KAFKA_BROKERS is not set)'
const PORT_BASE = 28_900

const MAIN = join(import.meta.dirname, 'main.js')
const dir = mkdtempSync(join(tmpdir(), 'servers-'))

/** Runs the command as a shell would. */
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
  if (enabled) await servers('stop', '--data', dir)
  rmSync(dir, { recursive: true, force: true })
})

test(`servers start, keep what was written over a kill, and stop${why}`, async (t) => {
  t.timeout(180_000)
  const place = ['--data', join(dir, 'data')]
  const first = await servers('start', ...place, '--port-base', String(PORT_BASE))
  t.is(first.code, 0, first.stderr)
  t.regex(
    first.stdout,
    /^KAFKA_BROKERS=127\.0\.0\.1:28900\nCLICKHOUSE_URL=http:\S+\nANALYST_PASSWORD='an analyst'\\''s'\nREDIS_URL=redis:\S+\n$/,
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

  t.deepEqual(await servers('start', ...place), { code: 0, stdout: first.stdout, stderr: '' })

  t.is((await servers('kill', ...place, '--only', 'clickhouse')).code, 0)
  t.false((await clickhouse.ping()).success)
  const second = await servers('start', ...place)
  t.is(second.stdout, first.stdout)
  const rows = await clickhouse.query({ query: 'SELECT n FROM kept', format: 'JSONEachRow' })
  t.deepEqual(await rows.json(), [{ n: '7' }])
  t.is((await servers('restart', ...place, '--only', 'redis')).code, 0)
  t.is(await redis.get('kept'), '7')

  const url = new URL(lineOf(first.stdout, 'CLICKHOUSE_URL'))
  const analyst = createClient({
    url: `http://${url.host}`,
    username: 'analyst',
    password: "an analyst's",
    log: { level: ClickHouseLogLevel.OFF },
  })
  await t.throwsAsync(analyst.query({ query: 'SELECT n FROM tracked_wallets.kept' }), {
    message: /not enough privileges/i,
  })
  await clickhouse.command({ query: 'CREATE DATABASE analyst' })
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

  await Promise.all([clickhouse.close(), analyst.close(), redis.disconnect()])
  t.is((await servers('stop', ...place)).code, 0)
  await t.throwsAsync(kafka())
  t.deepEqual(await servers('stop', ...place), { code: 0, stdout: '', stderr: '' })
})

test(`a port that is taken is named, and nothing is started${why}`, async (t) => {
  const listener = createServer().listen(PORT_BASE + 12, '127.0.0.1')
  const place = ['--data', join(dir, 'taken'), '--port-base', String(PORT_BASE + 10)]
  const result = await servers('start', ...place)
  listener.close()
  t.deepEqual(result, {
    code: 1,
    stdout: '',
    stderr:
      'port 28912 (ClickHouse http) is taken by another process; choose other ports with --port-base N\n',
  })
})

anyTest.serial('a folder that holds something else is left alone', async (t) => {
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
