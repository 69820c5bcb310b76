import { z } from 'zod'
import type { Accounts } from '../accounts/accounts.ts'
import { readUsage } from '../credits/ledger-entries.ts'
import { componentSchema } from '../items/component-schema.ts'
import { time } from '../items/fields.ts'
import { choice, integer } from './parameters.ts'
import { dashboardResource, type ResourceDeps } from './resource.ts'

const UsageItem = componentSchema('UsageItem', 'Credits used in an hour or a day.', {
  starts_at: time.describe('Start of the hour or day, UTC'),
  credits: z.int().meta({
    description:
      'Credits used in it; negative if refunds for calls of the previous period exceed its use',
  }),
})

const UsageAnswer = componentSchema('UsageAnswer', 'Credits used by an account, by hour or day.', {
  by: z.enum(['hour', 'day']),
  items: z.array(UsageItem).describe('Newest first; periods without use are left out'),
})

/**
 * `GET /me/usage`: credits used by the connected wallet's account, by hour or day, from the ledger.
 */
export function meUsage({
  store,
  accounts,
  now,
}: Pick<ResourceDeps, 'store'> & {
  readonly accounts: Pick<Accounts, 'ensure'>
  readonly now: () => number
}) {
  return dashboardResource({
    path: '/me/usage',
    docs: {
      tag: 'Account',
      summary: 'Credits used, by hour or day',
      description:
        'Credits used in the last `limit` hours or days, including the current one, newest first. Periods without use are left out. Calls and live trades are added up. The ledger is a second or two behind the balance.',
      example: {
        by: 'day',
        items: [
          { starts_at: 1789948800, credits: 1204 },
          { starts_at: 1789862400, credits: 31988 },
        ],
      },
    },
    query: z.object({
      by: choice(['hour', 'day'], 'day').describe('Length of a period, UTC'),
      limit: integer(1, 100, 30).describe('Number of hours or days, back from now'),
    }),
    answer: UsageAnswer,
    async handle({ query: { by, limit } }, { wallet }) {
      await accounts.ensure(wallet)
      const usage = await readUsage(store, wallet, { by, count: limit, now: now() })
      const items = usage.map(({ startsAt, credits }) => ({ starts_at: startsAt, credits }))
      return { body: { by, items } }
    },
  })
}
