import { z } from 'zod'
import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import { type PaymentAddresses, USDT_DECIMALS } from '../../pipeline/domain/payment.ts'
import { USDT } from '../../pipeline/domain/quote.ts'
import { type EnvOf, envText } from '../../pipeline/runtime/env.ts'
import { parseJson } from '../../pipeline/runtime/parse-json.ts'

/** A subscription plan: name, price and duration. */
export interface Plan {
  readonly plan: string
  /** The price in USDT, as configured. */
  readonly usdt: number
  /** The same price in raw units. A payment buys the plan if it equals this exactly (rule E5). */
  readonly price: bigint
  readonly days: number
}

/** Prices of credits and plans. */
export interface Prices {
  /** As configured. */
  readonly creditsPerUsdt: number
  /** Names and prices are unique. */
  readonly plans: readonly Plan[]
}

/** Prices, and the addresses where customers pay. */
export interface BillingTerms extends Prices {
  readonly payments: PaymentAddresses
}

const addressText = envText(
  'a base58 address of 32 bytes',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  (text) => parseAddress(text) ?? undefined,
)

const plansText = z.string().transform((text, context): readonly Plan[] => {
  const read = readPlans(text)
  if (typeof read !== 'string') return read
  const example = 'for example [{"plan":"monthly","usdt":49,"days":30}]'
  context.addIssue({ code: 'custom', message: `${read}; ${example}` })
  return z.NEVER
})

/** Environment variables of billing (rule J2). */
export const billingEnv = {
  PAYMENT_ADDRESS_PRO: addressText.optional(),
  PAYMENT_ADDRESS_CREDITS: addressText.optional(),
  USDT_MINT: addressText.default(USDT),
  CREDITS_PER_USDT: envText('a number above 0 with at most 6 decimals', '1000', (text) =>
    (raw(text) ?? 0n) > 0n ? Number(text) : undefined,
  ).default(1000),
  PLANS: plansText.default([
    { plan: 'trial', usdt: 5, price: 5_000_000n, days: 3 },
    { plan: 'monthly', usdt: 49, price: 49_000_000n, days: 30 },
  ]),
}

/** Returns faults between variables: equal payment addresses, or one address without the other. */
export function paymentFaults(env: Readonly<EnvOf<typeof billingEnv>>): string[] {
  const { PAYMENT_ADDRESS_PRO: pro, PAYMENT_ADDRESS_CREDITS: credits } = env
  if ((pro === undefined) !== (credits === undefined))
    return [
      `PAYMENT_ADDRESS_${pro === undefined ? 'PRO' : 'CREDITS'}: required with the other payment address`,
    ]
  if (pro !== undefined && pro === credits)
    return [
      'PAYMENT_ADDRESS_PRO, PAYMENT_ADDRESS_CREDITS: must differ, because the address says what a payment is for',
    ]
  return []
}

/**
 * Returns the terms, or null if nobody can pay because no addresses are configured and there is no
 * fallback.
 */
export function billingTerms(
  env: Readonly<EnvOf<typeof billingEnv>>,
  fallback: { readonly pro: Address; readonly credits: Address } | null,
): BillingTerms | null {
  const pro = env.PAYMENT_ADDRESS_PRO ?? fallback?.pro
  const credits = env.PAYMENT_ADDRESS_CREDITS ?? fallback?.credits
  if (pro === undefined || credits === undefined) return null
  return { payments: { pro, credits, mint: env.USDT_MINT }, ...pricesOf(env) }
}

/** Returns the prices, whether or not payments are possible. */
export function pricesOf(env: Readonly<EnvOf<typeof billingEnv>>): Prices {
  return { creditsPerUsdt: env.CREDITS_PER_USDT, plans: env.PLANS }
}

/** Converts raw units of USDT to credits, rounded down once (rule E5). */
export function creditsFor(amount: bigint, { creditsPerUsdt }: Prices): number {
  const rate = raw(String(creditsPerUsdt)) ?? 0n
  return Number((amount * rate) / (SCALE * SCALE))
}

const SCALE = 10n ** BigInt(USDT_DECIMALS)

/** Returns a decimal number times 10^6, or null for more than 6 decimals or other text. */
function raw(text: string): bigint | null {
  const [, whole = '', fraction = ''] = /^([0-9]{1,9})(?:\.([0-9]{1,6}))?$/.exec(text) ?? []
  return whole === '' ? null : BigInt(whole) * SCALE + BigInt(fraction.padEnd(USDT_DECIMALS, '0'))
}

/**
 * Parses the plans, or returns every fault of every plan, with its place in the list and, if valid,
 * its name.
 */
function readPlans(text: string): readonly Plan[] | string {
  const json = parseJson(text)
  if (json === undefined) return 'expected JSON'
  if (!Array.isArray(json) || json.length === 0 || json.length > 100)
    return 'expected a list of 1 to 100 plans'
  const read = json.map(readPlan)
  const plans = read.flatMap(({ plan }) => plan ?? [])
  const faults = read.flatMap(({ name, faults }, at) =>
    faults.map((fault) => `plan ${at + 1}${name === null ? '' : ` (${name})`}: ${fault}`),
  )
  plans.forEach(({ plan, price }, at) => {
    const before = plans.slice(0, at)
    if (before.some((other) => other.plan === plan))
      faults.push(`two plans have the name ${plan}: names must be unique`)
    const other = before.find((other) => other.price === price)
    if (other !== undefined)
      faults.push(
        `plans ${other.plan} and ${plan} have the same price: the price says which plan a payment buys`,
      )
  })
  return faults.length === 0 ? plans : faults.join('; ')
}

function readPlan(json: unknown) {
  const { plan, usdt, days } = (typeof json === 'object' && json !== null ? json : {}) as Record<
    string,
    unknown
  > // an object
  const name = typeof plan === 'string' && /^[A-Za-z0-9_-]{1,32}$/.test(plan) ? plan : null
  const price = typeof usdt === 'number' ? (raw(String(usdt)) ?? 0n) : 0n
  const isSpan = typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= 36_500
  const faults: string[] = []
  if (name === null) faults.push('plan must be 1 to 32 letters, digits, - and _')
  if (price === 0n) faults.push('usdt must be a number above 0 with at most 6 decimals')
  if (!isSpan) faults.push('days must be an integer from 1 to 36500')
  if (name === null || price === 0n || !isSpan) return { name, faults, plan: null }
  return { name, faults, plan: { plan: name, usdt: Number(usdt), price, days } }
}
