import { checkSchema } from '../../pipeline/store/migrate.ts'
import { optionCommand } from './command.ts'

/**
 * `migrate`: applies the files of `sql/` that are new, as the user of `CLICKHOUSE_URL`. Every
 * command does that before it runs; this one does nothing else. It is for deployments where the
 * users of the roles may not change tables.
 */
export const migrateCommand = optionCommand({
  name: 'migrate',
  summary: 'Applies new files of sql/ to the store.',
  async run(_options, { store }) {
    await checkSchema(store)
    return { document: { schema: 'up_to_date' } }
  },
})
