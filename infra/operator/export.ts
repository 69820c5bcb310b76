import { z } from 'zod'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { openLongStore } from '../../pipeline/store/create-store.ts'
import { exportDays } from '../../pipeline/store/export/export.ts'
import { parseTarget } from '../../pipeline/store/export/export-place.ts'
import { EXPORT_TABLES } from '../../pipeline/store/export/export-tables.ts'
import { secondsSince } from './backup.ts'
import { type Command, optionCommand } from './command.ts'

const TABLES = Object.keys(EXPORT_TABLES)

/** `--table`: names of tables, with commas, or `all`. */
const tablesOption = z.string().transform((text, context) => {
  const tables = text === 'all' ? TABLES : [...new Set(text.split(','))]
  if (tables.every((table) => TABLES.includes(table))) return tables
  context.addIssue({ code: 'custom', message: `expected all, or some of ${TABLES.join(',')}` })
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
  usage: '--table <name,...|all> --from <day> --to <day> --to-dir <folder|s3://bucket/prefix>',
  options: { table: tablesOption, from: dayOption, to: dayOption, 'to-dir': targetOption },
  isRecorded: true,
  async run({ table: tables, from, to, 'to-dir': place }, { store, storeConfig, stop }, report) {
    if (from > to) throw new ServiceError('invalid_argument', '--from: it is after --to')
    const started = performance.now()
    const long = await openLongStore(store, storeConfig)
    try {
      const done = await exportDays(long, {
        target: place.target,
        tables,
        from,
        to,
        stop,
        onDays: (days, total) => report({ what: 'days', done: days, total }),
      })
      return {
        document: { to_dir: place.text, tables: done, seconds: secondsSince(started) },
        failed: done.some((one) => one.incomplete_from !== null),
      }
    } finally {
      await long.close()
    }
  },
})

/**
 * `export --table <names> --from <day> --to <day> --to-dir <place>`: writes each day of each table
 * as a Parquet file, with a manifest a table (rule M4). Fails, having written the others, if a day
 * is not complete yet.
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

function absolute(place: string): string {
  const target = parseTarget(place)
  return target?.kind === 'folder' ? target.path : place
}
