import test from 'ava'
import { FairQueue } from './fair-queue.ts'

/** The queue serves in the turn of the event loop after the one in which work ended. */
async function served() {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A queue whose work ends when the test says so. `begun` has the started work, in order. */
function open(bounds: { readonly atOnce: number; readonly perAccount: number }) {
  const clock = { now: 0 }
  const queue = new FairQueue({ ...bounds, now: () => clock.now })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      begun.push(name)
      ends.set(name, () => resolve(name))
    })
  return {
    queue,
    clock,
    begun,
    work,
    async end(...names: string[]) {
      for (const name of names) ends.get(name)?.()
      await served()
    },
  }
}

test('accounts are served in turn, despite the backlog of one; no account exceeds its share', async (t) => {
  const { queue, begun, work, end } = open({ atOnce: 3, perAccount: 2 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void queue.run('a', work(name))
  t.deepEqual(begun, ['a1', 'a2'], 'one slot stays free for other accounts')
  for (const name of ['b1', 'b2']) void queue.run('b', work(name))
  void queue.run('c', work('c1'))
  t.deepEqual(begun, ['a1', 'a2', 'b1'])
  for (const name of ['b1', 'a1', 'a2', 'c1', 'a3', 'b2', 'a4']) await end(name)
  t.deepEqual(begun, ['a1', 'a2', 'b1', 'b2', 'a3', 'c1', 'a4', 'a5'])
})

test('the waiting account with the least recent service is next, and its follow-up reads wait for no other', async (t) => {
  const { queue, clock, begun, work, end } = open({ atOnce: 1, perAccount: 1 })
  for (const name of ['a1', 'a2', 'a3', 'a4']) void queue.run('a', work(name))
  clock.now = 10
  await end('a1')
  const page = queue
    .run('b', work('b1'))
    .then(() => queue.run('b', work('b2')))
    .then(() => queue.run('b', work('b3')))
  for (const name of ['a2', 'b1', 'b2', 'b3']) {
    clock.now += 3
    await end(name)
  }
  t.is(await page, 'b3')
  t.deepEqual(begun, ['a1', 'a2', 'b1', 'b2', 'b3', 'a3'])
  // Service long ago does not count any more.
  void queue.run('b', work('b4'))
  clock.now += 60_000
  await end('a3')
  t.deepEqual(begun.slice(6), ['b4'])
})

test('stale work does not run, and leaves the queue when its account adds more', async (t) => {
  const { queue, begun, work, end } = open({ atOnce: 1, perAccount: 1 })
  void queue.run('a', work('a1'))
  let isStale = false
  const stale = () => isStale
  const first = queue.run('a', work('a2'), stale)
  const second = queue.run('b', work('b1'), stale)
  isStale = true
  void queue.run('a', work('a3'))
  t.is(await first, null, 'resolved when its account added more work')
  await end('a1')
  await end('a3')
  t.is(await second, null)
  t.deepEqual(begun, ['a1', 'a3'])
})

test('work that several accounts wait for runs once, when the first of them is next', async (t) => {
  const { queue, begun, work, end } = open({ atOnce: 2, perAccount: 1 })
  for (const name of ['a1', 'a2']) void queue.run('a', work(name))
  const shared = queue.enter(['a'], work('shared'))
  t.deepEqual(begun, ['a1'])
  shared.join('b')
  t.deepEqual(begun, ['a1', 'shared'])
  shared.join('c')
  await end('shared')
  t.is(await shared.done, 'shared')
  await end('a1')
  await end('a2')
  t.deepEqual(begun, ['a1', 'shared', 'a2'])
})

test('failed work frees its slot', async (t) => {
  const { queue, begun, work } = open({ atOnce: 1, perAccount: 1 })
  await t.throwsAsync(
    queue.run('a', () => Promise.reject(new Error('down'))),
    { message: 'down' },
  )
  void queue.run('a', work('a1'))
  await served()
  t.deepEqual(begun, ['a1'])
})
