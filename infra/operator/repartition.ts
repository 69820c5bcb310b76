import { planRepartition, repartition } from '../../pipeline/store/repartition.ts'
import { secondsSince } from './backup.ts'
import { optionCommand } from './command.ts'

/**
 * `repartition [--plan]`: partitions the tables of an older database by ranges of slots (rule K29),
 * while the service runs. `--plan` only says which tables are not partitioned yet.
 */
export const repartitionCommand = optionCommand({
  name: 'repartition',
  summary: 'Partitions event tables of an older database by slot. --plan only lists them.',
  usage: '[--plan]',
  flags: ['plan'],
  isRecorded: true,
  async run({ plan }, { store, stop }, report) {
    if (plan) return { document: { tables: await planRepartition(store) } }
    const started = performance.now()
    const onRows = (table: string, done: number, total: number) =>
      report({ what: `rows of ${table}`, done, total })
    const done = await repartition(store, { stop, onRows })
    const tables = done.map(({ table, partitions, heldSeconds }) => ({
      table,
      partitions,
      held_seconds: heldSeconds,
    }))
    return { document: { tables, seconds: secondsSince(started) } }
  },
})
