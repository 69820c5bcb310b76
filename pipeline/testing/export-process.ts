import { openChdb } from '../store/chdb.ts'
import { type ExportOptions, exportDays } from '../store/export/export.ts'
import { migrate } from '../store/migrate.ts'
import { FILLED_DAYS, fillDays } from './fill-days.ts'

/*
 * A process that exports the days of an embedded store, for tests that kill it. Arguments: `fill`
 * or `export`, the store's folder, the first day, the folder of the export, and tables. It writes a
 * line before each statement.
 */

const [what, folder = '', day = '', place = '', ...tables] = process.argv.slice(2)
const store = await openChdb(folder)
if (what === 'fill') {
  await migrate(store)
  await fillDays(store, { day: Number(day), rows: 300 })
} else {
  const options: ExportOptions = {
    target: { kind: 'folder', path: place },
    tables,
    from: Number(day),
    to: Number(day) + FILLED_DAYS - 1,
    stop: new AbortController().signal,
  }
  const line = () => process.stdout.write('statement\n')
  const done = await exportDays(
    {
      ...store,
      query: (sql, params, columns) => {
        line()
        return store.query(sql, params, columns)
      },
      command: (sql, params) => {
        line()
        return store.command(sql, params)
      },
    },
    options,
  )
  process.stdout.write(`${JSON.stringify(done)}\n`)
}
await store.close()
