import { checkSchema, planMigration } from '../../pipeline/store/migrate.ts'
import { keepTransactions } from '../../pipeline/store/tables/transactions.ts'
import { type Command, optionCommand } from './command.ts'

/**
 * `migrate`: applies the files of `sql/` that are new, as the user of `CLICKHOUSE_URL`. Every
 * command does that before it runs; this one also sets how long the bytes of transactions are kept
 * (rule K28), and does nothing else. It is for deployments where the users of the roles may not
 * change tables. `--plan` shows the new files and applies none (rule K19).
 */
export const migrateCommand: Command = {
  ...optionCommand({
    name: 'migrate',
    summary: 'Applies new files of sql/ to the store. --plan only lists them.',
    usage: '[--plan]',
    flags: ['plan'],
    makesDatabase: true,
    async run({ plan }, { store, transactionBytesDays }) {
      if (!plan) {
        await checkSchema(store)
        await keepTransactions(store, transactionBytesDays)
        return { document: { schema: 'up_to_date' } }
      }
      const files = await planMigration(store)
      return {
        document: {
          schema: files.length === 0 ? 'up_to_date' : 'behind',
          files: files.map(({ name, compatible, why }) => ({ file: name, compatible, why })),
        },
      }
    },
  }),
  leavesSchema: (args) => args.includes('--plan'),
}
