import { type Address, parseAddress } from '../../pipeline/domain/address.ts'
import { type PaymentAddresses, USDT_DECIMALS } from '../../pipeline/domain/payment.ts'
import { USDT } from '../../pipeline/domain/quote.ts'
import { type EnvOf, envText } from '../../pipeline/runtime/env.ts'

/** What a plan gives for what. */
export interface Plan {
  readonly plan: string
  /** As configured, in USDT. */
  readonly usdt: number
  /** The same in raw units: a payment buys it when it is equal to the last of them (decisions E5). */
  readonly price: bigint
  readonly days: number
}

/** What can be bought. */
export interface Prices {
  /** As configured. */
  readonly creditsPerUsdt: number
  /** No two have the same name or price. */
  readonly plans: readonly Plan[]
}

/** What can be bought, and where it is paid. */
export interface BillingTerms extends Prices {
  readonly payments: PaymentAddresses
}

const addressText = envText(
  'a base58 address of 32 bytes',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  (text) => parseAddress(text) ?? undefined,
)

/** The environment of billing (decisions J2). */
export const billingEnv = {
  PAYMENT_ADDRESS_PRO: addressText.optional(),
  PAYMENT_ADDRESS_CREDITS: addressText.optional(),
  USDT_MINT: addressText.default(USDT),
  CREDITS_PER_USDT: envText('a number above 0 with at most 6 decimals', '1000', (text) =>
    (raw(text) ?? 0n) > 0n ? Number(text) : undefined,
  ).default(1000),
  PLANS: envText(
    'plans as JSON, no two of one name or price: usdt above 0 with at most 6 decimals, days from 1 to 36500',
    '[{"plan":"monthly","usdt":49,"days":30}]',
    readPlans,
  ).default([
    { plan: 'trial', usdt: 5, price: 5_000_000n, days: 3 },
    { plan: 'monthly', usdt: 49, price: 49_000_000n, days: 30 },
  ]),
}

/** What the environment leaves wrong: equal payment addresses, or one without the other. */
export function paymentFaults(env: Readonly<EnvOf<typeof billingEnv>>): string[] {
  const { PAYMENT_ADDRESS_PRO: pro, PAYMENT_ADDRESS_CREDITS: credits } = env
  if ((pro === undefined) !== (credits === undefined))
    return [
      `PAYMENT_ADDRESS_${pro === undefined ? 'PRO' : 'CREDITS'}: required with the other payment address`,
    ]
  if (pro !== undefined && pro === credits)
    return [
      'PAYMENT_ADDRESS_PRO, PAYMENT_ADDRESS_CREDITS: have to differ: an address tells what is paid for',
    ]
  return []
}

/** The terms; null where nobody can pay: no addresses are configured, and there are none to fall back on. */
export function billingTerms(
  env: Readonly<EnvOf<typeof billingEnv>>,
  fallback: { readonly pro: Address; readonly credits: Address } | null,
): BillingTerms | null {
  const pro = env.PAYMENT_ADDRESS_PRO ?? fallback?.pro
  const credits = env.PAYMENT_ADDRESS_CREDITS ?? fallback?.credits
  if (pro === undefined || credits === undefined) return null
  return { payments: { pro, credits, mint: env.USDT_MINT }, ...pricesOf(env) }
}

/** What can be bought, wherever it is paid. */
export function pricesOf(env: Readonly<EnvOf<typeof billingEnv>>): Prices {
  return { creditsPerUsdt: env.CREDITS_PER_USDT, plans: env.PLANS }
}

/** Credits for raw units of USDT, rounded down once (decisions E5). */
export function creditsFor(amount: bigint, { creditsPerUsdt }: Prices): number {
  const rate = raw(String(creditsPerUsdt)) ?? 0n
  return Number((amount * rate) / (SCALE * SCALE))
}

const SCALE = 10n ** BigInt(USDT_DECIMALS)

/** A decimal number times 10^6; null for more than 6 decimals, or other text. */
function raw(text: string): bigint | null {
  const [, whole = '', fraction = ''] = /^([0-9]{1,9})(?:\.([0-9]{1,6}))?$/.exec(text) ?? []
  return whole === '' ? null : BigInt(whole) * SCALE + BigInt(fraction.padEnd(USDT_DECIMALS, '0'))
}

function readPlans(text: string): readonly Plan[] | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(json) || json.length === 0 || json.length > 100) return undefined
  const plans = json.map(readPlan)
  const isDistinct = (key: 'plan' | 'price') =>
    new Set(plans.map((plan) => plan?.[key])).size === plans.length
  if (plans.includes(undefined) || !isDistinct('plan') || !isDistinct('price')) return undefined
  return plans as Plan[] // no undefined is left
}

function readPlan(json: unknown): Plan | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { plan, usdt, days } = json as Record<string, unknown> // an object
  if (typeof plan !== 'string' || !/^[A-Za-z0-9_-]{1,32}$/.test(plan)) return undefined
  if (typeof usdt !== 'number' || typeof days !== 'number') return undefined
  const price = raw(String(usdt))
  if (price === null || price === 0n) return undefined
  return Number.isInteger(days) && days >= 1 && days <= 36_500
    ? { plan, usdt, price, days }
    : undefined
}
