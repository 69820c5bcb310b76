import { z } from 'zod'
import type { AccountEvents } from '../accounts/account-events.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { AccountEventItem, accountEventItem } from '../items/account-event.ts'
import { componentSchema } from '../items/component-schema.ts'
import { hasMore, nextCursor } from '../items/fields.ts'
import { cursorText, integer, invalidCursor } from './parameters.ts'
import { dashboardResource, type ResourceDeps } from './resource.ts'

const EventsAnswer = componentSchema('EventsAnswer', 'Security events of an account.', {
  has_more: hasMore,
  next_cursor: nextCursor,
  items: z.array(AccountEventItem).describe('Newest first'),
})

/**
 * `GET /me/events`: sign-ins, sign-outs, key changes and failed attempts of the connected wallet.
 */
export function meEvents({
  accounts,
  events,
  cursors,
}: Pick<ResourceDeps, 'cursors'> & {
  readonly accounts: Pick<Accounts, 'ensure'>
  readonly events: Pick<AccountEvents, 'list'>
}) {
  return dashboardResource({
    path: '/me/events',
    docs: {
      tag: 'Account',
      summary: 'Security events of the account',
      description:
        'Sign-ins, sign-outs and key changes, and failed attempts of anyone, newest first, for 90 days. Failed attempts are counted: one item for each kind, network and hour, and each process of the service. The list is up to 10 seconds behind. If you do not recognise an event, use `POST /auth/logout-everywhere`, and `POST /me/api/rotate` for the key.',
      problems: ['invalid_cursor'],
      example: {
        has_more: false,
        next_cursor: null,
        items: [
          { kind: 'key_refused', at: 1_790_003_600, network: '198.51.100.0/24', count: 12 },
          { kind: 'signed_in', at: 1_790_000_000, network: '192.0.2.0/24', count: 1 },
        ],
      },
    },
    query: z.object({ limit: integer(1, 100, 25), cursor: cursorText }),
    answer: EventsAnswer,
    async handle({ query: { limit, cursor } }, { wallet }) {
      const scope = `events:${wallet}` as const
      const position = cursor === null ? null : cursors.decode(scope, cursor)
      if (cursor !== null && position === null) throw invalidCursor()
      await accounts.ensure(wallet)
      // The cursor has the time in milliseconds in the field of the slot, and the id in that of the
      // index.
      const before = position && { at: position.slot, id: position.txIndex }
      const found = await events.list(wallet, before, limit + 1)
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const more = found.length > limit && last !== undefined
      return {
        body: {
          has_more: more,
          next_cursor: more
            ? cursors.encode(scope, { slot: last.at, txIndex: last.id, wallet: 0, eventIndex: 0 })
            : null,
          items: page.map(accountEventItem),
        },
      }
    },
  })
}
