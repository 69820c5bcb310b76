import test from 'ava'
import fc from 'fast-check'
import { type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import type { PrepareMove, StoredSlot } from '../storage-position.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aSwapRow } from '../testing/rows.ts'
import { RecentSwaps, readSwapsPage } from './recent-swaps.ts'

/*
 * The read model of the newest swaps across markers, over a real store.
 */

const EPOCH = 7
let opened: TestStore
let store: Store

test.before(async () => {
  opened = await openStore()
  store = opened.store
})
test.beforeEach(async () => {
  await store.command('TRUNCATE TABLE swaps')
  await store.command('TRUNCATE TABLE late_swaps')
})
test.after.always(() => opened.remove())

/** A read model as of slot 10, over storage with a marker that the test moves. */
async function readAt10(most: number) {
  let stored: StoredSlot = { slot: 10, blockTime: 0 }
  let clock = 0
  const preparations: PrepareMove[] = []
  const position = {
    stored: () => stored,
    beforeMove: (prepare: PrepareMove) => preparations.push(prepare),
  }
  const recent = new RecentSwaps({ store, position, epoch: EPOCH, most, now: () => clock })
  await recent.page(null, 1)
  return {
    recent,
    wait(ms: number): void {
      clock += ms
    },
    async moveTo(slot: number, later = 400): Promise<void> {
      clock += later
      const next = { slot, blockTime: slot }
      const taken = await Promise.all(preparations.map((prepare) => prepare(next)))
      stored = next
      for (const take of taken) take()
    },
    fromStore: (before: EventKey | null, limit: number) =>
      readSwapsPage(store, { slot: stored.slot, epoch: EPOCH }, before, limit),
  }
}

/** The row of `late_swaps` for a swap that was sent after slot `passed`. */
const lateRow = (row: Row, passed: number, offset: number): Row => ({
  epoch: EPOCH,
  passed_slot: passed,
  partition: 0,
  offset,
  slot: row.slot,
  tx_index: row.tx_index,
  wallet: row.wallet,
  event_index: row.event_index,
})

const small = (max: number) => fc.nat({ max })
const aWrite = fc.record({
  kind: fc.constantFrom('live', 'live', 'late', 'history', 'corrected', 'deleted', 'stored again'),
  /** How far back: in slots, or for corrections in swaps. */
  back: small(8),
  wallet: fc.integer({ min: 1, max: 3 }),
})
const steps = fc.array(fc.array(aWrite, { maxLength: 6 }), { minLength: 4, maxLength: 8 })

test.serial(
  'a page from memory equals the page from the store, whatever is written between markers',
  async (t) => {
    let [fromMemory, pages] = [0, 0]
    await fc.assert(
      fc.asyncProperty(steps, async ([first = [], second = [], ...more]) => {
        await store.command('TRUNCATE TABLE swaps')
        await store.command('TRUNCATE TABLE late_swaps')
        const known: Row[] = []
        let offset = 0
        const write = async (writes: typeof first, head: number) => {
          const rows: Row[] = []
          const lateRows: Row[] = []
          for (const { kind, back, wallet } of writes) {
            const old = known.at(-1 - back)
            if (kind === 'stored again') {
              if (old !== undefined) rows.push({ ...old, version: 0, is_deleted: 0 })
              continue
            }
            if (kind === 'corrected' || kind === 'deleted') {
              if (old === undefined || rows.includes(old)) continue
              const version = Number(old.version ?? 0) + 1
              const isDeleted = kind === 'deleted' || old.is_deleted === 1
              const row = { ...old, version, base_amount: version + 100, is_deleted: +isDeleted }
              known[known.indexOf(old)] = row
              rows.push(row)
              continue
            }
            const slot = kind === 'live' ? head : Math.max(1, head - 1 - back)
            const row = aSwapRow(slot, { wallet, tx_index: known.length })
            if (kind === 'late') lateRows.push(lateRow(row, head - 1 + (back % 2), offset++))
            rows.push({ ...row, late: LATE[kind] })
            known.push(row)
          }
          await store.insert('late_swaps', lateRows)
          await store.insert('swaps', rows)
        }
        await write(first, 9)
        await write(second, 10)
        const { recent, moveTo, fromStore } = await readAt10(6)
        for (const [at, writes] of more.entries()) {
          await recent.page(null, 1)
          await write(writes, 11 + at)
          await moveTo(11 + at)
          const whole = await fromStore(null, 1000)
          for (const [index, limit] of [0, 1, 3].flatMap((one) => [1, 4].map((n) => [one, n]))) {
            const before = index === 0 ? null : (whole.swaps[(index ?? 0) - 1] ?? null)
            const page = await recent.page(before, limit ?? 0)
            pages++
            if (page === null) continue
            fromMemory++
            const expected = await fromStore(before, limit ?? 0)
            t.deepEqual(
              { ...page, newest: page.newest && eventKeyText(page.newest) },
              { ...expected, newest: expected.newest && eventKeyText(expected.newest) },
            )
          }
        }
      }),
      { numRuns: 10 },
    )
    t.log(`${fromMemory} of ${pages} pages came from memory`)
    t.true(fromMemory > pages / 2)
  },
)

const LATE = { live: 'no', late: 'stream', history: 'backfill' } as const

test.serial(
  'swaps that the marker has passed are served whatever their timestamp, late swaps too',
  async (t) => {
    await store.insert('swaps', [aSwapRow(1), aSwapRow(9)])
    const { recent, moveTo, wait } = await readAt10(100)
    const slots = async () => (await recent.page(null, 9))?.swaps.map(({ slot }) => slot)
    t.deepEqual(await slots(), [9, 1])
    const longAgo = { inserted_at: '2020-01-01 00:00:00.000' }
    const late = aSwapRow(5, { ...longAgo, late: 'stream' })
    await store.insert('late_swaps', [lateRow(late, 10, 0)])
    await store.insert('swaps', [late, aSwapRow(11, longAgo)])
    await moveTo(11)
    t.deepEqual(await slots(), [11, 9, 5, 1])
    // No page is read for a while; the next one waits for the changes since.
    await moveTo(12)
    await store.insert('swaps', [aSwapRow(13)])
    await moveTo(13)
    t.deepEqual(await slots(), [13, 11, 9, 5, 1])
    // The marker does not move while history is backfilled.
    await store.insert('swaps', [aSwapRow(3, { late: 'backfill' })])
    t.deepEqual(await slots(), [13, 11, 9, 5, 1])
    wait(5000)
    t.deepEqual(await slots(), [13, 11, 9, 5, 3, 1])
  },
)

test.serial(
  'of several stored versions of a new swap the newest counts, in any order of writes',
  async (t) => {
    const { recent, moveTo, fromStore } = await readAt10(100)
    for (const version of ['2', '3', '1']) {
      await store.insert('swaps', [aSwapRow(11, { version }), aSwapRow(12, { version })])
    }
    await moveTo(12)
    const page = await recent.page(null, 9)
    const versions = page?.swaps.map(({ slot, version }) => [slot, version])
    t.deepEqual(versions, [
      [12, 3n],
      [11, 3n],
    ])
    t.deepEqual(page, await fromStore(null, 9))
  },
)

test.serial('during a burst of writes the store is queried', async (t) => {
  const { recent, moveTo } = await readAt10(100)
  t.deepEqual((await recent.page(null, 9))?.swaps, [])
  await store.command(`
    INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, program)
    SELECT 11, number, 1, 0, 0, '', 'buy', 'mint', 1, 0, 'p' FROM numbers(30000)`)
  await moveTo(11)
  t.is(await recent.page(null, 9), null)
  await moveTo(12, 30_000)
  const indexesOfPage = async (before: EventKey | null, limit: number) =>
    (await recent.page(before, limit))?.swaps.map(({ slot, txIndex }) => [slot, txIndex])
  t.deepEqual(await indexesOfPage(null, 1), [[11, 29_999]])
  const [last] = (await recent.page(null, 100))?.swaps.slice(-1) ?? []
  t.is(last?.txIndex, 29_900)
  t.is(await recent.page(last ?? null, 1), null, 'older than the model keeps')
})
