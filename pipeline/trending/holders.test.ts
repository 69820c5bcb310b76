import test from 'ava'
import fc from 'fast-check'
import { bookEvent, createHolder, type Holder, type HolderSums, isHolding } from './holder.ts'
import { Holders } from './holders.ts'
import { isPackedHolding, packHolder, unpackHolder } from './packed-holder.ts'
import type { TrendingEvent } from './trending-event.ts'

const u64 = fc.bigInt(0n, 2n ** 64n - 1n)
/** Numbers of every length, and those at which one more byte or part begins. */
const amount = fc.oneof(
  fc.bigInt(1n, 1000n),
  fc.bigInt(1n, 2n ** 128n - 1n),
  fc.tuple(fc.nat({ max: 127 }), fc.constantFrom(0n, 1n)).map(([bits, less]) => {
    const power = 2n ** BigInt(bits + 1)
    return power - less
  }),
)

const BUY: TrendingEvent = {
  kind: 'buy',
  wallet: 1,
  amount: 1n,
  value: 5n,
  solPriceUsdE9: null,
  blockTime: 9,
  slot: 1,
  txIndex: 0,
  eventIndex: 0,
  mint: 'mint',
  decimals: 6,
  pool: '',
}

const event: fc.Arbitrary<TrendingEvent> = fc
  .record({
    kind: fc.constantFrom('buy', 'sell', 'token_in', 'token_out'),
    wallet: fc.integer({ min: 1, max: 3 }),
    amount,
    value: fc.option(u64),
    solPriceUsdE9: fc.option(u64),
    blockTime: fc.nat({ max: 2 ** 32 - 1 }),
  })
  .map((fields) => ({ ...BUY, ...fields }))

function book(holder: Holder, one: TrendingEvent): void {
  holder.newestAt = Math.max(holder.newestAt, one.blockTime)
  bookEvent(holder, one, holder.newestAt)
}

const withoutLots = (holder: HolderSums) => ({ ...holder, oldest: null, newest: null })

test('a packed position is the same position, whatever its events', (t) => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const holder = createHolder(7)
      for (const one of events) book(holder, one)
      const packed = packHolder(holder)
      t.deepEqual(unpackHolder(7, packed), holder)
      t.is(isPackedHolding(packed), isHolding(holder))
    }),
  )
})

test('a position of many lots is packed whole', (t) => {
  const holder = createHolder(7)
  const buys = Array.from({ length: 1000 }, (_, at) => 2n ** 127n + BigInt(at))
  for (const bought of buys) book(holder, { ...BUY, amount: bought })
  t.deepEqual(unpackHolder(7, packHolder(holder)), holder)
})

test('the wallets that hold, and what they hold, do not depend on when positions are packed', (t) => {
  const step = fc.tuple(event, fc.boolean())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const holders = new Holders()
      const plain = new Map<number, Holder>()
      for (const [one, packs] of steps) {
        const known = plain.get(one.wallet) ?? createHolder(one.wallet)
        plain.set(one.wallet, known)
        book(known, one)
        book(holders.of(one.wallet), one)
        if (packs) holders.pack()
        t.deepEqual(
          [...holders.holding()].map(withoutLots),
          [...plain.values()].filter(isHolding).map(withoutLots),
        )
      }
      for (const wallet of [1, 2, 3]) t.is(holders.has(wallet), plain.has(wallet))
      for (const [wallet, holder] of plain) t.deepEqual(holders.of(wallet), holder)
    }),
  )
})
