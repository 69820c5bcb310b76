import test from 'ava'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { requirePro } from '../middleware/require-pro.ts'
import { billingEnv, billingTerms, creditsFor, paymentFaults } from './terms.ts'

const [A, B] = [
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
]

/** The faults that stop a start with these variables. */
function faults(env: Record<string, string>): string {
  try {
    readEnv(billingEnv, env, paymentFaults)
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

test('plans, rates and addresses are read, and faults in them stop the start (J2)', (t) => {
  const set = { PAYMENT_ADDRESS_PRO: A, PAYMENT_ADDRESS_CREDITS: B }
  const plans = JSON.stringify([{ plan: 'day', usdt: 1.25, days: 1 }])
  const env = readEnv(billingEnv, { ...set, CREDITS_PER_USDT: '0.5', PLANS: plans }, paymentFaults)
  const terms = billingTerms(env, null)
  t.like(terms, {
    payments: { pro: A, credits: B },
    creditsPerUsdt: 0.5,
    plans: [{ plan: 'day', usdt: 1.25, price: 1_250_000n, days: 1 }],
  })
  t.is(billingTerms(readEnv(billingEnv, {}), null), null)
  t.regex(faults({ PAYMENT_ADDRESS_PRO: A, PAYMENT_ADDRESS_CREDITS: A }), /must differ/)
  t.regex(faults({ PAYMENT_ADDRESS_PRO: A }), /PAYMENT_ADDRESS_CREDITS: required/)
  t.regex(faults({ ...set, USDT_MINT: 'USDT' }), /USDT_MINT: expected a base58 address/)
  for (const rate of ['0', '-1', '1e3', '0.0000001', 'many'])
    t.regex(
      faults({ ...set, CREDITS_PER_USDT: rate }),
      /CREDITS_PER_USDT: expected a number above 0/,
    )
  const plan = { plan: 'a', usdt: 5, days: 3 }
  const name = 'plan must be 1 to 32 letters, digits, - and _'
  const usdt = 'usdt must be a number above 0 with at most 6 decimals'
  const days = 'days must be an integer from 1 to 36500'
  for (const [bad, fault] of [
    ['{', 'expected JSON'],
    ['{}', 'expected a list of 1 to 100 plans'],
    ['[]', 'expected a list of 1 to 100 plans'],
    ['[1]', `plan 1: ${name}; plan 1: ${usdt}; plan 1: ${days}`],
    ...[0, -5, 0.0000001, '5'].map(
      (wrong) => [[{ ...plan, usdt: wrong }], `plan 1 (a): ${usdt}`] as const,
    ),
    [[plan, { plan: 'b', usdt: 0, days: 0 }], `plan 2 (b): ${usdt}; plan 2 (b): ${days}`],
    [[{ ...plan, days: 1.5 }], `plan 1 (a): ${days}`],
    [[{ ...plan, plan: '' }], `plan 1: ${name}`],
    [[{ ...plan, plan: 'a b' }], `plan 1: ${name}`],
    [[plan, { ...plan, usdt: 6 }], 'two plans have the name a: names must be unique'],
    [
      [plan, { ...plan, plan: 'b' }],
      'plans a and b have the same price: the price says which plan a payment buys',
    ],
  ] as const)
    t.is(
      faults({ ...set, PLANS: typeof bad === 'string' ? bad : JSON.stringify(bad) }),
      `bad configuration:\n  PLANS: ${fault}; for example [{"plan":"monthly","usdt":49,"days":30}]`,
    )
})

test('credits are rounded down once, exactly (E5)', (t) => {
  const terms = readEnv(billingEnv, {})
  const at = (rate: number, amount: bigint) =>
    creditsFor(amount, { creditsPerUsdt: rate, plans: terms.PLANS })
  t.deepEqual([at(1000, 999n), at(1000, 1_000n), at(1000, 1_999n)], [0, 1, 1])
  t.deepEqual([at(0.5, 1_999_999n), at(0.5, 2_000_000n)], [0, 1])
  t.is(at(0.1, 10_000_000n), 1) // 0.1 has no exact double
  t.is(at(1000, 9_007_199_254_740n), 9_007_199_254)
})

test('a Pro view without Pro is 403 `pro_required`, and unavailable if Pro cannot be bought (D3)', async (t) => {
  const step = (active: boolean | null) =>
    requirePro(active === null ? null : { pro: async () => ({ active }) as never })
  const context = { state: { session: { wallet: A } } } as never
  const passed = async (active: boolean | null) => {
    let isThrough = false
    await step(active)(context, async () => {
      isThrough = true
    })
    return isThrough
  }
  t.true(await passed(true))
  await t.throwsAsync(passed(false), { code: 'pro_required' })
  await t.throwsAsync(passed(null), { code: 'unavailable' })
})
