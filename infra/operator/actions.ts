import { z } from 'zod'
import { readActions } from './audit-log.ts'
import { optionCommand } from './command.ts'

/** `actions`: lists what operators did, newest first. The command itself is not recorded. */
export const actionsCommand = optionCommand({
  name: 'actions',
  summary: 'Lists what operators did.',
  usage: '[--limit <n>]',
  options: {
    limit: z
      .string()
      .regex(/^([1-9][0-9]{0,3}|10000)$/, 'expected an integer from 1 to 10000')
      .default('50')
      .transform(Number),
  },
  async run({ limit }, { store }) {
    return { document: { items: await readActions(store, limit) } }
  },
})
