import { z } from 'zod'
import type { Billing } from '../billing/billing.ts'
import { TopUpItem, topUpItem } from '../items/billing.ts'
import { componentSchema } from '../items/component-schema.ts'
import { open } from './billing-plans.ts'
import { dashboardResource } from './resource.ts'

const TopUpsAnswer = componentSchema('TopUpsAnswer', 'Deposits of an account that were credited.', {
  items: z.array(TopUpItem).describe('Newest first, at most 1000'),
})

/**
 * `GET /billing/credits/topups`: deposits credited to the connected wallet's account (contract 4.4,
 * rule E6).
 */
export function billingTopUps({ billing }: { readonly billing: Billing | null }) {
  return dashboardResource({
    path: '/billing/credits/topups',
    docs: {
      tag: 'Billing',
      summary: 'Credited deposits',
      description: 'Deposits only, newest first, at most 1000.',
      problems: ['unavailable'],
      example: {
        items: [
          {
            tx_signature:
              '5UfDuX7WXYgbPjuSGfzU4kTJ4W4F6qWjVrwkM7TTKzWq2XNSGmUkYMWzmPXQ9uLU8t1N3kqzjvF8oQk2rG4tHk3n',
            amount_usdt: 49,
            credits: 49000,
            created_at: 1790000000,
          },
        ],
      },
    },
    answer: TopUpsAnswer,
    async handle(_input, { wallet }) {
      const items = await open(billing).topUps(wallet)
      return { body: { items: items.map(topUpItem) } }
    },
  })
}
