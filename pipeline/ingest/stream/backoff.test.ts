import test from 'ava'
import { createBackoff } from './backoff.ts'

test('pauses double up to the limit and start again after a reset', (t) => {
  const backoff = createBackoff({ backoffMs: 100, maxBackoffMs: 300 }, () => 0)
  t.deepEqual([backoff.next(), backoff.next(), backoff.next(), backoff.next()], [50, 100, 150, 150])
  backoff.reset()
  t.is(backoff.next(), 50)
})

test('a pause is at least half and less than all of its step', (t) => {
  const pauses = [0, 0.5, 0.999].map((random) =>
    createBackoff({ backoffMs: 1000, maxBackoffMs: 1000 }, () => random).next(),
  )
  t.deepEqual(pauses, [500, 750, 999.5])
})
