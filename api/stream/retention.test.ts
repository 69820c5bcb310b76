import test from 'ava'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { endOfSlot, type LatePosition, lateBefore } from '../cursor.ts'
import { aSwap } from '../testing/a-swap.ts'
import { leftOf } from '../testing/left-of.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { aSwapRow, markStored } from '../testing/rows.ts'
import { type FeedClient, fund, startFeed } from '../testing/start-feed.ts'

/*
 * A client reconnects after more than FEED_RETENTION_HOURS (rule F4). A slot of these rows is a
 * second, so 24 hours are 86,400 slots.
 */

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.remove())

const STORED = 200_000
const TOO_OLD = [10, 50_000, STORED - 86_401]
const YOUNG = [STORED - 86_400, 120_000, 150_000, STORED]
/** Slots of `TOO_OLD` and `YOUNG` whose trade was late: it came after slot `LATE_PASSED`. */
const LATE = [50_000, 120_000]
const LATE_PASSED = 199_000

const keyAt = (slot: number): EventKey => ({ slot, txIndex: 0, wallet: 1, eventIndex: 0 })
const timesOf = (messages: readonly unknown[]) =>
  messages.map((message) => (message as { data?: { block_time: number } }).data?.block_time)
const timeAt = (slot: number) => aSwapRow(slot).block_time

test('a client that resumes after the retention gets a gap, then every trade since it, then live trades', async (t) => {
  const { store } = opened
  await store.insert(
    'swaps',
    [...TOO_OLD, ...YOUNG].map((slot) =>
      aSwapRow(slot, { late: LATE.includes(slot) ? 'stream' : 'no' }),
    ),
  )
  await store.insert(
    'late_swaps',
    LATE.map((slot, offset) => ({
      epoch: 0,
      passed_slot: LATE_PASSED,
      partition: 0,
      offset,
      slot,
      tx_index: 0,
      wallet: 1,
      event_index: 0,
    })),
  )
  await markStored(store, STORED)
  let stored = STORED
  const options = {
    store,
    stored: () => ({ slot: stored, blockTime: Number(timeAt(stored)) }),
  }
  const service = await startFeed({ ...options, retentionHours: 24 })
  await fund(service.meter, 'alice', 1000)
  const client = await service.connect('alice')
  const cursor = (key: EventKey, late: LatePosition | null = lateBefore(0, stored)) =>
    service.cursors.encode('trades', key, late)
  const resume = async (one: FeedClient, after: string, count: number) => {
    t.like(await one.subscribe({ after }), { type: 'subscribed' })
    return one.take(count)
  }
  const trades = (slots: readonly number[]) =>
    slots.map((slot) => ({ id: cursor(keyAt(slot)), time: timeAt(slot) }))
  const read = (messages: readonly unknown[]) =>
    (messages as { id: string; late?: true; data: { block_time: number } }[]).map((one) => {
      t.is(one.late, undefined)
      return { id: one.id, time: one.data.block_time }
    })

  // A position older than the retention. Late trades of slots older than the retention are not
  // sent.
  const floor = cursor(endOfSlot(STORED - 86_401))
  for (const late of [null, lateBefore(0, 10), lateBefore(0, LATE_PASSED)]) {
    const [gap, ...rest] = await resume(client, cursor(keyAt(10), late), 1 + YOUNG.length)
    t.deepEqual(gap, { type: 'gap', oldest: floor })
    t.deepEqual(read(rest), trades(YOUNG))
    t.deepEqual(await client.fence(), [])
  }
  // The position where the feed restarts can be resumed from, and so can every later one.
  t.deepEqual(read(await resume(client, floor, YOUNG.length)), trades(YOUNG))
  t.deepEqual(read(await resume(client, cursor(keyAt(120_000)), 2)), trades([150_000, STORED]))
  t.deepEqual(await client.fence(), [])

  await service.log.appendSlot({
    marker: aMarker(STORED + 1),
    records: [aSwap({ slot: STORED + 1, blockTime: Number(timeAt(STORED + 1)) })],
  })
  t.deepEqual(timesOf(await client.take(1)), [timeAt(STORED + 1)])

  // The oldest position that can be resumed advances with storage.
  stored = STORED + 90_000
  const newestSwap = aSwap({ slot: stored, blockTime: Number(timeAt(stored)) })
  await service.log.appendSlot({ marker: aMarker(stored, STORED + 1), records: [newestSwap] })
  t.deepEqual(timesOf(await client.take(1)), [timeAt(stored)])
  await store.insert('swaps', [aSwapRow(STORED + 1), aSwapRow(stored)])
  await markStored(store, stored)
  const [gap, ...rest] = await resume(client, cursor(keyAt(150_000), null), 2)
  t.deepEqual(gap, { type: 'gap', oldest: cursor(endOfSlot(STORED + 1)) })
  t.deepEqual(timesOf(rest), [timeAt(stored)])
  t.deepEqual(await client.fence(), [])
  await client.close()
  await service.close()
  const sent = 4 * YOUNG.length + 2 + 2 + 1
  t.is(await leftOf(service.meter, 'alice'), 1000 - sent, 'what is told of a gap costs nothing')

  const longer = await startFeed({ ...options, retentionHours: 100 })
  await fund(longer.meter, 'alice', 1000)
  const other = await longer.connect('alice')
  const all = [...TOO_OLD.slice(1), ...YOUNG].map(timeAt)
  const every = [...all, timeAt(STORED + 1), timeAt(stored)]
  t.deepEqual(timesOf(await resume(other, cursor(keyAt(10), null), every.length)), every)
  await other.close()
  await longer.close()
})
