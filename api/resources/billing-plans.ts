import type { Billing } from '../billing/billing.ts'
import { ApiError } from '../errors.ts'
import { PlansAnswer, plansAnswer } from '../items/billing.ts'
import { resource } from './resource.ts'

/** `GET /billing/plans`: prices and payment addresses; public (contract 4.4). */
export function billingPlans({ billing }: { readonly billing: Billing | null }) {
  return resource({
    path: '/billing/plans',
    price: null,
    docs: {
      tag: 'Billing',
      summary: 'Prices and payment addresses',
      description:
        'Pay in USDT from the connected wallet: any amount to `api_credits`, exactly the price of a plan to `pro_access`. A payment from another wallet cannot be matched to the account.',
      problems: ['unavailable'],
      example: {
        payment_addresses: {
          pro_access: '3aWPWLqyxMRUWt8tgd6cZ7jpGVmEutJs1TRyUtRc8zZj',
          api_credits: 'J1nVfDb9bPKmWk3qkPNkRyQ6p9v3kTNy1b8ucRgAVi9x',
        },
        usdt_mint: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
        usdt_decimals: 6,
        credits_per_usdt: 1000,
        plans: [
          { plan: 'trial', usdt: 5, days: 3 },
          { plan: 'monthly', usdt: 49, days: 30 },
        ],
      },
    },
    answer: PlansAnswer,
    async handle() {
      return { body: plansAnswer(open(billing).terms) }
    },
  })
}

/** Returns billing. Throws `unavailable` if the service has no payment addresses. */
export function open(billing: Billing | null): Billing {
  if (billing === null) throw new ApiError('unavailable')
  return billing
}
