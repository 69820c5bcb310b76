import test from 'ava'
import { createChainShape } from '../simulator/chain-shape.ts'
import { createMarket } from '../simulator/market/market.ts'
import { NO_TROUBLE } from '../simulator/options.ts'
import { contractTrade } from '../whole-service/trade-item.ts'
import { type FeedCheckOptions, feedFaults } from './followed.ts'

test('a feed is right when it is the true trades, each once, in order apart from late ones (rules F3, F4)', (t) => {
  const size = { seed: 1, wallets: 10, coins: 10, trackedPerSlot: 3, othersPerSlot: 0 }
  const market = createMarket(size, createChainShape(1, NO_TROUBLE))
  const swaps = Array.from({ length: 20 }, (_, slot) => market.truth(400_000_000 + slot).events)
    .flat()
    .flatMap((event) => (event.kind === 'swap' ? [event] : []))
  const items = swaps.map(contractTrade)
  const strict: FeedCheckOptions = { isEmbedded: false, mayMiss: () => false }
  const found = (trades: typeof items, late: typeof items, options = strict) =>
    feedFaults({ trades, late }, swaps, options).map((text) => text.split(':')[0])

  t.true(items.length > 10)
  t.deepEqual(found(items, []), [])
  t.deepEqual(found([...items.slice(0, 2), ...items.slice(3)], items.slice(2, 3)), [])
  t.deepEqual(found(items.slice(1), []), ['a trade is missing in the feed'])
  t.deepEqual(found(items.slice(1), [], { ...strict, mayMiss: (swap) => swap === swaps[0] }), [])
  t.deepEqual(found([...items, ...items.slice(0, 1)], []), [
    'a trade of the feed came twice or out of order',
  ])
  t.deepEqual(found(items, items.slice(0, 1)), ['a late trade of the feed came twice'])
  const twiceLate = [...items.slice(0, 1), ...items.slice(0, 1)]
  t.deepEqual(found(items.slice(1), twiceLate), ['a late trade of the feed came twice'])
  t.deepEqual(found(items.slice(1), twiceLate, { ...strict, isEmbedded: true }), [])
  t.deepEqual(found(items, [{ ...items[0], decimals: 99 }]), [
    'a late trade of the feed never happened',
  ])
})
