import test from 'ava'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { BEGINNING, createCursorCodec, endOfSlot, lateBefore } from '../cursor.ts'
import { cursorKeys } from '../testing/cursor-keys.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { aSwapRow } from '../testing/rows.ts'
import { TradeHistory } from './trade-history.ts'

let opened: TestStore
test.before(async () => {
  opened = await openEmbeddedStore()
})
test.after.always(() => opened.remove())

test.serial(
  'who was there before the first slot gets the first trade with the first page, however high its slot (rule F4)',
  async (t) => {
    const { store } = opened
    const slot = 400_000_000
    await store.insert('swaps', [aSwapRow(slot)])
    const history = new TradeHistory({
      store,
      storeOf: () => store,
      position: { stored: () => ({ slot: slot + 5, blockTime: 1_790_000_000 }) },
      cursors: createCursorCodec(cursorKeys(1)),
      epoch: 0,
      retentionHours: 24,
      render: () => 'null',
    })
    const from = { key: BEGINNING, late: lateBefore(0, 0) }
    const filter = { wallets: null, mints: null }
    const page = await history.page('alice', () => ({ from, filter }))
    t.deepEqual(
      page?.steps.map(({ after }) => after.key),
      [{ slot, txIndex: 0, wallet: 1, eventIndex: 0 }],
    )
    t.deepEqual(page?.end.key, endOfSlot(slot + 5))
  },
)

test.serial(
  'a late swap was published before if it is stored at another place of the log, unless that one was withdrawn (rules K1, K9)',
  async (t) => {
    const { store } = opened
    const history = new TradeHistory({
      store,
      storeOf: () => store,
      position: { stored: () => null },
      cursors: createCursorCodec(cursorKeys(1)),
      epoch: 0,
      retentionHours: 24,
      render: () => '',
    })
    const [ORDERED, HERE, WITHDRAWN, NEW] = [1, 2, 3, 4]
    await store.insert('swaps', [
      aSwapRow(ORDERED),
      aSwapRow(HERE, { late: 'stream' }),
      aSwapRow(WITHDRAWN),
    ])
    await store.insert('swaps', [aSwapRow(WITHDRAWN, { version: 1, is_deleted: 1 })])
    const key = (slot: number): EventKey => ({ slot, txIndex: 0, wallet: 1, eventIndex: 0 })
    const mark = { epoch: 0, passedSlot: 9, partition: 0, offset: 5 }
    await store.insert('late_swaps', [
      {
        epoch: 0,
        passed_slot: 9,
        partition: 0,
        offset: 5,
        slot: HERE,
        tx_index: 0,
        wallet: 1,
        event_index: 0,
      },
    ])
    const late = [ORDERED, HERE, WITHDRAWN, NEW].map((slot) => ({ swap: key(slot), mark }))
    t.deepEqual(await history.cameBefore(late), new Set(['1/0/1/0']))
    const moved = late.map(({ swap }) => ({ swap, mark: { ...mark, offset: 6 } }))
    t.deepEqual(await history.cameBefore(moved), new Set(['1/0/1/0', '2/0/1/0']))
  },
)
