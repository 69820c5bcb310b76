import { randomUUID } from 'node:crypto'
import anyTest, { type ExecutionContext } from 'ava'
import { ServiceError } from '../../domain/service-error.ts'
import { openTestClickHouse, type TestStore } from '../../testing/test-store.ts'
import { migrate } from '../migrate.ts'
import type { Store } from '../store.ts'
import { insertSnapshots } from '../tables/fold-snapshots.ts'
import { insertProgress } from '../tables/progress.ts'
import { createBackup } from './create-backup.ts'
import { type BackupLocation, parseLocation } from './location.ts'
import { restoreBackup } from './restore-backup.ts'

/*
 * Backups by ClickHouse itself. The embedded engine has none, so every test needs a server.
 */

const { CLICKHOUSE_URL = '' } = process.env
const test = CLICKHOUSE_URL === '' ? anyTest.skip : anyTest
const why = CLICKHOUSE_URL === '' ? ' (skipped: CLICKHOUSE_URL is not set)' : ''

const stop = new AbortController().signal
const CREATED = 1_800_000_000

async function open(t: ExecutionContext): Promise<Store> {
  const opened: TestStore = await openTestClickHouse(CLICKHOUSE_URL)
  t.teardown(opened.remove)
  return opened.store
}

async function openFilled(t: ExecutionContext): Promise<Store> {
  const store = await open(t)
  await migrate(store)
  await insertProgress(store, [progressRow(100)])
  await insertSnapshots(store, [snapshotRow(1, 5), snapshotRow(2, 7)])
  await store.insert('sol_prices', [{ time: 1, usd_e9: '150000000000', source: 'pool' }])
  return store
}

const progressRow = (slot: number) => ({
  worker: 'fold',
  partition: 0,
  partitions: 1,
  slot,
  complete_slot: slot,
  parent: slot - 1,
  block_time: slot,
})
const snapshotRow = (wallet: number, records: number) => ({
  wallet,
  revision: 0,
  slot: 10,
  format: 1,
  state: 'state',
  version: records,
})

function newLocation(): BackupLocation {
  const location = parseLocation(`test-${randomUUID()}`)
  if (location === null) throw new Error('no location')
  return location
}

const backUp = (store: Store, to: BackupLocation, base: BackupLocation | null = null) =>
  createBackup(store, { to, base, now: () => CREATED * 1000, stop })
const restore = (store: Store, from: BackupLocation, beforeEnd = async () => {}) =>
  restoreBackup(store, { from, stop, beforeEnd })
const failure = (t: ExecutionContext, work: Promise<unknown>) =>
  t.throwsAsync(work, { instanceOf: ServiceError }).then((error) => error?.code)

/** Number of files that a backup stores itself. */
const filesOf = async (store: Store, { text }: BackupLocation) => {
  const [row] = await store.query<{ files: string }>(
    "SELECT num_entries AS files FROM system.backups WHERE name LIKE {name:String} AND status = 'BACKUP_CREATED'",
    { name: `%${text}%` },
  )
  return Number(row?.files)
}

/** Definitions of all tables and views, without the name of the database, and their rows. */
async function contentOf(store: Store) {
  const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  const database = own?.name ?? ''
  const tables = await store.query<{ name: string; sql: string; engine: string }>(
    `SELECT name, engine, replaceAll(create_table_query, {database:String}, 'd') AS sql FROM system.tables
     WHERE database IN ({database:String}, concat('analyst_', {database:String})) ORDER BY sql`,
    { database },
  )
  const rows: Record<string, unknown> = {}
  for (const { name, engine } of tables)
    if (engine.endsWith('MergeTree') && name !== 'schema_migrations')
      rows[name] = await store.query(
        `SELECT * FROM ${name} ${engine.startsWith('Replacing') ? 'FINAL' : ''} ORDER BY ALL`,
      )
  return { tables, rows }
}

test(`a restored database has the tables, views and rows of the backup, and serves as before${why}`, async (t) => {
  const store = await openFilled(t)
  const to = newLocation()
  const manifest = await backUp(store, to)
  t.like(manifest, { format: 1, created_at: CREATED, storage_slot: 100, base: null })
  const restored = await open(t)
  let isRefused: unknown
  const found = await restore(restored, to, async () => {
    isRefused = await failure(t, migrate(restored))
  })
  t.is(isRefused, 'schema_changed', 'no process starts before the end')
  t.deepEqual(found, manifest)
  t.deepEqual(await contentOf(restored), await contentOf(store))
  t.deepEqual(await migrate(restored), [])
  await insertProgress(restored, [progressRow(101)])
})

test(`what is written while tables are copied leaves no position or snapshot without its events${why}`, async (t) => {
  const store = await openFilled(t)
  const writing: Store = {
    ...store,
    async command(sql, params) {
      if (/\.swaps CLONE/.test(sql)) {
        // A flush with a late event of wallet 1: mark, events, refold, snapshot, progress.
        await insertSnapshots(store, [{ ...snapshotRow(1, 2 ** 32 + 6), revision: 1 }])
        await store.insert('sol_prices', [{ time: 2, usd_e9: '1', source: 'pool' }])
        await insertProgress(store, [progressRow(101)])
      }
      await store.command(sql, params)
    },
  }
  const to = newLocation()
  t.is((await backUp(writing, to)).storage_slot, 100)
  const restored = await open(t)
  await restore(restored, to)
  t.deepEqual(
    await restored.query(
      'SELECT wallet, revision, format FROM fold_snapshots FINAL ORDER BY wallet',
    ),
    [
      { wallet: 1, revision: 2, format: 0 },
      { wallet: 2, revision: 0, format: 1 },
    ],
    'wallet 1 is folded again',
  )
  t.deepEqual(await restored.query('SELECT slot FROM progress FINAL'), [{ slot: '100' }])
  t.deepEqual(await restored.query('SELECT count() AS prices FROM sol_prices'), [{ prices: '2' }])
})

test(`an incremental backup stores only new files, and restores everything${why}`, async (t) => {
  const store = await openFilled(t)
  const [full, increment] = [newLocation(), newLocation()]
  await backUp(store, full)
  await insertProgress(store, [progressRow(200)])
  const manifest = await backUp(store, increment, full)
  t.is(manifest.base, full.text)
  t.true((await filesOf(store, increment)) < (await filesOf(store, full)))
  const restored = await open(t)
  await restore(restored, increment)
  t.deepEqual(await contentOf(restored), await contentOf(store))
})

test(`restore refuses a database with tables, a place without a complete backup, and a newer schema that is not compatible${why}`, async (t) => {
  const store = await openFilled(t)
  const to = newLocation()
  await backUp(store, to)
  t.is(await failure(t, restore(store, to)), 'invalid_argument')
  const empty = await open(t)
  t.is(await failure(t, restore(empty, newLocation())), 'invalid_argument')
  await store.insert('schema_migrations', [
    { name: '9998_more.sql', checksum: 'statements-sha256:00', applied_at: 1, compatible: true },
  ])
  const more = newLocation()
  await backUp(store, more)
  const restored = await open(t)
  await restore(restored, more)
  t.deepEqual(await contentOf(restored), await contentOf(store))
  await store.insert('schema_migrations', [
    { name: '9999_newer.sql', checksum: 'statements-sha256:00', applied_at: 1 },
  ])
  const newer = newLocation()
  await backUp(store, newer)
  t.is(await failure(t, restore(empty, newer)), 'schema_changed')
  t.is(await failure(t, backUp(store, to)), 'invalid_argument', 'no backup is overwritten')
  await restore(empty, to)
})

test(`nothing is restored into a cluster; tables of a restored database are attached to those of another one${why}`, async (t) => {
  const store = await openFilled(t)
  const to = newLocation()
  await backUp(store, to)
  const restored = await open(t)
  const replicas = { cluster: 'main', remember() {}, async arriveAt() {}, async catchUp() {} }
  t.is(await failure(t, restore({ ...restored, replicas }, to)), 'bad_config')
  await restore(restored, to)
  // As docs/operating.md says.
  const target = await open(t)
  await migrate(target)
  const [own] = await restored.query<{ name: string }>('SELECT currentDatabase() AS name')
  const statements = await target.query<{ sql: string }>(
    `SELECT concat('ALTER TABLE ', name, ' ATTACH PARTITION ALL FROM ', database, '.', name) AS sql FROM system.tables
     WHERE database = {from:String} AND engine LIKE '%MergeTree' AND name != 'schema_migrations'`,
    { from: own?.name ?? '' },
  )
  for (const { sql } of statements) await target.command(sql)
  t.deepEqual(await contentOf(target), await contentOf(store))
})

test(`a restore that failed is repeated, and no process starts on its half${why}`, async (t) => {
  const store = await openFilled(t)
  const to = newLocation()
  await backUp(store, to)
  const restored = await open(t)
  await t.throwsAsync(
    restore(restored, to, async () => {
      throw new Error('killed')
    }),
    { message: 'killed' },
  )
  t.is(await failure(t, migrate(restored)), 'schema_changed')
  await restore(restored, to)
  t.deepEqual(await contentOf(restored), await contentOf(store))
})

anyTest('a location is a path on a disk of the server, or in a bucket that it knows', (t) => {
  t.is(parseLocation('daily/2026-11-24')?.sql, "Disk('backups', 'daily/2026-11-24')")
  t.is(parseLocation('disk://s3/daily/1')?.sql, "Disk('s3', 'daily/1')")
  t.is(parseLocation('s3://my-bucket.eu/daily/1')?.sql, "S3(backup_my_bucket_eu, 'daily/1')")
  for (const text of ["a', 'b", '../a', '/a', 's3://bucket', 's3://b/a', '', 'a b', 'disk://a'])
    t.is(parseLocation(text), null)
})
