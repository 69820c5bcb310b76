import { z } from 'zod'
import type { Billing } from '../billing/billing.ts'
import { ProPaymentItem, proPaymentItem } from '../items/billing.ts'
import { componentSchema } from '../items/component-schema.ts'
import { open } from './billing-plans.ts'
import { dashboardResource } from './resource.ts'

const ProPaymentsAnswer = componentSchema('ProPaymentsAnswer', 'Payments that bought Pro.', {
  items: z.array(ProPaymentItem).describe('Newest first, at most 1000'),
})

/** `GET /billing/pro/payments`: what bought Pro for the connected wallet (rule L18). */
export function billingProPayments({ billing }: { readonly billing: Billing | null }) {
  return dashboardResource({
    path: '/billing/pro/payments',
    docs: {
      tag: 'Billing',
      summary: 'Payments for Pro',
      description: 'What bought Pro for the connected wallet, newest first, at most 1000.',
      problems: ['unavailable'],
      example: {
        items: [
          {
            tx_signature:
              '5UfDuX7WXYgbPjuSGfzU4kTJ4W4F6qWjVrwkM7TTKzWq2XNSGmUkYMWzmPXQ9uLU8t1N3kqzjvF8oQk2rG4tHk3n',
            amount_usdt: 5,
            plan: 'trial',
            days: 3,
            created_at: 1_790_000_000,
            expires_at: 1_790_259_200,
          },
        ],
      },
    },
    answer: ProPaymentsAnswer,
    async handle(_input, { wallet }) {
      const items = await open(billing).proPayments(wallet)
      return { body: { items: items.map(proPaymentItem) } }
    },
  })
}
