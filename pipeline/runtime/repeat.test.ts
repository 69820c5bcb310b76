import { mock } from 'node:test'
import test from 'ava'
import { repeat } from './repeat.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('work that takes long is not begun again meanwhile, and stopping waits for its end', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  let runs = 0
  let finish: () => void = () => {}
  const stop = repeat(10, () => {
    runs += 1
    return new Promise((resolve) => {
      finish = resolve
    })
  })
  mock.timers.tick(35)
  t.is(runs, 1)
  finish()
  await turn()
  mock.timers.tick(10)
  t.is(runs, 2)
  let isStopped = false
  const stopping = stop().then(() => {
    isStopped = true
  })
  await turn()
  t.false(isStopped)
  finish()
  await stopping
  mock.timers.tick(100)
  t.is(runs, 2)
})
