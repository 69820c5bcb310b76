import { z } from 'zod'
import type { ProStatus } from '../billing/subscriptions.ts'
import type { Balance } from '../credits/meter.ts'
import { componentSchema } from './component-schema.ts'
import { count, time } from './fields.ts'

/** Bounds of one account, as the configuration sets them; null: no bound. */
export interface AccountBounds {
  readonly requestsPerMinute: number | null
  readonly concurrentRequests: number | null
  readonly feedConnections: number
  readonly feedMessagesPerMinute: number | null
}

const bound = count.nullable()

/** The account of an API key, as programs see it (rule L12). */
export const AccountAnswer = componentSchema('AccountAnswer', 'The account of an API key.', {
  balance_credits: z.int().describe('Credits left, less those reserved by feed connections'),
  reserved_credits: count.describe('Reserved by feed connections; what they do not use comes back'),
  pro: z
    .strictObject({ active: z.boolean(), plan: z.string().nullable(), expires_at: time.nullable() })
    .meta({ description: 'Pro of the wallet; nulls without it' }),
  limits: z
    .strictObject({
      requests_per_minute: bound,
      concurrent_requests: bound,
      feed_connections: count,
      feed_messages_per_minute: bound.describe(
        'Messages and pings that a feed connection may send; those that it gets do not count',
      ),
    })
    .meta({ description: 'Bounds of this account; null: none. `RateLimit` has what is left' }),
  usage: z
    .strictObject({ since: time, credits: z.int() })
    .meta({ description: 'Credits used in this UTC day; a second or two behind the balance' }),
})
export type AccountAnswer = z.infer<typeof AccountAnswer>

/** Renders an account. `usage`: of the UTC day that begins at `since`, in unix seconds. */
export function accountAnswer(
  { left, reserved }: Balance,
  { active, plan, expiresAt }: ProStatus,
  bounds: AccountBounds,
  usage: AccountAnswer['usage'],
): AccountAnswer {
  return {
    balance_credits: left,
    reserved_credits: reserved,
    pro: { active, plan, expires_at: expiresAt },
    limits: {
      requests_per_minute: bounds.requestsPerMinute,
      concurrent_requests: bounds.concurrentRequests,
      feed_connections: bounds.feedConnections,
      feed_messages_per_minute: bounds.feedMessagesPerMinute,
    },
    usage,
  }
}
