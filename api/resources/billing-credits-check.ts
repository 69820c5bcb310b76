import { z } from 'zod'
import type { Billing } from '../billing/billing.ts'
import { componentSchema } from '../items/component-schema.ts'
import { open } from './billing-plans.ts'
import { dashboardResource } from './resource.ts'

const CreditCheckAnswer = componentSchema('CreditCheckAnswer', 'Result of a check of credits.', {
  credited: z.int().min(0).describe('Credits added by this call'),
  balance_credits: z.int().describe('Credits left after the check'),
})

/**
 * `POST /billing/credits/check`: credits the payments of the connected wallet since the last check
 * (contract 4.4, rule E5).
 */
export function billingCreditsCheck({ billing }: { readonly billing: Billing | null }) {
  return dashboardResource({
    path: '/billing/credits/check',
    method: 'POST',
    docs: {
      tag: 'Billing',
      summary: 'Credit payments of the wallet',
      description:
        'Credits every finalized USDT deposit from the connected wallet to `payment_addresses.api_credits`, once each, rounded down to a whole credit. A transaction is finalized about 13 s after it was sent. If the chain cannot be read, the answer is 503: nothing is credited, and nothing is lost.',
      problems: ['unavailable'],
      example: { credited: 49000, balance_credits: 49012 },
    },
    answer: CreditCheckAnswer,
    async handle(_input, { wallet }) {
      const { credited, balance } = await open(billing).checkCredits(wallet)
      return { body: { credited, balance_credits: balance } }
    },
  })
}
