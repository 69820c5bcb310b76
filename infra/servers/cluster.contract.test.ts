import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest from 'ava'
import { probeKafka } from '../../pipeline/log/kafka-client.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { onCluster } from '../../pipeline/store/on-cluster.ts'
import { createPatientStore } from '../../pipeline/store/patient-store.ts'
import { loadDataConfig } from '../service/config.ts'
import { until } from '../whole-service/customer.ts'
import type { ServerStatus } from './servers.ts'
import { createState, readState, writeState } from './state.ts'

/** The first test starts servers, so it runs only where servers are in use already. */
const enabled = Boolean(process.env.KAFKA_BROKERS)
const test = enabled ? anyTest : anyTest.skip
const why = enabled ? '' : ' (skipped: KAFKA_BROKERS is not set)'
const BROKERS = ['127.0.0.1:11900', '127.0.0.1:11904', '127.0.0.1:11906']

const MAIN = join(import.meta.dirname, 'main.js')
const ROWS = 'CREATE TABLE IF NOT EXISTS rows\n(n UInt32)\nENGINE = MergeTree\nORDER BY n'
const dir = mkdtempSync(join(tmpdir(), 'cluster-'))
chmodSync(dir, 0o711) // the servers' users can enter it
const data = join(dir, 'data')

/** Runs `npm run servers` for the folder `at`. */
function servers(at: string, command: string, ...args: string[]) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = spawn(process.execPath, [MAIN, command, '--data', at, ...args])
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (text) => (stdout += text))
    child.stderr.on('data', (text) => (stderr += text))
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

anyTest.after.always('stop', async () => {
  for (const folder of [data, join(dir, 'replicas')])
    if (enabled && existsSync(folder)) await servers(folder, 'stop')
  rmSync(dir, { recursive: true, force: true })
})

test(`a Kafka cluster has three brokers, answers without one of them, and takes it back${why}`, async (t) => {
  const states = async () => {
    const { stdout } = await servers(data, 'status', '--only', 'kafka')
    const { items } = JSON.parse(stdout) as { items: ServerStatus[] }
    return items.map(({ name, state }) => `${name} ${state}`)
  }
  const first = await servers(data, 'start', '--cluster', '--only', 'kafka', '--port-base', '11900')
  t.is(first.code, 0, first.stderr)
  t.is(first.stdout, `KAFKA_BROKERS=${BROKERS.join(',')}\n`)
  t.deepEqual(await states(), ['kafka-1 answers', 'kafka-2 answers', 'kafka-3 answers'])

  t.is((await servers(data, 'kill', '--only', 'kafka-2')).code, 0)
  // The groups that the killed broker coordinated have another coordinator after its session.
  t.deepEqual(await until(states, (found) => !found.some((state) => state.endsWith('silent'))), [
    'kafka-1 answers',
    'kafka-2 down',
    'kafka-3 answers',
  ])
  await probeKafka({ brokers: BROKERS, topicPrefix: '', ssl: false, sasl: null })

  t.is((await servers(data, 'start', '--only', 'kafka-2')).stdout, first.stdout)
  t.deepEqual(await states(), ['kafka-1 answers', 'kafka-2 answers', 'kafka-3 answers'])
  t.is((await servers(data, 'stop')).code, 0)
  t.deepEqual(await states(), ['kafka-1 down', 'kafka-2 down', 'kafka-3 down'])
})

test(`a ClickHouse cluster is two servers: what one has, the other gets, and a faulty one is left${why}`, async (t) => {
  const folder = join(dir, 'replicas')
  const options = ['--cluster', '--only', 'clickhouse', '--port-base', '11940']
  const started = await servers(folder, 'start', ...options)
  t.is(started.code, 0, started.stderr)
  const env = Object.fromEntries(
    started.stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  )
  const { store: config } = loadDataConfig(env)
  const own = await createStore(config)
  t.teardown(() => own.close())
  const store = createPatientStore(own, new AbortController().signal, createLogger('silent'))
  await migrate(own)
  const fail = (fault: string) => {
    const url = 'http://127.0.0.1:11954/.fault'
    return fetch(url, { method: 'POST', body: fault })
  }
  await own.command(onCluster(ROWS, env.CLICKHOUSE_CLUSTER ?? '', ''))
  await store.insert('rows', [{ n: 1 }])
  await fail('{"how":"cut"}')
  await store.insert('rows', [{ n: 2 }])
  t.deepEqual(await store.query('SELECT n FROM rows ORDER BY n'), [{ n: 1 }, { n: 2 }])
  await fail('')
  t.is((await servers(folder, 'kill', '--only', 'clickhouse-2')).code, 0)
  t.deepEqual(await store.query('SELECT n FROM rows ORDER BY n'), [{ n: 1 }, { n: 2 }])
  t.is((await servers(folder, 'stop')).code, 0)
})

anyTest('a folder of single servers does not become one of clusters', async (t) => {
  const single = join(dir, 'single')
  const state = createState(11_920, false)
  writeState(single, state)
  t.deepEqual(await servers(single, 'start', '--cluster'), {
    code: 1,
    stdout: '',
    stderr: `--cluster: ${single} has single servers; choose another folder\n`,
  })
  t.deepEqual(readState(single), state)
})

anyTest('a node that the folder does not have is named, with those that it has', async (t) => {
  const cluster = join(dir, 'other')
  writeState(cluster, createState(11_920, true))
  const { code, stderr } = await servers(cluster, 'start', '--only', 'kafka-4')
  t.is(code, 1)
  t.true(stderr.startsWith('--only: one of kafka, kafka-1, kafka-2, kafka-3, '), stderr)
})
