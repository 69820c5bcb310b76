import type { Billing } from '../billing/billing.ts'
import { ProStatusAnswer, proStatusAnswer } from '../items/billing.ts'
import { open } from './billing-plans.ts'
import { dashboardResource } from './resource.ts'

/**
 * `POST /billing/pro/check`: redeems the payments for Pro of the connected wallet since the last
 * check (contract 4.4, rules E5, E6).
 */
export function billingProCheck({ billing }: { readonly billing: Billing | null }) {
  return dashboardResource({
    path: '/billing/pro/check',
    method: 'POST',
    docs: {
      tag: 'Billing',
      summary: 'Redeem payments for Pro',
      description:
        "Redeems every finalized payment from the connected wallet to `payment_addresses.pro_access` that equals a plan's price exactly, oldest first, once each. Each adds its days to the remaining Pro. The answer is the Pro status after the check. If the chain cannot be read, the answer is 503, and nothing is lost.",
      problems: ['unavailable'],
      example: {
        wallet: '7yq5Tt2uF7tqFQUpgBWuJq3wV9yX1FUn4UuGHJdhCFzA',
        active: true,
        plan: 'monthly',
        expires_at: 1792592000,
        seconds_left: 2592000,
      },
    },
    answer: ProStatusAnswer,
    async handle(_input, { wallet }) {
      return { body: proStatusAnswer(wallet, await open(billing).checkPro(wallet)) }
    },
  })
}
