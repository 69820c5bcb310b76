import test from 'ava'
import fc from 'fast-check'
import { createPerturb, serveSwap } from './perturbation.ts'

const aKey = fc.record(
  {
    slot: fc.nat({ max: 2 ** 40 }),
    txIndex: fc.nat({ max: 2 ** 32 - 1 }),
    wallet: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    eventIndex: fc.nat({ max: 1000 }),
  },
  { noNullPrototype: true },
)
const anAmount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

test('a served swap has amounts within 10% by one factor, and a time 3 to 16 s earlier (rule I2)', (t) => {
  fc.assert(
    fc.property(
      aKey,
      anAmount,
      anAmount,
      fc.string({ minLength: 16 }),
      (key, base, quote, salt) => {
        const swap = { ...key, blockTime: 1_700_000_000, baseAmount: base, quoteAmount: quote }
        const served = serveSwap(swap, createPerturb(salt))
        const earlier = swap.blockTime - served.blockTime
        t.true(earlier >= 3 && earlier <= 16)
        for (const [was, is] of [
          [base, served.baseAmount],
          [quote, served.quoteAmount],
        ] as const) {
          // Rounding down takes less than one unit, and never the whole amount.
          t.true(is * 10n <= was * 11n || is === 1n)
          t.true((is + 1n) * 10n > was * 9n)
          t.is(is === 0n, was === 0n)
        }
        // One factor keeps the price, up to one unit of rounding.
        const difference = served.baseAmount * quote - served.quoteAmount * base
        t.true(difference <= quote + base && difference >= -(quote + base))
        t.deepEqual(serveSwap(swap, createPerturb(salt)), served)
        t.deepEqual({ ...served, ...swap }, swap)
      },
    ),
  )
})

test('without a salt, a swap is served unchanged', (t) => {
  const swap = {
    slot: 1,
    txIndex: 2,
    wallet: 3,
    eventIndex: 4,
    blockTime: 5,
    baseAmount: 6n,
    quoteAmount: 7n,
  }
  t.is(createPerturb(null), null)
  t.is<object, object>(serveSwap(swap, null), swap)
})

test('the perturbation depends on the salt and every part of the key, and covers its whole range', (t) => {
  const key = { slot: 1, txIndex: 2, wallet: 3, eventIndex: 4 }
  const one = createPerturb('one salt of sixteen')
  const two = createPerturb('two salt of sixteen')
  const others = [
    two?.(key),
    one?.({ ...key, slot: 9 }),
    one?.({ ...key, txIndex: 9 }),
    one?.({ ...key, wallet: 9 }),
    one?.({ ...key, eventIndex: 9 }),
  ]
  for (const other of others) t.notDeepEqual(other, one?.(key))
  const many = Array.from({ length: 2000 }, (_, slot) => one?.({ ...key, slot }))
  t.deepEqual(
    [...new Set(many.map((noise) => noise?.earlierSeconds))].sort((a = 0, b = 0) => a - b),
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
  )
  const above = many.filter((noise) => (noise?.factorPpm ?? 0n) > 1_000_000n).length
  t.true(above > 900 && above < 1100, String(above))
})
