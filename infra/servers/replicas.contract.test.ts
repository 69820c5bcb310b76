import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest from 'ava'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { onCluster } from '../../pipeline/store/on-cluster.ts'
import { createPatientStore } from '../../pipeline/store/patient-store.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { insertProgress, readStorageMarker } from '../../pipeline/store/tables/progress.ts'
import type { Fault } from './fault-proxy.ts'
import { type ReplicaPair, startReplicaPair } from './replica-pair.ts'

/** These tests start servers, so they run only where servers are in use already. */
const enabled = Boolean(process.env.CLICKHOUSE_URL)
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: CLICKHOUSE_URL is not set)'
const dir = mkdtempSync(join(tmpdir(), 'replicas-'))
chmodSync(dir, 0o711) // the servers' users can enter it

let pair: ReplicaPair
/** Each server, not through the proxy. */
const direct: Store[] = []

anyTest.before(async () => {
  if (!enabled) return
  pair = await startReplicaPair(dir, 28_960, `test_replicas_${process.pid}`)
  for (const url of pair.direct) direct.push(await createStore({ kind: 'clickhouse', url }))
})

anyTest.after.always(async () => {
  for (const store of direct) await store.close()
  await pair?.close()
  rmSync(dir, { recursive: true, force: true })
})

anyTest.afterEach.always(async () => {
  for (const replica of pair?.proxy.replicas ?? []) {
    replica.fail(null)
    replica.lag(false)
  }
})

/** A store over both replicas, and the hosts that it changed to. */
async function openReplicas(cluster: string | null = 'drill') {
  const changes: (string | null)[] = []
  const logger = createLogger('info', {
    write(line) {
      const { msg, to } = JSON.parse(line) as { msg: string; to: string | null }
      if (msg === 'replica changed') changes.push(to)
    },
  })
  const [url, ...otherUrls] = pair.urls
  const store = await createStore({ kind: 'clickhouse', url, otherUrls, cluster }, logger)
  const stopping = new AbortController()
  const patient = createPatientStore(store, stopping.signal, createLogger('silent'))
  return {
    store,
    patient,
    changes,
    async close() {
      stopping.abort()
      await store.close()
    },
  }
}

/** No merge of this table hides a row that was stored twice. */
const ROWS_TABLE = `CREATE TABLE IF NOT EXISTS rows
(n UInt32)
ENGINE = MergeTree
ORDER BY n
SETTINGS non_replicated_deduplication_window = 1000`

const rowsFrom = (from: number, count = 150): Row[] =>
  Array.from({ length: count }, (_, n) => ({ n: from + n }))

const storedRows = (store: Store) => store.query('SELECT n FROM rows ORDER BY n')

test(`on a cluster every table and view is created on each server, once${why}`, async (t) => {
  const { store, close } = await openReplicas()
  t.true((await migrate(store)).length > 50)
  t.deepEqual(await migrate(store), [])
  await pair.proxy.replicas[1].caughtUp()
  const tablesOf = (one: Store | undefined) =>
    one?.query<{ name: string }>(
      "SELECT database, name, engine_full, definer FROM system.tables WHERE database LIKE '%test_replicas%' ORDER BY database, name",
    )
  const [first, second] = await Promise.all(direct.map(tablesOf))
  t.true((first?.length ?? 0) > 55)
  t.deepEqual(first, second)
  await close()
})

test(`a statement on the cluster is answered once both servers have executed it${why}`, async (t) => {
  const { store, close } = await openReplicas()
  const isThere = async (on: Store | undefined) =>
    (await on?.query<{ result: number }>('EXISTS later'))?.[0]
  pair.proxy.replicas[1].lag(true)
  let isAnswered = false
  const statement = onCluster(ROWS_TABLE.replace('rows', 'later'), 'drill', '')
  const created = store.command(statement).then(() => {
    isAnswered = true
  })
  while ((await isThere(direct[0]))?.result !== 1);
  await store.query('SELECT 1') // a later request, which is answered
  t.false(isAnswered)
  pair.proxy.replicas[1].lag(false)
  await created
  t.deepEqual(await isThere(direct[1]), { result: 1 })
  await close()
})

/** A fault of the first server, and whether the store then changes to the second. */
const FAULTS: readonly (readonly [title: string, fault: Fault, changes: boolean])[] = [
  ['read-only tables', { on: 'writes', how: 'refuse', code: 242 }, true],
  ['no Keeper', { on: 'writes', how: 'refuse', code: 999 }, true],
  ['too many parts', { on: 'writes', how: 'refuse', code: 252, times: 2 }, false],
  ['quorum not met', { on: 'writes', how: 'refuse', code: 286, times: 2 }, false],
  ['too few live replicas', { on: 'writes', how: 'refuse', code: 285, times: 2 }, false],
  [
    'an insert of unknown status',
    { on: 'writes', how: 'apply_and_refuse', code: 319, times: 2 },
    false,
  ],
  ['the memory limit', { on: 'writes', how: 'refuse', code: 241, times: 2 }, false],
  ['the time limit', { on: 'writes', how: 'apply_and_refuse', code: 159, times: 2 }, false],
  ['a connection cut before the insert', { on: 'writes', how: 'cut', times: 2 }, false],
  ['a connection cut after the insert', { on: 'writes', how: 'apply_and_cut', times: 2 }, false],
  ['a server that is gone', { how: 'cut' }, true],
]

for (const [at, [title, fault, changes]] of FAULTS.entries())
  test(`${title}: every row is stored once on both servers, ${changes ? 'through the other server' : 'and the server stays in use'}${why}`, async (t) => {
    const opened = await openReplicas()
    await opened.store.command(onCluster(ROWS_TABLE, 'drill', ''))
    await opened.store.command('TRUNCATE TABLE rows')
    await opened.patient.insert('rows', rowsFrom(1000 * at))
    pair.proxy.replicas[0].fail(fault)
    await opened.patient.insert('rows', rowsFrom(1000 * at + 150))
    pair.proxy.replicas[0].fail(null)
    await opened.patient.insert('rows', rowsFrom(1000 * at + 300))
    for (const replica of pair.proxy.replicas) await replica.caughtUp()
    t.deepEqual(opened.changes, changes ? [pair.urls[1].host] : [])
    for (const store of direct) t.deepEqual(await storedRows(store), rowsFrom(1000 * at, 450))
    await opened.close()
  })

test(`an answer through the proxy says how many rows it has${why}`, async (t) => {
  const [{ origin, username, password }] = pair.urls
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  const answer = await fetch(`${origin}/?wait_end_of_query=1`, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials}` },
    body: 'SELECT toUInt8(number) AS n FROM numbers(3) FORMAT JSONEachRow',
  })
  t.is(await answer.text(), '{"n":0}\n{"n":1}\n{"n":2}\n')
  const summary = answer.headers.get('x-clickhouse-summary') ?? '{}'
  t.is(JSON.parse(summary).result_rows, '3')
})

test(`a read is answered by the other server when its own is gone, and retried while one is overloaded${why}`, async (t) => {
  const { store, patient, changes, close } = await openReplicas()
  const count = 'SELECT count() AS n FROM numbers(7)'
  t.deepEqual(await store.query(count), [{ n: '7' }])
  for (const code of [241, 159]) {
    pair.proxy.replicas[0].fail({ on: 'reads', how: 'refuse', code, times: 2 })
    t.deepEqual(await patient.query(count), [{ n: '7' }])
  }
  t.deepEqual(changes, [])
  pair.proxy.replicas[0].fail({ how: 'cut' })
  t.deepEqual(await store.query(count), [{ n: '7' }])
  t.deepEqual(changes, [pair.urls[1].host])
  await close()
})

test(`a server that hangs is left within seconds, and its calls are repeated on the other${why}`, async (t) => {
  const { patient, changes, close } = await openReplicas()
  await patient.query('SELECT 1')
  pair.proxy.replicas[0].fail({ how: 'hang' })
  const startedAt = performance.now()
  t.deepEqual(await patient.query('SELECT 1 AS one'), [{ one: 1 }])
  t.true(performance.now() - startedAt < 30_000) // its timeout is 40 s
  t.deepEqual(changes, [pair.urls[1].host])
  await close()
  t.true(performance.now() - startedAt < 30_000)
})

test(`read-only servers still serve reads${why}`, async (t) => {
  const { store, changes, close } = await openReplicas()
  for (const replica of pair.proxy.replicas)
    replica.fail({ on: 'writes', how: 'refuse', code: 242 })
  await t.throwsAsync(store.insert('rows', rowsFrom(0)), {
    message: 'the store cannot serve now (code 242)',
  })
  t.deepEqual(await store.query('SELECT 1 AS one'), [{ one: 1 }])
  t.deepEqual(changes, [])
  await close()
})

for (const cluster of ['drill', null])
  test(`a process does not change to a server that lags behind what it wrote or served; once that server has caught up, it does (${cluster === null ? 'without a cluster' : 'cluster'})${why}`, async (t) => {
    const { store, changes, close } = await openReplicas(cluster)
    const [first, second] = pair.proxy.replicas
    const slot = cluster === null ? 8 : 7
    const at = { worker: 'fold', partition: 0, partitions: 1, parent: 1, block_time: 1 }
    await insertProgress(store, [{ ...at, slot: slot - 2, complete_slot: slot - 2 }])
    await second.caughtUp()
    second.lag(true)
    await insertProgress(store, [{ ...at, slot, complete_slot: slot }])
    t.is((await readStorageMarker(store))?.slot, slot)
    first.fail({ how: 'cut' })
    const refused = await t.throwsAsync(readStorageMarker(store))
    const fault = cluster === null ? 'lacks what this process has seen' : 'fails a check (code 159)'
    t.is(
      refused?.message,
      `no ClickHouse server can be used: ${pair.urls[0].host} does not answer, ${pair.urls[1].host} ${fault}`,
    )
    second.lag(false)
    await second.caughtUp()
    t.is((await readStorageMarker(store))?.slot, slot)
    t.is(changes.at(-1), pair.urls[1].host)
    await close()
  })
