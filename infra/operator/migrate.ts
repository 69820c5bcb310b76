import { checkSchema } from '../../pipeline/store/migrate.ts'
import { optionCommand } from './command.ts'

/**
 * `migrate`: applies the files of `sql/` that are new, as the user of `CLICKHOUSE_URL`. Every
 * command does that before it runs; this one does nothing else. For deployments where the
 * processes' own users may change no table.
 */
export const migrateCommand = optionCommand({
  name: 'migrate',
  usage: '',
  options: {},
  async run(_options, { store }) {
    await checkSchema(store)
    return { document: { schema: 'up_to_date' } }
  },
})
