import test from 'ava'
import { LIVE_START } from '../../domain/slot.ts'
import { createLogger } from '../../runtime/logger.ts'
import type { Store } from '../../store/store.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { readResumePoint } from './resume-point.ts'

/** Where ingest resumes when storage and the log end at these slots. */
async function resumesAt(stored: number | null, end: number | null, epoch = 0) {
  const row = { slot: String(stored), parent: String((stored ?? 0) - 1), block_time: stored }
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
