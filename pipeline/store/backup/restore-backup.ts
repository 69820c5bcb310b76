import { ServiceError } from '../../domain/service-error.ts'
import { checkRestorable, migrateRestored, UNFINISHED_RESTORE } from '../migrate.ts'
import type { Store } from '../store.ts'
import type { BackupLocation } from './location.ts'
import { BACKUP_DATABASE, type Manifest, measureTables, readManifest } from './manifest.ts'
import { type OnFiles, runStatement } from './run-statement.ts'

/** Where a backup is. */
export interface RestoreOptions {
  readonly from: BackupLocation
  readonly stop: AbortSignal
  readonly onFiles?: OnFiles
  /** Called with each table whose files are read again and compared with their checksums. */
  readonly onTable?: (done: number, total: number) => void
  /** Runs when all tables are back and have the newest schema, before the service may start. */
  readonly beforeEnd: () => Promise<void>
}

/**
 * Restores a backup into the store's empty database, verifies it, and applies newer files of `sql/`
 * (rule K17). Until it has ended no process of the service starts on the database. After a failure
 * or a kill it may be repeated; it then begins again.
 *
 * Rejects with `bad_config` on a cluster, whose servers would not get the tables of this one; with
 * `invalid_argument` if there is no complete backup or the database has tables, with
 * `schema_changed` if the backup has a schema file that this version lacks and that is not
 * compatible (rule K19), and with `internal` if what was restored differs from the manifest.
 */
export async function restoreBackup(store: Store, options: RestoreOptions): Promise<Manifest> {
  const { from, stop, onFiles } = options
  if (store.replicas?.cluster) throw new ServiceError('bad_config', NOT_INTO_A_CLUSTER)
  const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  const database = own?.name ?? ''
  await emptyDatabase(store, database)
  const run = (what: string, settings: readonly string[]) =>
    runStatement(store, `RESTORE ${what} FROM ${from.sql}`, settings, { database, stop, onFiles })
  const manifestTable = `${BACKUP_DATABASE}.backup_manifest`
  await run(`TABLE ${manifestTable} AS ${database}.${UNFINISHED_RESTORE}`, [])
  const manifest = await readManifest(store, UNFINISHED_RESTORE)
  try {
    checkRestorable(manifest.schema)
  } catch (error) {
    await store.command(`DROP TABLE ${UNFINISHED_RESTORE}`)
    throw error
  }
  const all = `DATABASE ${BACKUP_DATABASE} AS ${database} EXCEPT TABLES ${manifestTable}`
  // Without merges the restored parts are those of the backup, and can be compared with it.
  await run(all, ['structure_only = 1'])
  for (const { name } of manifest.tables) await store.command(`SYSTEM STOP MERGES ${name}`)
  await run(all, [])
  await verify(store, database, manifest, options)
  for (const { name } of manifest.tables) await store.command(`SYSTEM START MERGES ${name}`)
  // `schema_migrations` is not in the backup. So every file is applied again, which changes nothing
  // of the restored tables, and makes the views, which are not in the backup either.
  await migrateRestored(store)
  await options.beforeEnd()
  await store.command(`DROP TABLE ${UNFINISHED_RESTORE}`)
  return manifest
}

const NOT_INTO_A_CLUSTER =
  'restore needs a database of one server: leave CLICKHOUSE_CLUSTER unset, and attach what it has to the tables of the cluster afterwards (docs/operating.md, "Restore into a cluster")'

/** Drops what a failed restore has left. Rejects if the database has other tables. */
async function emptyDatabase(store: Store, database: string): Promise<void> {
  const tables = await store.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = {database:String} ORDER BY name LIMIT 10000',
    { database },
  )
  const isUnfinished = tables.some(({ name }) => name === UNFINISHED_RESTORE)
  if (tables.length > 0 && !isUnfinished)
    throw new ServiceError(
      'invalid_argument',
      `the database ${database} has tables: restore needs an empty one. Name a new database in CLICKHOUSE_URL, or drop this one`,
    )
  // The mark goes last, so that a kill in between leaves it.
  const others = tables.filter(({ name }) => name !== UNFINISHED_RESTORE)
  for (const { name } of others) await store.command(`DROP TABLE ${name} SYNC`)
  await store.command(`DROP TABLE IF EXISTS ${UNFINISHED_RESTORE} SYNC`)
}

/** Compares the restored tables with the manifest, and each file with its checksum. */
async function verify(
  store: Store,
  database: string,
  { tables }: Manifest,
  { onTable, stop }: RestoreOptions,
): Promise<void> {
  const restored = new Map(
    (await measureTables(store, database)).map((table) => [table.name, table]),
  )
  for (const [at, { name, rows, checksum }] of tables.entries()) {
    const found = restored.get(name)
    if (found?.rows !== rows || found.checksum !== checksum)
      throw new ServiceError('internal', `table ${name} differs from the manifest of the backup`)
    const parts = await store.query<{ name: string }>(
      `SELECT name FROM system.parts WHERE database = {database:String} AND table = {table:String} AND active
       ORDER BY name LIMIT 100000`,
      { database, table: name },
    )
    for (const part of parts) {
      const [check] = await store.query<{ is_passed: number }>(
        `CHECK TABLE ${name} PART '${part.name}'`,
      )
      if (check?.is_passed !== 1)
        throw new ServiceError('internal', `a file of table ${name} is damaged in the backup`)
      if (stop.aborted) throw new ServiceError('closed', 'stopped', { retriable: true })
    }
    onTable?.(at + 1, tables.length)
  }
}
