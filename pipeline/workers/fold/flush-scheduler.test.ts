import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import type { LogBatch } from '../../log/log.ts'
import { createFlushScheduler, type FlushSchedulerOptions } from './flush-scheduler.ts'

const batch = (partition: number): LogBatch => ({ partition, records: [] })

/** A scheduler over two partitions. The test controls when its flushes end. */
function aScheduler(options: Partial<FlushSchedulerOptions> = {}) {
  const flushed: number[][] = []
  const ends: ((error?: Error) => void)[] = []
  const scheduler = createFlushScheduler({
    windowMs: 60_000,
    partitionCount: () => 2,
    flush: (batches) => {
      flushed.push(batches.map(({ partition }) => partition))
      return new Promise((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)))
      })
    },
    ...options,
  })
  return { scheduler, flushed, ends }
}

test('a flush starts when every partition has a batch; later batches gather for the next', async (t) => {
  const { scheduler, flushed, ends } = aScheduler()
  const first = scheduler.add(batch(0))
  t.deepEqual(flushed, [])
  const second = scheduler.add(batch(1))
  t.deepEqual(flushed, [[0, 1]])
  const third = [scheduler.add(batch(1)), scheduler.add(batch(0))]
  t.deepEqual(flushed, [[0, 1]])
  ends[0]?.()
  await Promise.all([first, second])
  await nextTurn()
  t.deepEqual(flushed, [
    [0, 1],
    [1, 0],
  ])
  ends[1]?.()
  await Promise.all(third)
})

test('a flush starts without the other partitions when the window is over', async (t) => {
  const { scheduler, flushed } = aScheduler({
    windowMs: 1,
    flush: async (batches) => void flushed.push(batches.map(({ partition }) => partition)),
  })
  await scheduler.add(batch(0))
  t.deepEqual(flushed, [[0]])
})

test('a batch whose window ends while exclusive work runs is flushed after it', async (t) => {
  const { scheduler, flushed } = aScheduler({
    windowMs: 1,
    flush: async (batches) => void flushed.push(batches.map(({ partition }) => partition)),
  })
  const added = scheduler.add(batch(0))
  await scheduler.runBetween(async () => {
    await delay(1) // begun later, it ends later than the window
    t.deepEqual(flushed, [])
  })
  await added
  t.deepEqual(flushed, [[0]])
})

test('a failed flush rejects each of its batches, and the next one runs', async (t) => {
  const { scheduler, flushed, ends } = aScheduler({ partitionCount: () => 1 })
  const failed = scheduler.add(batch(0))
  const next = scheduler.add(batch(1))
  ends[0]?.(new Error('store broken'))
  await t.throwsAsync(failed, { message: 'store broken' })
  await nextTurn()
  t.deepEqual(flushed, [[0], [1]])
  ends[1]?.()
  await next
})

test('exclusive work runs between two flushes, before batches that wait', async (t) => {
  const { scheduler, flushed, ends } = aScheduler({ partitionCount: () => 1 })
  const first = scheduler.add(batch(0))
  const second = scheduler.add(batch(1))
  const seen: number[] = []
  const work = scheduler.runBetween(async () => void seen.push(flushed.length))
  const failing = scheduler.runBetween(() => Promise.reject(new Error('lost')))
  t.deepEqual(seen, [])
  ends[0]?.()
  await Promise.all([first, work, t.throwsAsync(failing, { message: 'lost' })])
  t.deepEqual(seen, [1])
  await nextTurn()
  ends[1]?.()
  await second
})

test('an assignment runs before everything that waits, also after refuseWork', async (t) => {
  const { scheduler, ends } = aScheduler({ partitionCount: () => 1 })
  const order: string[] = []
  const first = scheduler.add(batch(0)).then(() => order.push('flush'))
  const second = scheduler.add(batch(1)).then(() => order.push('next flush'))
  const work = scheduler.runBetween(async () => void order.push('work'))
  const assigned = scheduler.runNext(async () => void order.push('assignment'))
  ends[0]?.()
  await Promise.all([first, assigned, work])
  await nextTurn()
  ends[1]?.()
  await second
  t.deepEqual(order, ['flush', 'assignment', 'work', 'next flush'])
  scheduler.refuseWork()
  await scheduler.runNext(async () => void order.push('assignment'))
  t.is(order.at(-1), 'assignment')
  const failed = scheduler.runNext(() => Promise.reject(new Error('away')))
  await t.throwsAsync(failed, { message: 'away' })
})

test('after refuseWork, work that has not started rejects with closed', async (t) => {
  const { scheduler, ends } = aScheduler({ partitionCount: () => 1 })
  const flush = scheduler.add(batch(0))
  const waiting = scheduler.runBetween(async () => t.fail())
  scheduler.refuseWork()
  ends[0]?.()
  await flush
  await t.throwsAsync(waiting, { code: 'closed' })
  await t.throwsAsync(
    scheduler.runBetween(async () => t.fail()),
    { code: 'closed' },
  )
  await scheduler.drain()
})

test('one slice of background work runs between two flushes, more while none is due, and none after refuseWork', async (t) => {
  const ran: string[] = []
  const ends: (() => void)[] = []
  let slices = 6
  const until = () => new Promise<void>((resolve) => void ends.push(resolve))
  const { scheduler } = aScheduler({
    partitionCount: () => 1,
    flush: (batches) => {
      ran.push(`flush ${batches.map(({ partition }) => partition).join()}`)
      return until()
    },
    background: {
      isDue: () => slices > 0,
      runSlice: () => {
        slices -= 1
        ran.push('slice')
        return slices === 4 ? until().then(() => Promise.reject(new Error('lost'))) : until()
      },
    },
  })
  const end = async () => {
    ends.shift()?.()
    await nextTurn()
  }
  const added = [scheduler.add(batch(0))]
  t.deepEqual(ran, ['slice'])
  await end()
  t.deepEqual(ran, ['slice', 'flush 0'])
  added.push(scheduler.add(batch(1)))
  await end()
  t.deepEqual(ran, ['slice', 'flush 0', 'slice'])
  await end()
  await end()
  t.deepEqual(ran, ['slice', 'flush 0', 'slice', 'flush 1', 'slice'])
  await end()
  t.deepEqual(ran, ['slice', 'flush 0', 'slice', 'flush 1', 'slice', 'slice'])
  scheduler.refuseWork()
  await end()
  t.is(ran.length, 6)
  t.is(slices, 2)
  await Promise.all([...added, scheduler.drain()])
})
