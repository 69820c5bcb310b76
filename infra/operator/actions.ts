import { readActions } from './audit-log.ts'
import { limitOption, optionCommand } from './command.ts'

/** `actions`: lists what operators did, newest first. The command itself is not recorded. */
export const actionsCommand = optionCommand({
  name: 'actions',
  summary: 'Lists what operators did.',
  usage: '[--limit <n>]',
  options: {
    limit: limitOption(50),
  },
  async run({ limit }, { store }) {
    return { document: { items: await readActions(store, limit) } }
  },
})
