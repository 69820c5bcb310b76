import { z } from 'zod'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { openLongStore } from '../../pipeline/store/create-store.ts'
import { type ExportedTable, exportDays } from '../../pipeline/store/export/export.ts'
import { parseTarget } from '../../pipeline/store/export/export-place.ts'
import { EXPORT_TABLES } from '../../pipeline/store/export/export-tables.ts'
import { secondsSince } from './backup.ts'
import { type Command, optionCommand } from './command.ts'

const TABLES = Object.keys(EXPORT_TABLES)

/** `--table`: names of tables, with commas, or `all`. */
const tablesOption = z.string().transform((text, context) => {
  const tables = text === 'all' ? TABLES : [...new Set(text.split(','))]
  const unknown = tables.find((table) => !TABLES.includes(table))
  if (unknown === undefined) return tables
  const name = JSON.stringify(unknown.slice(0, 40))
  const message = `no table ${name}; expected all, or some of ${TABLES.join(',')}`
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

const DAY_MS = 86_400_000

/** `--from`, `--to`: a UTC day, as the number of days since 1970. */
const dayOption = z.string().transform((text, context) => {
  const ms = /^20[2-9][0-9]-[0-9]{2}-[0-9]{2}$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)) return ms / DAY_MS
  context.addIssue({ code: 'custom', message: 'expected a UTC day such as 2026-11-24' })
  return z.NEVER
})

/** `--last`: a number of days. */
const lastOption = z
  .string()
  .regex(/^([1-9][0-9]{0,2}|1000)$/, 'expected a number of days from 1 to 1000')
  .transform(Number)

/** Days since 1970 in UTC, both included. */
interface Days {
  readonly from: number
  readonly to: number
}

/** The options of an export that name days. */
interface GivenDays {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly last?: number | undefined
}

/**
 * The days that the options name: `--from` and `--to`, or the `--last` days before that of `now`
 * (unix milliseconds). Throws `invalid_argument` for other combinations.
 */
export function daysOf(given: GivenDays, now: number): Days {
  const { from, to, last } = given
  if (last !== undefined && from === undefined && to === undefined) {
    const today = Math.floor(now / DAY_MS)
    return { from: today - last, to: today - 1 }
  }
  if (last !== undefined || from === undefined || to === undefined)
    throw new ServiceError('invalid_argument', 'expected either --from and --to, or --last')
  if (from > to) throw new ServiceError('invalid_argument', '--from: it is after --to')
  return { from, to }
}

const targetOption = z.string().transform((text, context) => {
  const target = parseTarget(text)
  if (target !== null) return { text, target }
  context.addIssue({
    code: 'custom',
    message: 'expected a folder, or s3://BUCKET/PREFIX of letters, digits and ._=-',
  })
  return z.NEVER
})

const command = optionCommand({
  name: 'export',
  summary: 'Writes days of the analysts’ views as Parquet files.',
  usage:
    '--table <name,...|all> (--from <day> --to <day> | --last <days>) --to-dir <folder|s3://bucket/prefix>',
  options: {
    table: tablesOption,
    from: dayOption.optional(),
    to: dayOption.optional(),
    last: lastOption.optional(),
    'to-dir': targetOption,
  },
  isRecorded: true,
  async run(options, { store, storeConfig, stop }, report) {
    const { table: tables, 'to-dir': place } = options
    const days = daysOf(options, Date.now())
    const started = performance.now()
    const long = await openLongStore(store, storeConfig)
    try {
      const done = await exportDays(long, {
        target: place.target,
        tables,
        ...days,
        stop,
        onDays: (done, total) => report({ what: 'days', done, total }),
      })
      const message = incompleteDays(done)
      return {
        document: {
          to_dir: place.text,
          tables: done,
          seconds: secondsSince(started),
          ...(message !== null && { message }),
        },
        failed: message !== null,
      }
    } finally {
      await long.close()
    }
  },
})

/**
 * `export --table <names> --from <day> --to <day> --to-dir <place>`: writes each day of each table
 * as a Parquet file, with a manifest a table (rule M4). `--last <days>` in place of `--from` and
 * `--to` are the days before today. Fails, having written the others, if a day is not complete yet.
 */
export const exportCommand: Command = {
  ...command,
  // The process that owns the data writes the files, and may run in another folder.
  portable: (args) =>
    args.map((word, at) =>
      args[at - 1] === '--to-dir'
        ? absolute(word)
        : word.replace(/^--to-dir=(.*)$/s, (_, folder: string) => `--to-dir=${absolute(folder)}`),
    ),
}

/** Says which tables have days that are not complete; null if none has. */
function incompleteDays(tables: readonly ExportedTable[]): string | null {
  const found = tables.flatMap(({ table, incomplete_from }) =>
    incomplete_from === null ? [] : [`${table} from ${incomplete_from}`],
  )
  if (found.length === 0) return null
  return `not written, because the service has not stored these days to their end: ${found.join(', ')}. Repeat the command later; if the day is long past, see whether the workers are behind`
}

function absolute(place: string): string {
  const target = parseTarget(place)
  return target?.kind === 'folder' ? target.path : place
}
