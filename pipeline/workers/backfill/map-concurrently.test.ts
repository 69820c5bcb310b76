import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { mapConcurrently } from './map-concurrently.ts'

test('results are in the order of the items, with a bounded number of calls at a time', async (t) => {
  let running = 0
  let most = 0
  const results = await mapConcurrently([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++running)
    for (let turns = 8 - item; turns > 0; turns--) await nextTurn()
    running--
    return item * 10
  })
  t.deepEqual(results, [10, 20, 30, 40, 50, 60, 70])
  t.is(most, 3)
})

test('after a failure nothing more starts, and what has started is awaited', async (t) => {
  const started: number[] = []
  const ended: number[] = []
  const mapped = mapConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
    started.push(item)
    await nextTurn()
    if (item === 2) throw new Error('RPC is down')
    for (let turns = 0; turns < 5; turns++) await nextTurn()
    ended.push(item)
  })
  await t.throwsAsync(mapped, { message: 'RPC is down' })
  t.deepEqual([started, ended], [[1, 2], [1]])
})
