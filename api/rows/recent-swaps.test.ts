import test from 'ava'
import fc from 'fast-check'
import { type EventKey, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Row, Store } from '../../pipeline/store/store.ts'
import { openStore, type TestStore } from '../testing/open-stores.ts'
import { aSwapRow } from '../testing/rows.ts'
import { followStates, type StateWriter } from '../testing/state-writer.ts'
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
  await empty()
})
test.after.always(() => opened.remove())

async function empty(): Promise<void> {
  for (const table of ['swaps', 'late_swaps', 'progress'])
    await store.command(`TRUNCATE TABLE ${table}`)
}

/** A read model as of slot 10, over storage with a marker that the test moves. */
async function readAt10(most: number) {
  const recent = new RecentSwaps(EPOCH, most)
  const { writer, reader, moveTo } = await followStates(store, recent)
  await moveTo(10)
  return {
    recent,
    writer,
    moveTo,
    fromStore: (before: EventKey | null, limit: number) =>
      readSwapsPage(store, { slot: reader.stored()?.slot ?? 0, epoch: EPOCH }, before, limit),
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
  block_id: null,
})

const small = (max: number) => fc.nat({ max })
const aWrite = fc.record({
  kind: fc.constantFrom(
    'live',
    'live',
    'late',
    'history',
    'corrected',
    'deleted',
    'stored again',
    'stored again',
  ),
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
        await empty()
        const known: Row[] = []
        let offset = 0
        const write = async (
          to: Pick<StateWriter, 'insert'>,
          writes: typeof first,
          head: number,
        ) => {
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
          await to.insert('late_swaps', lateRows)
          await to.insert('swaps', rows)
        }
        await write(store, first, 9)
        await write(store, second, 10)
        const { recent, writer, moveTo, fromStore } = await readAt10(6)
        for (const [at, writes] of more.entries()) {
          await write(writer, writes, 11 + at)
          await moveTo(11 + at)
          const whole = await fromStore(null, 1000)
          for (const [index, limit] of [0, 1, 3].flatMap((one) => [1, 4].map((n) => [one, n]))) {
            const before = index === 0 ? null : (whole.swaps[(index ?? 0) - 1] ?? null)
            const page = recent.page(before, limit ?? 0)
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

test.serial('a swap is served once the marker has passed it, a late one too', async (t) => {
  await store.insert('swaps', [aSwapRow(1), aSwapRow(9), aSwapRow(11)])
  const { recent, writer, moveTo } = await readAt10(100)
  const slots = () => recent.page(null, 9)?.swaps.map(({ slot }) => slot)
  t.deepEqual(slots(), [9, 1])
  const late = aSwapRow(5, { late: 'stream' })
  await writer.insert('late_swaps', [lateRow(late, 10, 0)])
  await writer.insert('swaps', [late, aSwapRow(12)])
  t.deepEqual(slots(), [9, 1])
  await moveTo(11)
  t.deepEqual(slots(), [11, 9, 5, 1])
  await writer.insert('swaps', [aSwapRow(3, { late: 'backfill' })])
  await moveTo(12)
  t.deepEqual(slots(), [12, 11, 9, 5, 3, 1])
})

test.serial('older swaps than the model keeps come from the store', async (t) => {
  const { recent, writer, moveTo } = await readAt10(100)
  await writer.insert(
    'swaps',
    Array.from({ length: 1000 }, (_, tx_index) => aSwapRow(11, { tx_index })),
  )
  await moveTo(11)
  const indexes = recent.page(null, 100)?.swaps.map(({ txIndex }) => txIndex)
  t.deepEqual(
    indexes,
    Array.from({ length: 100 }, (_, at) => 999 - at),
  )
  t.is(recent.page(recent.page(null, 100)?.swaps.at(-1) ?? null, 1), null)
})
