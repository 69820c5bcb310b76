import { ServiceError } from '../domain/service-error.ts'
import { withGranularity } from './granularity.ts'
import { onCluster } from './on-cluster.ts'
import {
  type AppliedFile,
  CHECKSUM_KIND,
  pendingFiles,
  readSchema,
  type SchemaFile,
  SQL_FOLDER,
} from './schema-files.ts'
import { partitioned } from './slot-partitions.ts'
import type { Store } from './store.ts'
import { isAccessDenied } from './store-error.ts'

/**
 * Called before a file is applied with which versions of the service without it cannot go on. Not
 * called while a database is made, because no process uses it yet.
 */
export type OnIncompatible = (file: Pick<SchemaFile, 'name' | 'why'>) => void

/**
 * Applies the new files of `folder` in the order of their numbers, and returns their names.
 *
 * Rejects with `schema_changed`, and writes nothing, when an applied file has changed, when one is
 * missing that is not compatible (rule K19), or when a name is invalid. The message names the file.
 * Several processes may run this at once, because every statement is idempotent (`IF NOT EXISTS`).
 * Rejects with `schema_changed` also while a restore has not ended. On a cluster every server has
 * to execute the statements: without one it rejects with `unavailable`, and a repeated call goes
 * on.
 */
export async function migrate(
  store: Store,
  folder = SQL_FOLDER,
  onIncompatible: OnIncompatible = () => {},
): Promise<readonly string[]> {
  await refuseUnfinishedRestore(store)
  return migrateRestored(store, folder, onIncompatible)
}

/** Returns the files that `migrate` would apply, in their order. Rejects as it does. */
export async function planMigration(
  store: Store,
  folder = SQL_FOLDER,
): Promise<readonly SchemaFile[]> {
  await refuseUnfinishedRestore(store)
  return pendingFiles(readSchema(folder), await readApplied(store))
}

/** `migrate` for a restore that has not ended. */
export async function migrateRestored(
  store: Store,
  folder = SQL_FOLDER,
  onIncompatible: OnIncompatible = () => {},
): Promise<readonly string[]> {
  const files = readSchema(folder)
  const applied = await readApplied(store)
  const pending = pendingFiles(files, applied)
  if (pending.length === 0) return []
  const [own = { name: '', user: '' }] = await store.query<{ name: string; user: string }>(
    'SELECT currentDatabase() AS name, currentUser() AS user',
  )
  const cluster = store.replicas?.cluster ?? null
  const finished = (statement: string) => {
    const text = asExecuted(statement, own.name)
    return cluster === null ? text : onCluster(text, cluster, own.user)
  }
  for (const statement of MIGRATIONS_TABLE)
    await store.command(finished(statement)).catch((error: unknown) => {
      throw mayNotMigrate(error, pending[0]?.name ?? '')
    })
  const isNew = applied.size === 0
  for (const file of pending) {
    if (!file.compatible && !isNew) onIncompatible(file)
    for (const statement of file.statements) await apply(store, file, finished(statement))
    if (!isNew) await record(store, [file])
  }
  if (isNew) await record(store, pending) // all at once: each insert costs as much as a statement
  await record(
    store,
    files.filter(({ name, checksum }) => applied.get(name)?.checksums.includes(checksum) === false),
  )
  // Another process may have applied other files meanwhile.
  pendingFiles(files, await readApplied(store))
  return pending.map((file) => file.name)
}

async function record(store: Store, files: readonly SchemaFile[]): Promise<void> {
  if (files.length === 0) return
  const applied_at = Math.floor(Date.now() / 1000)
  await store.insert(
    'schema_migrations',
    files.map(({ name, checksum, compatible }) => ({ name, checksum, applied_at, compatible })),
  )
}

/**
 * Rejects with `schema_changed`, naming the file, unless all of `folder` is applied unchanged, and
 * every other file that is applied is compatible (rule K19).
 */
export async function checkSchema(store: Store, folder = SQL_FOLDER): Promise<void> {
  await refuseUnfinishedRestore(store)
  const [first] = pendingFiles(readSchema(folder), await readApplied(store))
  if (first)
    throw new ServiceError('schema_changed', `sql/${first.name} has not been applied yet`, {
      retriable: true,
    })
}

/** Table that exists while a restore has not ended. It has the manifest of the backup. */
export const UNFINISHED_RESTORE = 'unfinished_restore'

async function refuseUnfinishedRestore(store: Store): Promise<void> {
  if (await hasTable(store, UNFINISHED_RESTORE))
    throw new ServiceError(
      'schema_changed',
      'a restore of this database has not ended: wait, or run `operator restore` again',
      { retriable: true },
    )
}

/** The version of a file of `sql/` that was applied. */
export interface SchemaVersion {
  readonly name: string
  readonly checksum: string
  /** Whether versions of the service without this file go on (rule K19). */
  readonly compatible: boolean
}

/** Returns the files that were applied, by name. */
export async function readSchemaVersions(store: Store): Promise<SchemaVersion[]> {
  return [...(await readApplied(store))].map(([name, { checksums, compatible }]) => ({
    name,
    checksum: checksums.find((checksum) => checksum.startsWith(CHECKSUM_KIND)) ?? '',
    compatible,
  }))
}

/**
 * Throws `schema_changed`, naming the file, if one of `applied` has other statements here, or if
 * this version lacks one that is not compatible.
 */
export function checkRestorable(applied: readonly SchemaVersion[], folder = SQL_FOLDER): void {
  const known = applied.map(
    ({ name, checksum, compatible }) => [name, { checksums: [checksum], compatible }] as const,
  )
  pendingFiles(readSchema(folder), new Map(known))
}

/**
 * Returns a readiness check that rejects while the schema is not current. Create it after
 * `migrate`. The schema is read at most once in `everyMs`, in the background. While the store does
 * not answer, the last result stays.
 */
export function createSchemaCheck(
  store: Store,
  everyMs = 60_000,
  folder = SQL_FOLDER,
): () => Promise<void> {
  let fault: ServiceError | null = null
  let readAt = performance.now()
  return async () => {
    if (performance.now() - readAt >= everyMs) {
      readAt = Number.POSITIVE_INFINITY // while it is read
      checkSchema(store, folder)
        .then(
          () => {
            fault = null
          },
          (error: unknown) => {
            if (error instanceof ServiceError && error.code === 'schema_changed') fault = error
          },
        )
        .finally(() => {
          readAt = performance.now()
        })
    }
    if (fault !== null) throw fault
  }
}

/** Explains the error of a user without the right to create tables; returns others unchanged. */
function mayNotMigrate(error: unknown, file: string): unknown {
  if (!isAccessDenied(error)) return error
  const why = 'has not been applied, and the user of CLICKHOUSE_URL may change no table'
  const how = 'run `npm run -s operator -- migrate` as the owner of the tables'
  return new ServiceError('schema_changed', `sql/${file} ${why}: ${how}`, { retriable: true })
}

/** Returns every statement of `folder`, as a server with this database executes it. */
export function statementsOf(database: string, folder = SQL_FOLDER): readonly string[] {
  const statements = readSchema(folder).flatMap((file) => file.statements)
  return [...MIGRATIONS_TABLE, ...statements].map((text) => asExecuted(text, database))
}

function asExecuted(statement: string, database: string): string {
  return withGranularity(partitioned(statement)).replaceAll('{analyst}', analystDatabase(database))
}

/** Returns the database of the analysts' views for a database of the service. */
export function analystDatabase(database: string): string {
  return database === 'tracked_wallets' ? 'analyst' : `analyst_${database}`
}

async function apply(store: Store, file: SchemaFile, statement: string): Promise<void> {
  try {
    await store.command(statement)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, retriable, context } = error
    throw new ServiceError(code, `sql/${file.name}: ${error.message}`, {
      retriable,
      context: { ...context },
      cause: error,
    })
  }
}

const MIGRATIONS_TABLE = [
  `CREATE TABLE IF NOT EXISTS schema_migrations
(
    name String COMMENT 'Name of the file in sql/',
    checksum String COMMENT 'SHA-256 of the statements of the file, hex, after its kind',
    applied_at UInt32 COMMENT 'Unix seconds (wall clock)'
)
ENGINE = ReplacingMergeTree
ORDER BY (name, checksum)
COMMENT 'Schema files that were applied, one row a file'`,
  // Since version 1.0.0.
  `ALTER TABLE schema_migrations
    ADD COLUMN IF NOT EXISTS compatible Bool DEFAULT false COMMENT 'Whether versions of the service without this file go on'`,
]

/** Whether the database has a table of this name. */
export async function hasTable(store: Store, table: string): Promise<boolean> {
  const [row] = await store.query<{ found: number }>(
    'SELECT count() > 0 AS found FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table },
  )
  return row?.found === 1
}

async function readApplied(store: Store): Promise<Map<string, AppliedFile>> {
  const applied = new Map<string, AppliedFile>()
  const columns = await store.query<{ name: string }>(
    "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'schema_migrations'",
  )
  if (columns.length === 0) return applied
  const hasMark = columns.some(({ name }) => name === 'compatible')
  const rows = await store.query<{ name: string; checksum: string; compatible: boolean }>(
    `SELECT DISTINCT name, checksum, ${hasMark ? 'compatible' : 'false AS compatible'}
     FROM schema_migrations ORDER BY name, checksum LIMIT 10000`,
  )
  for (const { name, checksum, compatible } of rows) {
    const { checksums = [], compatible: known = true } = applied.get(name) ?? {}
    applied.set(name, { checksums: [...checksums, checksum], compatible: known && compatible })
  }
  return applied
}
