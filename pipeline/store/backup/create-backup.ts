import { DECODER_VERSION } from '../../domain/decoder-version.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { pause } from '../../runtime/pause.ts'
import { VERSION } from '../../runtime/version.ts'
import { readSchemaVersions } from '../migrate.ts'
import { quoted, unreplicated } from '../on-cluster.ts'
import type { Store } from '../store.ts'
import { markNewerSnapshots } from '../tables/fold-snapshots.ts'
import { readStorageMarker } from '../tables/progress.ts'
import { inCopyOrder } from './copy-order.ts'
import type { BackupLocation } from './location.ts'
import { BACKUP_DATABASE, insertManifest, type Manifest, measureTables } from './manifest.ts'
import { type OnFiles, runStatement } from './run-statement.ts'

/** Where a backup goes, and what it adds to. */
export interface BackupOptions {
  readonly to: BackupLocation
  /** An earlier backup. Files that it has are not stored again; null for a full backup. */
  readonly base: BackupLocation | null
  /** Unix milliseconds. */
  readonly now: () => number
  readonly stop: AbortSignal
  readonly onFiles?: OnFiles
}

/**
 * Backs up all tables while the service writes (rule K17). It copies them into the database
 * `<database>_backup`, which takes milliseconds a table and no space, because files are linked.
 * Then ClickHouse writes the copy to `to`. The copy is dropped at the end.
 *
 * Rejects with `invalid_argument` as `runStatement` does, and with `unavailable` while another
 * backup of the database runs. The copy of a backup that was killed is dropped by the next one.
 */
export async function createBackup(store: Store, options: BackupOptions): Promise<Manifest> {
  const { to, base, now, stop, onFiles } = options
  const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  const database = own?.name ?? ''
  const copy = `${database}_backup`
  await createCopyDatabase(store, copy)
  try {
    const created_at = Math.floor(now() / 1000)
    await copyTables(store, database, copy, stop)
    await markNewerSnapshots(store, copy)
    const schema = await readSchemaVersions(store)
    const manifest: Manifest = {
      format: 1,
      created_at,
      service_version: VERSION,
      decoder_version: DECODER_VERSION,
      schema,
      storage_slot: (await readStorageMarker(store, `${copy}.progress`))?.slot ?? null,
      base: base?.text ?? null,
      tables: await measureTables(store, copy),
    }
    await insertManifest(store, `${copy}.backup_manifest`, manifest)
    const settings = ['decrypt_files_from_encrypted_disks = 1']
    if (base !== null) settings.push(`base_backup = ${base.sql}`)
    const statement = `BACKUP DATABASE ${copy} AS ${BACKUP_DATABASE} TO ${to.sql}`
    await runStatement(store, statement, settings, { database: copy, stop, onFiles })
    return manifest
  } finally {
    await store.command(`DROP DATABASE IF EXISTS ${copy} ${OF_ANY_SIZE}`)
  }
}

/** A copy without a running `BACKUP` that is older than this belongs to a killed process. */
const COPY_SECONDS = 600
const MERGES_POLL_MS = 20
/** ClickHouse refuses to drop a table of more than 50 GB otherwise. */
const OF_ANY_SIZE = 'SETTINGS max_table_size_to_drop = 0'

/** Creates the database of the copy, which is also the lock against a second backup. */
async function createCopyDatabase(store: Store, copy: string): Promise<void> {
  const [state] = await store.query<{ fresh: number; running: number }>(
    `SELECT count() > 0 AND dateDiff('second', max(metadata_modification_time), now()) < {seconds:UInt32} AS fresh,
       (SELECT count() > 0 FROM system.backups
        WHERE startsWith(id, concat({copy:String}, ':')) AND status = 'CREATING_BACKUP') AS running
     FROM system.tables WHERE database = {copy:String}`,
    { copy, seconds: COPY_SECONDS },
  )
  if (state?.fresh === 1 || state?.running === 1)
    throw new ServiceError(
      'unavailable',
      `another backup runs, or one was killed in the last ten minutes (database ${copy})`,
    )
  await store.command(`DROP DATABASE IF EXISTS ${copy} ${OF_ANY_SIZE}`)
  await store.command(`CREATE DATABASE ${copy}`)
}

/**
 * Copies the tables in the order that keeps the copy consistent, and stops merges of the copy. The
 * copy of a replica is a table of this server alone: two replicas cannot have one path in Keeper.
 */
async function copyTables(
  store: Store,
  database: string,
  copy: string,
  stop: AbortSignal,
): Promise<void> {
  const tables = await store.query<Readonly<Record<'name' | 'engine' | 'comment', string>>>(
    `SELECT name, engine_full AS engine, comment FROM system.tables AS t
     WHERE database = {database:String} AND t.engine LIKE '%MergeTree' AND name != 'schema_migrations'
     ORDER BY name`,
    { database },
  )
  const clone = new Map(
    tables.map(({ name, engine, comment }) => [
      name,
      `CREATE TABLE ${copy}.${name} CLONE AS ${database}.${name} ENGINE = ${unreplicated(engine)} COMMENT ${quoted(comment)}`,
    ]),
  )
  const names = inCopyOrder([...clone.keys()])
  for (const name of names) await store.command(clone.get(name)!)
  for (const name of names) await store.command(`SYSTEM STOP MERGES ${copy}.${name}`)
  // A merge that has begun ends, and changes what `measureTables` measures.
  for (let merges = '1'; merges !== '0'; await pause(MERGES_POLL_MS, stop)) {
    if (stop.aborted) throw new ServiceError('closed', 'stopped', { retriable: true })
    const [row] = await store.query<{ merges: string }>(
      'SELECT count() AS merges FROM system.merges WHERE database = {copy:String}',
      { copy },
    )
    merges = row?.merges ?? '0'
  }
}
