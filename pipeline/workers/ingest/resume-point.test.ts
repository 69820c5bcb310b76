import test from 'ava'
import { LIVE_START, type SlotMarker } from '../../domain/slot.ts'
import { createLogger } from '../../runtime/logger.ts'
import { migrate } from '../../store/migrate.ts'
import type { Store } from '../../store/store.ts'
import { insertDecodedRows } from '../../store/tables/decoded-rows.ts'
import { insertProgress } from '../../store/tables/progress.ts'
import { insertSealedSlots } from '../../store/tables/sealed-slots.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { progressRow } from '../fold/event-rows.ts'
import { readResumePoint } from './resume-point.ts'

/** Where ingest resumes when storage and the log end at these slots. */
async function resumesAt(stored: number | null, end: number | null, epoch = 0) {
  const row = {
    complete_slot: String(stored),
    parent: String((stored ?? 0) - 1),
    block_time: stored,
  }
  const prices = { sol_price_time: null, sol_price_usd_e9: null }
  const point = await readResumePoint({
    log: {
      epoch,
      resumePoint: async () => ({ ...LIVE_START, checkpoint: end === null ? null : aMarker(end) }),
    },
    // Of storage only the marker matters.
    store: {
      query: async (sql: string) =>
        stored !== null && sql.includes('FROM progress') ? [{ ...row, ...prices }] : [],
    } as never as Store,
    logger: createLogger('silent'),
  })
  return point.checkpoint?.slot ?? null
}

test('ingest resumes at the end of a log that has everything stored, however far workers are behind (rule K3)', async (t) => {
  t.is(await resumesAt(5, 9), 9)
  t.is(await resumesAt(9, 9), 9)
  t.is(await resumesAt(null, 9), 9)
  t.is(await resumesAt(null, null), null)
})

test('ingest starts with live slots when the log ends before what is stored (rule K10)', async (t) => {
  t.is(await resumesAt(9, null), null)
  t.is(await resumesAt(9, 8), null)
})

test('with a log in memory ingest resumes at what is stored (rule K3)', async (t) => {
  t.is(await resumesAt(9, null, 1_700_000_000_000), 9)
})

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

const sealed = (slot: number, finalized: number | null, parent = slot - 1): SlotMarker => ({
  ...aMarker(slot, parent),
  blockId: BigInt(slot),
  finalized,
})

/** The resume point of a log in memory when these slots are stored, up to `checkpoint`. */
async function resumePoint(checkpoint: SlotMarker, markers: readonly SlotMarker[], rows: number[]) {
  const { store } = opened
  for (const table of ['progress', 'sealed_slots', 'undecoded'])
    await store.command(`TRUNCATE TABLE ${table}`)
  const position = {
    marker: checkpoint,
    highest: checkpoint.slot,
    logId: '1',
    nextOffset: 1n,
    logTime: 0,
    fence: 0,
    generation: 0,
  }
  await insertProgress(store, [progressRow('fold', 0, 1, position)])
  await insertSealedSlots(store, markers)
  await insertDecodedRows(
    store,
    'undecoded',
    rows.map((slot) => ({ slot, tx_index: 0, wallet: 1, reason: 'x', signature: 'y' })),
  )
  return readResumePoint({
    log: { epoch: 1, resumePoint: async () => LIVE_START },
    store,
    logger: createLogger('silent'),
  })
}

test.serial(
  'what is stored after the storage marker is partial, with its blocks; slots that left the chain are not among the others (rule K9)',
  async (t) => {
    const newest = sealed(15, 11, 13)
    const markers = [10, 12, 13, 14].map((slot) => sealed(slot, slot - 3))
    const later = [sealed(16, 11), sealed(18, 12, 16)]
    const point = await resumePoint(newest, [...markers, newest, ...later], [9, 15, 16, 17])
    t.deepEqual(point, {
      checkpoint: { ...newest, blockId: null, finalized: null },
      finalized: 11,
      unfinalized: [sealed(10, 7), sealed(12, 9), sealed(13, 10), newest],
      withdrawn: new Set(),
      partial: [
        { slot: 16, marker: sealed(16, 11) },
        { slot: 17, marker: null },
        { slot: 18, marker: sealed(18, 12, 16) },
      ],
      attempt: 1,
    })
  },
)

test.serial('all sealed slots are compared while nothing was known to be final', async (t) => {
  const markers = [7, 8, 9].map((slot) => sealed(slot, null))
  const point = await resumePoint(sealed(9, null), markers, [])
  t.deepEqual(point.finalized, null)
  t.deepEqual(point.unfinalized, markers)
})
