import test from 'ava'
import fc from 'fast-check'
import { createAppendQueue, type OutgoingEntry } from './append-queue.ts'

const entry = (partition: number, value: string): OutgoingEntry => ({ partition, key: null, value })
const OVERHEAD = 64

test('entries go in the order of the calls, in requests within the bound, each call acknowledged when all of its entries are', async (t) => {
  const appends = fc.array(
    fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 300 })), { maxLength: 8 }),
    { maxLength: 30 },
  )
  await fc.assert(
    fc.asyncProperty(
      appends,
      fc.integer({ min: 1, max: 1500 }),
      fc.scheduler(),
      async (calls, maxBytes, s) => {
        let sent: OutgoingEntry[] = []
        let underWay = 0
        const queue = createAppendQueue(async (entries) => {
          t.is(++underWay, 1)
          const bytes = entries.reduce((sum, { value }) => sum + value.length + OVERHEAD, 0)
          t.true(entries.length === 1 || bytes <= maxBytes)
          await s.schedule(Promise.resolve())
          sent = [...sent, ...entries]
          underWay--
        }, maxBytes)
        let n = 0
        const messages = calls.map((call) =>
          call.map(([partition, length]) => entry(partition, `${n++}`.padEnd(length, '.'))),
        )
        const done = messages.map(async (entries) => {
          await queue.append(entries)
          t.true(entries.every((one) => sent.includes(one)))
        })
        await s.waitFor(Promise.all(done))
        t.deepEqual(sent, messages.flat())
      },
    ),
  )
})

test('what is appended while a request is under way goes together in the next', async (t) => {
  const requests: string[] = []
  const release: (() => void)[] = []
  const queue = createAppendQueue((entries) => {
    requests.push(entries.map(({ value }) => value).join(''))
    return new Promise((resolve) => release.push(resolve))
  }, 10_000)
  const done = Promise.all(['a', 'b', 'c'].map((value) => queue.append([entry(0, value)])))
  release.shift()?.()
  await new Promise(setImmediate)
  release.shift()?.()
  await done
  t.deepEqual(requests, ['a', 'bc'])
})

test('after a refused request nothing later is sent', async (t) => {
  const requests: string[] = []
  const queue = createAppendQueue(async (entries) => {
    requests.push(entries.map(({ value }) => value).join(''))
    throw new Error('refused')
  }, 1)
  const results = await Promise.allSettled(
    ['a', 'b'].map((value) => queue.append([entry(0, value)])),
  )
  t.deepEqual(
    results.map((result) => result.status),
    ['rejected', 'rejected'],
  )
  await t.throwsAsync(queue.append([entry(0, 'c')]), { message: 'refused' })
  t.deepEqual(requests, ['a'])
})
