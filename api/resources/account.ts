import type { Billing } from '../billing/billing.ts'
import { NO_PRO } from '../billing/subscriptions.ts'
import type { Credits } from '../credits/credits.ts'
import { PERIOD_SECONDS, readUsage } from '../credits/ledger-entries.ts'
import { AccountAnswer, type AccountBounds, accountAnswer } from '../items/account.ts'
import { type ResourceDeps, resource } from './resource.ts'

/** `GET /account`: balance, plan, limits and usage of an API key's account; free (rule L12). */
export function account(
  deps: Pick<ResourceDeps, 'store'> & {
    readonly credits: Pick<Credits, 'balance'>
    readonly billing: Pick<Billing, 'pro'> | null
    readonly accountBounds: AccountBounds
    readonly now: () => number
  },
) {
  return resource({
    path: '/account',
    price: 0,
    docs: {
      tag: 'Account',
      summary: 'Balance, plan, limits and usage of an API key',
      description:
        'What a program needs to know about its own account. It costs nothing and is answered without credits too; the rate limits count it.',
      example: {
        balance_credits: 48_921,
        reserved_credits: 100,
        pro: { active: true, plan: 'monthly', expires_at: 1_792_592_000 },
        limits: {
          requests_per_minute: 6000,
          concurrent_requests: 32,
          feed_connections: 1,
          feed_messages_per_minute: 120,
        },
        usage: { since: 1_789_948_800, credits: 1204 },
      },
    },
    answer: AccountAnswer,
    async handle(_input, { account = '' }) {
      const { store, credits, billing, accountBounds } = deps
      const now = deps.now()
      const [balance, pro, [today]] = await Promise.all([
        credits.balance(account),
        billing?.pro(account) ?? NO_PRO,
        readUsage(store, account, { by: 'day', count: 1, now }),
      ])
      const since = Math.floor(now / 1000 / PERIOD_SECONDS.day) * PERIOD_SECONDS.day
      const usage = { since, credits: today?.credits ?? 0 }
      return { body: accountAnswer(balance, pro, accountBounds, usage) }
    },
  })
}
