import { ServiceError } from '../../domain/service-error.ts'
import { analystDatabase } from '../migrate.ts'
import type { Store } from '../store.ts'
import { readNewestTick, readStorageMarker } from '../tables/progress.ts'
import { type ExportLock, lockPlace } from './export-lock.ts'
import { type ExportPlace, type ExportTarget, openPlace, placeId } from './export-place.ts'
import { describeExport, digestDay } from './export-query.ts'
import type { ExportMark } from './export-tables.ts'
import { MANIFEST_FILE, parseManifest, withDay } from './manifest.ts'

export interface ExportOptions {
  readonly target: ExportTarget
  /** Names of `EXPORT_TABLES`. */
  readonly tables: readonly string[]
  /** UTC days since 1970, both included. */
  readonly from: number
  readonly to: number
  readonly stop: AbortSignal
  /** Called with the days that are done of all tables, and with their total. */
  readonly onDays?: (done: number, total: number) => void
}

/** What an export did with one table. */
export interface ExportedTable {
  readonly table: string
  /** Days whose file was written, and days whose file was there already. */
  readonly written: number
  readonly unchanged: number
  /** Rows and bytes of the files that were written. */
  readonly rows: number
  readonly bytes: number
  /** The first day of the range that is not complete yet; null if all are. */
  readonly incomplete_from: string | null
}

const DAY = 86_400
/** With a salt, an event is served up to so many seconds earlier than it was (rule I2). */
const LATEST_SHIFT = 16

/**
 * Writes days of analysts' views as Parquet files, one a table and day, and a manifest a table
 * (rule M4). A day whose rows are those of its file is not written again. After a kill the same
 * call does the rest. A day that is not complete is not written, nor are days after it.
 *
 * Rejects with `unavailable` while another export writes there, and when the place cannot be
 * written; with `bad_config` for a bucket that the server does not know; with `closed` when it is
 * stopped.
 */
export async function exportDays(store: Store, options: ExportOptions): Promise<ExportedTable[]> {
  const { target, tables } = options
  const lock = await lockPlace(store, placeId(target), options.stop)
  try {
    const place = openPlace(store, target, lock.tag)
    const run = { store, place, lock, options, marks: await readMarks(store) }
    const done: ExportedTable[] = []
    const days = options.to - options.from + 1
    for (const table of tables) {
      const onDay = (at: number) => options.onDays?.(done.length * days + at, tables.length * days)
      done.push(await exportTable(run, table, onDay).catch((error) => fail(table, error)))
    }
    return done
  } finally {
    await lock.release()
  }
}

interface Run {
  readonly store: Store
  readonly place: ExportPlace
  readonly lock: ExportLock
  readonly options: ExportOptions
  /** Unix seconds of block time up to which rows are complete. */
  readonly marks: Readonly<Record<ExportMark, number>>
}

async function exportTable(
  { store, place, lock, options, marks }: Run,
  table: string,
  onDay: (at: number) => void,
): Promise<ExportedTable> {
  const query = await describeExport(store, table)
  await place.prepare(table)
  const { schema: schema_version, columns } = query
  const manifestFile = `${table}/${MANIFEST_FILE}`
  let files = parseManifest(await place.read(manifestFile), table)?.files ?? []
  const sums = { table, written: 0, unchanged: 0, rows: 0, bytes: 0 }
  for (let number = options.from; number <= options.to; number++) {
    const span = { from: number * DAY, to: (number + 1) * DAY }
    const day = dayText(number)
    if (marks[query.mark] < span.to + LATEST_SHIFT) return { ...sums, incomplete_from: day }
    if (options.stop.aborted)
      throw new ServiceError('closed', 'stopped: the same command goes on', { retriable: true })
    lock.check()
    // Before the file is written: rows that change meanwhile are found by the next export.
    const digest = await digestDay(store, query, span)
    const file = `${day}.parquet`
    const known = files.find((one) => one.day === day)
    const isEqual = known?.digest === digest && known.schema_version === schema_version
    if (isEqual && (await place.sizeOf(`${table}/${file}`)) === known.bytes) sums.unchanged += 1
    else {
      const written = await place.write(`${table}/${file}`, query, span)
      const added = { day, file, ...written, schema_version, digest }
      const manifest = withDay(files, added, { table, schema_version, columns })
      await place.replace(manifestFile, `${JSON.stringify(manifest, null, 1)}\n`)
      files = manifest.files
      sums.written += 1
      sums.rows += written.rows
      sums.bytes += written.bytes
    }
    onDay(number - options.from + 1)
  }
  return { ...sums, incomplete_from: null }
}

/** Explains what the engine refuses. Source of the codes: ErrorCodes.cpp of ClickHouse. */
function fail(table: string, error: unknown): never {
  const why = error instanceof ServiceError ? REASONS.get(error.context.code) : undefined
  if (why === undefined) throw error
  throw new ServiceError('unavailable', `${table}: ${why}`, { cause: error })
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  [60, 'the database has no such view: run operator migrate'],
  [81, 'the database has no views: run operator migrate'],
  [69, 'a figure has more than 38 digits, which is the most that a file can have'],
  [159, 'a day took longer than an hour: export it while the server has less to do'],
  [241, 'a day needs more memory than 3 GB, or than the server has'],
])

/** Returns the unix seconds of block time up to which each mark says that rows are complete. */
async function readMarks(store: Store): Promise<Readonly<Record<ExportMark, number>>> {
  const storage = (await readStorageMarker(store))?.blockTime ?? 0
  const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  const [rollups] = await store.query<{ until: number }>(
    `SELECT complete_until AS until FROM ${analystDatabase(own?.name ?? '')}.rollups LIMIT 1`,
    {},
    ['until'],
  )
  return {
    storage,
    rollups: Math.min(storage, rollups?.until ?? 0),
    ticks: Math.min(storage, (await readNewestTick(store)) ?? 0),
  }
}

/** A UTC day, `2026-11-24`, from its number since 1970. */
export function dayText(day: number): string {
  return new Date(day * DAY * 1000).toISOString().slice(0, 10)
}
