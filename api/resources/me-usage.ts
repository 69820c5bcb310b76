import { z } from 'zod'
import type { Accounts } from '../accounts/accounts.ts'
import { readUsage } from '../credits/ledger-entries.ts'
import { time } from '../items/fields.ts'
import { choice, integer, NONE } from './parameters.ts'
import { dashboardResource, type ResourceDeps } from './resource.ts'

const UsageItem = z
  .strictObject({
    starts_at: time.meta({ description: 'When the hour or day begins, UTC' }),
    credits: z.int().meta({
      description:
        'Credits used in it; below zero when more came back than was used, for calls that were not answered in the period before',
    }),
  })
  .meta({ id: 'UsageItem', description: 'What an account used in an hour or a day.' })

const UsageAnswer = z
  .strictObject({
    by: z.enum(['hour', 'day']),
    items: z.array(UsageItem).meta({ description: 'Newest first, without those of no use' }),
  })
  .meta({ id: 'UsageAnswer', description: 'What an account used, hour by hour or day by day.' })

/** `GET /me/usage`: what the account of who is logged in used, by hour or day, from the ledger. */
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
        'Of the last `limit` hours or days, the one that is running among them, newest first; those in which nothing was used are left out. Calls and live trades together. From the ledger, which is a second or two behind the balance.',
      example: {
        by: 'day',
        items: [
          { starts_at: 1789948800, credits: 1204 },
          { starts_at: 1789862400, credits: 31988 },
        ],
      },
    },
    params: NONE,
    query: z.object({
      by: choice(['hour', 'day'], 'day').meta({ description: 'What usage is summed over, UTC' }),
      limit: integer(1, 100, 30).meta({ description: 'How many hours or days back' }),
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
