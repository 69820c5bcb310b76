import test from 'ava'
import { readEnv } from '../../pipeline/runtime/env.ts'
import { requirePro } from '../middleware/require-pro.ts'
import { billingEnv, billingTerms, creditsFor, paymentFaults } from './terms.ts'

const [A, B] = [
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
]

/** What a start with these variables is told. */
function faults(env: Record<string, string>): string {
  try {
    readEnv(billingEnv, env, paymentFaults)
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

test('plans, rates and addresses are read, and what is wrong with them stops the start (J2)', (t) => {
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
  t.regex(faults({ PAYMENT_ADDRESS_PRO: A, PAYMENT_ADDRESS_CREDITS: A }), /have to differ/)
  t.regex(faults({ PAYMENT_ADDRESS_PRO: A }), /PAYMENT_ADDRESS_CREDITS: required/)
  t.regex(faults({ ...set, USDT_MINT: 'USDT' }), /USDT_MINT: expected a base58 address/)
  for (const rate of ['0', '-1', '1e3', '0.0000001', 'many'])
    t.regex(
      faults({ ...set, CREDITS_PER_USDT: rate }),
      /CREDITS_PER_USDT: expected a number above 0/,
    )
  const plan = { plan: 'a', usdt: 5, days: 3 }
  for (const bad of [
    ...['{', '{}', '[]', '[1]'],
    ...[{ usdt: 0 }, { usdt: -5 }, { usdt: 0.0000001 }, { usdt: '5' }].map((change) =>
      JSON.stringify([{ ...plan, ...change }]),
    ),
    ...[{ days: 0 }, { days: 1.5 }, { plan: '' }, { plan: 'a b' }].map((change) =>
      JSON.stringify([{ ...plan, ...change }]),
    ),
    JSON.stringify([plan, { ...plan, usdt: 6 }]), // one name twice
    JSON.stringify([plan, { ...plan, plan: 'b' }]), // one price twice
  ])
    t.regex(faults({ ...set, PLANS: bad }), /PLANS: expected plans as JSON/, bad)
})

test('credits are rounded down once, exactly (E5)', (t) => {
  const terms = readEnv(billingEnv, {})
  const at = (rate: number, amount: bigint) =>
    creditsFor(amount, { creditsPerUsdt: rate, plans: terms.PLANS })
  t.deepEqual([at(1000, 999n), at(1000, 1_000n), at(1000, 1_999n)], [0, 1, 1])
  t.deepEqual([at(0.5, 1_999_999n), at(0.5, 2_000_000n)], [0, 1])
  t.is(at(0.1, 10_000_000n), 1) // 0.1 is no double
  t.is(at(1000, 9_007_199_254_740n), 9_007_199_254)
})

test('a view for Pro is refused to who has none: 403 `pro_required`; unavailable where nobody can have it (D3)', async (t) => {
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
