import { spawnSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { ServiceError } from '../domain/service-error.ts'
import { createLogger } from '../runtime/logger.ts'
import {
  dropTestDatabase,
  openTestChdb,
  openTestClickHouse,
  type TestStore,
} from '../testing/test-store.ts'
import { createStore } from './create-store.ts'
import { createEngineStore } from './engine-store.ts'
import { createPatientStore } from './patient-store.ts'
import { testStore } from './store.contract.ts'
import { storeError } from './store-error.ts'
import { readStorageMarker } from './tables/progress.ts'

let chdbFolder = ''
testStore(test, 'chDB', async (): Promise<TestStore> => {
  const opened = await openTestChdb()
  chdbFolder = opened.folder
  return opened
})

const clickhouseUrl = process.env.CLICKHOUSE_URL
if (clickhouseUrl) testStore(test, 'ClickHouse', () => openTestClickHouse(clickhouseUrl))
else test.skip('ClickHouse: CLICKHOUSE_URL is not set', () => {})

test('a second process on the same folder is refused', (t) => {
  const script = `
    import { createStore } from ${JSON.stringify(import.meta.resolve('./create-store.js'))}
    await createStore({ kind: 'chdb', path: ${JSON.stringify(chdbFolder)} }).catch((error) => {
      console.log(error.code, error.message)
      process.exit(3)
    })`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  t.deepEqual(
    [child.status, child.stdout],
    [3, 'bad_config DATA_DIR: another process owns the data; stop it, or set another folder\n'],
  )
})

test('a folder that cannot be created is reported', async (t) => {
  // Node's recursive mkdir does not end for a folder under a file, or for a broken link.
  const link = join(chdbFolder, 'link')
  symlinkSync(join(chdbFolder, 'nowhere'), link)
  for (const path of ['/proc/x/y', join(link, 'store')])
    await t.throwsAsync(createStore({ kind: 'chdb', path }), {
      message: `DATA_DIR: the embedded ClickHouse cannot open ${path}; it needs a folder of its own that it may write`,
    })
  rmSync(link)
})

test('errors for an unreachable server and a refused user do not contain the password', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as AddressInfo // it listens on TCP
  await new Promise((resolve) => closed.close(resolve))
  const unreachable = await t.throwsAsync(
    createStore({ kind: 'clickhouse', url: new URL(`http://u:hush@127.0.0.1:${port}/db`) }),
    {
      instanceOf: ServiceError,
      message: `CLICKHOUSE_URL: no ClickHouse answers at 127.0.0.1:${port}`,
    },
  )
  t.is((unreachable as ServiceError).code, 'unreachable')
  await t.throwsAsync(
    createStore({ kind: 'clickhouse', url: new URL(`http://u:hush@127.0.0.1:${port}/a-b`) }),
    { message: /^CLICKHOUSE_URL: expected a database of letters/ },
  )
  if (!clickhouseUrl) return
  const url = new URL(clickhouseUrl)
  url.password = 'hush'
  await t.throwsAsync(createStore({ kind: 'clickhouse', url }), {
    message: `CLICKHOUSE_URL: ClickHouse at ${url.host} refuses this user and password`,
  })
})

test('unreachable and overloaded servers are retriable; a refusal is a bug', (t) => {
  const refusal = (code: number) =>
    Object.assign(new Error('no'), { code: String(code), type: 'X' })
  const meaning = (error: unknown) => {
    const { code, retriable } = storeError(error)
    return [code, retriable]
  }
  t.deepEqual(meaning(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })), [
    'unavailable',
    true,
  ])
  t.deepEqual(meaning(new Error('Timeout error.')), ['unavailable', true])
  t.deepEqual(meaning(refusal(241)), ['unavailable', true])
  t.deepEqual(meaning(refusal(252)), ['unavailable', true])
  t.deepEqual(meaning(refusal(33)), ['unavailable', true])
  t.deepEqual(meaning(refusal(62)), ['internal', false])
  t.deepEqual(meaning(new Error('Code: 60. DB::Exception: Unknown table')), ['internal', false])
})

test('a row of another query is not taken for the storage marker; the read is retried', async (t) => {
  const answers = [[{ partial: '0' }], []]
  const engine = {
    kind: 'chdb' as const,
    read: async () => answers.shift() ?? [],
    ping: async () => {},
    run: async () => {},
    insert: async () => {},
    close: async () => {},
  }
  const store = createEngineStore(engine)
  const error = await t.throwsAsync(readStorageMarker(store), {
    message:
      'an answer of the store lacks the columns complete_slot, parent, block_time, sol_price_time, sol_price_usd_e9',
  })
  t.like(error, { code: 'unavailable', retriable: true })
  answers.unshift([{ partial: '0' }])
  const logged: string[] = []
  const logger = createLogger('warn', { write: (line) => logged.push(line) })
  const patient = createPatientStore(store, new AbortController().signal, logger)
  t.is(await readStorageMarker(patient), null)
  t.regex(logged.join(), /lacks the columns complete_slot/)
})

test('a patient store retries until the server is back, with the same token, and ends when stopped', async (t) => {
  const stopping = new AbortController()
  const tokens: unknown[] = []
  const lost = new ServiceError('unavailable', 'lost', { retriable: true })
  const store = createPatientStore(
    {
      kind: 'chdb',
      query: () => Promise.reject(new ServiceError('internal', 'a bug')),
      insert: async (_table, _rows, options) => {
        tokens.push(options?.dedupToken)
        if (tokens.length < 3) throw lost
      },
      command: async () => {
        stopping.abort()
        throw lost
      },
      ping: async () => {},
      close: async () => {},
    },
    stopping.signal,
    createLogger('silent'),
  )
  await store.insert('x', [])
  t.is(tokens.length, 3)
  t.is(new Set(tokens).size, 1)
  await t.throwsAsync(store.query('x'), { message: 'a bug' })
  await t.throwsAsync(store.command('x'), { message: /stopped while waiting/ })
})

test('a test drops only databases of tests', async (t) => {
  const never = { command: () => t.fail() } as never // not to be called
  await t.throwsAsync(dropTestDatabase(never, 'production'), {
    message: /does not belong to a test/,
  })
})
