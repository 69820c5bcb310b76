import test from 'ava'
import { type Backlog, growingStages, untilDrained } from './backlog.ts'

const NONE: Backlog = { simulator: 0, ingest: 1, workers: 2, API: 0, feed: 1 }

test('a stage that falls behind more and more is named, and none that only wavers', (t) => {
  const wavering = [0, 9, 0, 9, 0, 9, 0, 9, 0, 9, 0]
  const samples = wavering.map((feed, minute) => ({ ...NONE, feed, workers: 3 * minute }))
  t.deepEqual(growingStages(samples), ['workers'])
  t.deepEqual(
    growingStages(samples.map((sample) => ({ ...sample, workers: 300 }))),
    [],
    'a backlog that does not grow',
  )
})

test('waiting for the end of a backlog ends with it, or when the time is up', async (t) => {
  const left = [{ ...NONE, ingest: 20 }, NONE]
  const drained = await untilDrained(async () => left.shift() ?? NONE, 60_000)
  t.deepEqual({ ...drained, seconds: 0 }, { backlog: NONE, seconds: 0, isGone: true })
  const behind = { ...NONE, API: 30 }
  const given = await untilDrained(async () => behind, 0)
  t.deepEqual({ ...given, seconds: 0 }, { backlog: behind, seconds: 0, isGone: false })
})
