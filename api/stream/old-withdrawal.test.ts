import test from 'ava'
import type { Swap } from '../../pipeline/domain/event.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { endOfSlot, lateBefore } from '../cursor.ts'
import { aSwap } from '../testing/a-swap.ts'
import { startFeedWorld } from '../testing/feed-world.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { connect } from '../testing/start-feed.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.remove())

test('a live client gets the retraction of a trade that is no longer in memory as soon as storage has it, then what followed; the feed goes on meanwhile (rule K9)', async (t) => {
  const world = await startFeedWorld(opened.store, 1)
  const { log } = world
  const feed = await world.addFeed()
  const connectTo = () => connect(`ws://127.0.0.1:${feed.port}/ws`, 'alice')
  let { slot } = world
  const append = async (trades: number) => {
    const parent = slot++
    const records = Array.from({ length: trades }, (_, txIndex) => aSwap({ slot, txIndex }))
    await log.appendSlot({ marker: aMarker(slot, parent), records })
    return records
  }
  const idsOf = (messages: readonly unknown[]) =>
    (messages as { type?: string; trade_id: string }[]).map(({ type, trade_id }) => [
      type ?? 'trade',
      trade_id,
    ])
  const expected = (type: string, swaps: readonly Swap[]) =>
    swaps.map((swap) => [type, feed.cursors.tradeId(swap, null)])

  const client = await connectTo()
  await client.subscribe()
  const old = await append(10)
  t.deepEqual(idsOf(await client.take(10)), expected('trade', old))
  await world.settled(slot)
  world.storage.pause()
  const withdrawal = { slot, blockId: null, solPrice: null, rewind: null }
  await log.appendWithdrawal(withdrawal)
  const next = await append(2)
  // It has had the withdrawal from another process.
  const other = await connectTo()
  const after = feed.cursors.encode('trades', endOfSlot(slot - 1), lateBefore(1, slot))
  await other.subscribe({ after })
  t.deepEqual(idsOf(await other.take(2)), expected('trade', next))
  t.deepEqual(await client.fence(), [])
  world.storage.resume()
  t.deepEqual(idsOf(await client.take(12)), [
    ...expected('retracted', old),
    ...expected('trade', next),
  ])
  const last = await append(1)
  t.deepEqual(idsOf(await client.take(1)), expected('trade', last))
  t.deepEqual(idsOf(await other.take(1)), expected('trade', last))
  await world.settled(slot)
  await world.close()
})
