import { z } from 'zod'
import { aliasOf } from '../../pipeline/domain/alias.ts'
import { type ChainBreak, readBreaks } from '../../pipeline/store/tables/chain-breaks.ts'
import { limitOption, optionCommand } from './command.ts'

const STATES = ['open', 'unexplained', 'accepted', 'closed'] as const

/**
 * `audit`: lists the breaks in the chains of links of tracked wallets (rule K8), the oldest first,
 * without the addresses of token accounts. By default those that are not closed.
 */
export const audit = optionCommand({
  name: 'audit',
  summary: 'Lists where something of a tracked wallet is missing.',
  usage: `[--state ${STATES.join('|')}] [--limit <n>]`,
  options: {
    state: z.enum(STATES).optional(),
    limit: limitOption(1000),
  },
  async run({ state, limit }, { store }) {
    const states = state === undefined ? (['open', 'unexplained', 'accepted'] as const) : [state]
    const breaks = await readBreaks(store, states, { limit })
    return { document: { items: breaks.map(itemOf) } }
  },
})

function itemOf(found: ChainBreak) {
  return {
    alias: aliasOf(found.wallet),
    mint: found.account === '' ? null : found.mint,
    state: found.state,
    cause: found.cause === '' ? null : found.cause,
    from_slot: found.from.slot,
    to_slot: found.slot,
    amount: String(found.found - found.expected),
    tries: found.tries,
    opened_at: found.openedAt,
    changed_at: found.changedAt,
  }
}
