import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../domain/service-error.ts'
import { onCluster } from './on-cluster.ts'
import type { Store } from './store.ts'

/** The schema of this version: `sql/` beside `dist/`. */
export const SQL_FOLDER = join(import.meta.dirname, '../../../sql')

/** A file of `sql/`, named `NNNN_name.sql`; its statements end with `;` at the end of a line. */
interface SchemaFile {
  readonly name: string
  /** Digest of the statements without comment lines, so that comments may be corrected. */
  readonly checksum: string
  readonly statements: readonly string[]
}

/**
 * Applies the new files of `folder` in the order of their numbers, and returns their names.
 *
 * Rejects with `schema_changed`, and writes nothing, when an applied file has changed or is
 * missing, or when a name is invalid. The message names the file. Several processes may run this at
 * once, because every statement is idempotent (`IF NOT EXISTS`). Rejects with `schema_changed` also
 * while a restore has not ended. On a cluster every server has to execute the statements: without
 * one it rejects with `unavailable`, and a repeated call goes on.
 */
export async function migrate(store: Store, folder = SQL_FOLDER): Promise<readonly string[]> {
  await refuseUnfinishedRestore(store)
  return migrateRestored(store, folder)
}

/** `migrate` for a restore that has not ended. */
export async function migrateRestored(
  store: Store,
  folder = SQL_FOLDER,
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
    const text = withAnalyst(statement, own.name)
    return cluster === null ? text : onCluster(text, cluster, own.user)
  }
  await store.command(finished(MIGRATIONS_TABLE)).catch((error: unknown) => {
    throw mayNotMigrate(error, pending[0]?.name ?? '')
  })
  for (const file of pending) {
    for (const statement of file.statements) await apply(store, file, finished(statement))
    await record(store, [file])
  }
  await record(
    store,
    files.filter(({ name, checksum }) => applied.get(name)?.includes(checksum) === false),
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
    files.map(({ name, checksum }) => ({ name, checksum, applied_at })),
  )
}

/** Rejects with `schema_changed`, naming the file, unless all of `folder` is applied unchanged. */
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

/** A file of `sql/` that was applied. */
export interface AppliedFile {
  readonly name: string
  readonly checksum: string
}

/** Returns the files that were applied, by name. */
export async function readSchemaVersions(store: Store): Promise<AppliedFile[]> {
  return [...(await readApplied(store))].map(([name, checksums]) => ({
    name,
    checksum: checksums.find((checksum) => checksum.startsWith(CHECKSUM_KIND)) ?? '',
  }))
}

/** Throws `schema_changed`, naming the file, unless this version has all of `applied` unchanged. */
export function checkRestorable(applied: readonly AppliedFile[], folder = SQL_FOLDER): void {
  const files = readSchema(folder)
  pendingFiles(files, new Map(applied.map(({ name, checksum }) => [name, [checksum]])))
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
  if (!(error instanceof ServiceError) || error.context?.code !== ACCESS_DENIED) return error
  const why = 'has not been applied, and the user of CLICKHOUSE_URL may change no table'
  const how = 'run `npm run -s operator -- migrate` as the owner of the tables'
  return new ServiceError('schema_changed', `sql/${file} ${why}: ${how}`, { retriable: true })
}

/** ClickHouse's code. Source: ErrorCodes.cpp. */
const ACCESS_DENIED = 497

/** Returns every statement of `folder`, as a server with this database executes it. */
export function statementsOf(database: string, folder = SQL_FOLDER): readonly string[] {
  const statements = readSchema(folder).flatMap((file) => file.statements)
  return [MIGRATIONS_TABLE, ...statements].map((text) => withAnalyst(text, database))
}

function withAnalyst(statement: string, database: string): string {
  return statement.replaceAll('{analyst}', analystDatabase(database))
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

const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations
(
    name String COMMENT 'Name of the file in sql/',
    checksum String COMMENT 'SHA-256 of the statements of the file, hex, after its kind',
    applied_at UInt32 COMMENT 'Unix seconds (wall clock)'
)
ENGINE = ReplacingMergeTree
ORDER BY (name, checksum)
COMMENT 'Schema files that were applied, one row a file'`

/** Whether the database has a table of this name. */
export async function hasTable(store: Store, table: string): Promise<boolean> {
  const [row] = await store.query<{ found: number }>(
    'SELECT count() > 0 AS found FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    { table },
  )
  return row?.found === 1
}

async function readApplied(store: Store): Promise<Map<string, string[]>> {
  const applied = new Map<string, string[]>()
  if (!(await hasTable(store, 'schema_migrations'))) return applied
  const rows = await store.query<{ name: string; checksum: string }>(
    'SELECT DISTINCT name, checksum FROM schema_migrations ORDER BY name, checksum LIMIT 10000',
  )
  for (const { name, checksum } of rows) applied.set(name, [...(applied.get(name) ?? []), checksum])
  return applied
}

function readSchema(folder: string): SchemaFile[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const numbers = new Map<string, string>()
  return names.map((name) => {
    const number = /^([0-9]{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]
    if (number === undefined)
      throw new ServiceError('schema_changed', `sql/${name}: expected a name like 0001_swaps.sql`)
    const twin = numbers.get(number)
    if (twin !== undefined)
      throw new ServiceError('schema_changed', `sql/${name}: sql/${twin} has the same number`)
    numbers.set(number, name)
    const statements = readFileSync(join(folder, name), 'utf8')
      .replace(/^\s*--.*$/gm, '')
      .split(/;[ \t]*$/m)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '')
    const sum = createHash('sha256').update(statements.join(';\n')).digest('hex')
    return { name, checksum: `${CHECKSUM_KIND}${sum}`, statements }
  })
}

/** Older checksums lack this prefix. They covered comments too, and are not compared. */
const CHECKSUM_KIND = 'statements-sha256:'

function differs(checksum: string, file: SchemaFile): boolean {
  return checksum.startsWith(CHECKSUM_KIND) && checksum !== file.checksum
}

function pendingFiles(
  files: readonly SchemaFile[],
  applied: ReadonlyMap<string, readonly string[]>,
): SchemaFile[] {
  const names = new Set(files.map((file) => file.name))
  for (const name of applied.keys())
    if (!names.has(name))
      throw new ServiceError(
        'schema_changed',
        `sql/${name} was applied to this database but is missing here`,
      )
  for (const file of files)
    if (applied.get(file.name)?.some((checksum) => differs(checksum, file)))
      throw new ServiceError(
        'schema_changed',
        `sql/${file.name} has changed since it was applied: undo the change and add a new file`,
      )
  return files.filter((file) => !applied.has(file.name))
}
