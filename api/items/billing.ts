import { z } from 'zod'
import { USDT_DECIMALS } from '../../pipeline/domain/payment.ts'
import type { ProPayment, ProStatus } from '../billing/subscriptions.ts'
import type { BillingTerms } from '../billing/terms.ts'
import type { TopUp } from '../credits/ledger-entries.ts'
import { componentSchema } from './component-schema.ts'
import { count, seconds, time } from './fields.ts'

const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  .meta({ examples: ['3aWPWLqyxMRUWt8tgd6cZ7jpGVmEutJs1TRyUtRc8zZj'] })
const usdt = z.number().min(0)

/** Prices, and the addresses where customers pay (contract 2.7). */
export const PlansAnswer = z
  .strictObject({
    payment_addresses: z.strictObject({
      pro_access: address.describe('Payment address of Pro plans'),
      api_credits: address.describe('Payment address of credits'),
    }),
    usdt_mint: address.describe('The only mint that is accepted'),
    usdt_decimals: z.int().min(0),
    credits_per_usdt: z.number().describe('Credits for one USDT'),
    plans: z.array(
      z.strictObject({
        plan: z.string(),
        usdt: usdt.describe('Price in USDT; pay exactly this amount'),
        days: z.int().min(1),
      }),
    ),
  })
  .meta({ id: 'PlansAnswer', description: 'Prices, and the addresses where customers pay.' })

export function plansAnswer({ payments, creditsPerUsdt, plans }: BillingTerms) {
  return {
    payment_addresses: { pro_access: payments.pro, api_credits: payments.credits },
    usdt_mint: payments.mint,
    usdt_decimals: USDT_DECIMALS,
    credits_per_usdt: creditsPerUsdt,
    plans: plans.map(({ plan, usdt, days }) => ({ plan, usdt, days })),
  }
}

/** Pro status of a wallet (contract 2.7, rule E6). */
export const ProStatusAnswer = componentSchema('ProStatusAnswer', 'Pro status of a wallet.', {
  wallet: address.describe('The connected wallet'),
  active: z.boolean(),
  plan: z.string().nullable().describe('The plan paid last; null without Pro'),
  expires_at: time.nullable().describe('The second in which Pro ends; null without Pro'),
  seconds_left: seconds.describe('Seconds until Pro ends; 0 without Pro'),
})

export function proStatusAnswer(wallet: string, status: ProStatus) {
  const { active, plan, expiresAt, secondsLeft } = status
  return { wallet, active, plan, expires_at: expiresAt, seconds_left: secondsLeft }
}

/** A deposit that was credited (contract 2.7). */
export const TopUpItem = componentSchema('TopUpItem', 'A deposit that was credited.', {
  tx_signature: z.string().describe('The transaction of the payment'),
  amount_usdt: usdt,
  credits: count,
  created_at: time.describe('When it was credited'),
})

export function topUpItem({ signature, amount, credits, createdAt }: TopUp) {
  return {
    tx_signature: signature,
    amount_usdt: usdtOf(amount),
    credits,
    created_at: createdAt,
  }
}

/** A payment that bought Pro (rule L18). */
export const ProPaymentItem = componentSchema('ProPaymentItem', 'A payment that bought Pro.', {
  tx_signature: z.string().describe('The transaction of the payment'),
  amount_usdt: usdt,
  plan: z.string().describe('The plan that it bought, as it was called then'),
  days: count.describe('Days that it bought'),
  created_at: time.describe('When it was redeemed'),
  expires_at: time.describe('Until when Pro ran since then'),
})

export function proPaymentItem(payment: ProPayment) {
  const { signature, amount, plan, days, createdAt, expiresAt } = payment
  return {
    tx_signature: signature,
    amount_usdt: usdtOf(amount),
    plan,
    days,
    created_at: createdAt,
    expires_at: expiresAt,
  }
}

/** Returns raw units of USDT as the nearest double in USDT. */
function usdtOf(amount: bigint): number {
  // The quotient of two exactly represented doubles is the nearest double to the exact quotient.
  // 2^53 units are nine billion USDT.
  return Number(amount) / 10 ** USDT_DECIMALS
}
