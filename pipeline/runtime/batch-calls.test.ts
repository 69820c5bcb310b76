import test from 'ava'
import { batchCalls } from './batch-calls.ts'

test('calls are answered in batches of a turn and of those that waited; a failure is of its batch alone', async (t) => {
  const batches: number[][] = []
  const release: (() => void)[] = []
  const double = batchCalls<number, number>(
    async (keys) => {
      batches.push([...keys])
      await new Promise<void>((resolve) => release.push(resolve))
      if (keys.includes(13)) throw new Error('unlucky')
      return new Map(keys.filter((key) => key !== 4).map((key) => [key, 2 * key]))
    },
    { most: 3, atOnce: 2 },
  )
  const first = Promise.all([1, 2, 2, 3, 4].map(double))
  await new Promise(setImmediate)
  t.deepEqual(batches, [[1, 2, 3], [4]])
  const unlucky = t.throwsAsync(double(13), { message: 'unlucky' })
  const second = Promise.all([1, 5].map(double))
  const third = double(6)
  await new Promise(setImmediate)
  t.is(batches.length, 2, 'two are under way')
  release[0]?.()
  release[1]?.()
  t.deepEqual(await first, [2, 4, 4, 6, undefined])
  t.deepEqual(batches.slice(2), [[13, 1, 5], [6]])
  release[2]?.()
  release[3]?.()
  await unlucky
  await t.throwsAsync(second, { message: 'unlucky' })
  t.is(await third, 12)
})
