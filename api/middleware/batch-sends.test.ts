import test from 'ava'
import { batchSends } from './batch-sends.ts'

test('responses that are ready in one iteration of the event loop are sent at its end, each once', async (t) => {
  const hold = batchSends()
  const events: string[] = []
  const answer = async (name: string, steps: number) => {
    await hold({} as never, async () => {
      for (let step = 0; step < steps; step++) await null // still the same turn
      events.push(`${name} is ready`)
    })
    events.push(`${name} goes`)
  }
  await Promise.all([answer('a', 0), answer('b', 50)])
  t.deepEqual(events, ['a is ready', 'b is ready', 'a goes', 'b goes'])
  await t.throwsAsync(
    hold({} as never, () => Promise.reject(new Error('broke'))),
    { message: 'broke' },
  )
  await answer('c', 0)
  t.deepEqual(events.slice(4), ['c is ready', 'c goes'])
})
