import test from 'ava'
import type { LogBatch } from '../pipeline/log/log.ts'
import type { StateEntry, StateHandler, StateLog, StateMessage } from '../pipeline/log/state-log.ts'
import { createLogger } from '../pipeline/runtime/logger.ts'
import type { Replicas, Store } from '../pipeline/store/store.ts'
import { StateReader } from './state-reader.ts'
import { openStore, type TestStore } from './testing/open-stores.ts'
import { markStored } from './testing/rows.ts'

/*
 * The reader of the log of states (rule K26), over a log by hand of two partitions.
 */

let opened: TestStore

test.before(async () => {
  opened = await openStore()
})
test.after.always(() => opened.remove())
test.beforeEach(() => opened.store.command('TRUNCATE TABLE progress'))

/** A message with a change that a test tells by its number. */
const change = (n: number, fence = 1): StateMessage => ({
  changes: [{ table: 'positions', row: { n } }],
  mark: null,
  fence,
})
const mark = (slot: number, fence = 1): StateMessage => ({
  changes: [],
  mark: { slot, blockTime: 1000 + slot },
  fence,
})

/** A reader with one model. `seen`: each marker, with the numbers of the changes that came. */
async function startReader(stored: number, replicas?: Replicas) {
  await markStored(opened.store, stored)
  let handler: StateHandler = async () => {}
  const states: Pick<StateLog, 'follow'> = {
    async follow(given) {
      handler = given
      return { close: async () => {} }
    },
  }
  const seen: (readonly [slot: number, numbers: readonly unknown[]])[] = []
  const gaps: string[] = []
  const store: Store = { ...opened.store, replicas }
  const reader = new StateReader({
    store,
    log: { partitions: 2, states: states as StateLog }, // a reader uses no more of it
    logger: createLogger('silent'),
    onGap: ({ message }) => gaps.push(message),
  })
  const next = [100n, 200n]
  const batchOf = (partition: number, messages: readonly StateMessage[]): LogBatch<StateEntry> => ({
    partition,
    records: messages.map((message) => {
      const offset = next[partition] ?? 0n
      next[partition] = offset + 1n
      return { offset, ...message }
    }),
  })
  let onLoad = async () => {}
  reader.add({
    load: () => onLoad(),
    apply: (changes, { slot }) => seen.push([slot, changes.map(({ row }) => row.n)]),
  })
  return {
    reader,
    seen,
    gaps,
    batchOf,
    handle: (batch: LogBatch<StateEntry>) => handler(batch),
    say: (partition: number, ...messages: StateMessage[]) => handler(batchOf(partition, messages)),
    whileLoading: (work: () => Promise<void>) => {
      onLoad = work
    },
  }
}

test.serial(
  'a marker is served once every partition has reached it, with what it covers',
  async (t) => {
    const { reader, seen, say } = await startReader(10)
    await reader.start()
    t.deepEqual(seen, [[10, []]])
    await say(0, change(1), mark(11), change(2), mark(12))
    t.deepEqual(seen, [[10, []]])
    await say(1, change(3), mark(11))
    t.deepEqual(seen.slice(1), [[11, [1, 3]]])
    await say(1, mark(14))
    t.deepEqual(seen.slice(2), [[12, [2]]])
    t.deepEqual(reader.stored(), { slot: 12, blockTime: 1012 })
    await reader.stop()
  },
)

test.serial('an entry may have changes and the mark that covers them', async (t) => {
  const { reader, seen, say } = await startReader(10)
  await reader.start()
  await say(1, mark(12))
  const { changes } = change(1)
  await say(0, { ...mark(12), changes: [...changes, ...changes] }, change(2))
  t.deepEqual(seen.slice(1), [[12, [1, 1]]])
  await reader.stop()
})

test.serial('late changes come with a mark of a slot that was served already', async (t) => {
  const { reader, seen, say } = await startReader(10)
  await reader.start()
  await say(0, change(1), mark(10))
  t.deepEqual(seen, [
    [10, []],
    [10, [1]],
  ])
  await reader.stop()
})

test.serial(
  'nothing is served before the marker is at or above everything that was read',
  async (t) => {
    const { reader, seen, say, whileLoading } = await startReader(10)
    whileLoading(async () => {
      await say(0, change(1), mark(11), change(2), mark(12))
      await markStored(opened.store, 12, 1)
    })
    const started = reader.start()
    await say(1, mark(11))
    t.deepEqual([seen, reader.stored()], [[], null])
    await say(1, change(3), mark(12))
    await started
    t.deepEqual(seen, [[12, [1, 2, 3]]])
    await reader.stop()
  },
)

test.serial('entries of a worker that has lost its partition are dropped', async (t) => {
  const { reader, seen, say } = await startReader(10)
  await reader.start()
  await say(1, mark(12))
  await say(0, change(1, 2), mark(11, 2), change(2, 1), mark(12, 1), change(3, 2), mark(12, 2))
  t.deepEqual(seen.slice(1), [[12, [1, 3]]])
  await reader.stop()
})

test.serial('a batch that is handed out again changes nothing', async (t) => {
  const { reader, seen, say, handle, batchOf, gaps } = await startReader(10)
  await reader.start()
  await say(1, mark(12))
  const batch = batchOf(0, [change(1), mark(11)])
  await handle(batch)
  await say(0, change(2), mark(12))
  await handle(batch)
  t.deepEqual(seen.slice(1), [
    [11, [1]],
    [12, [2]],
  ])
  t.deepEqual(gaps, [])
  await reader.stop()
})

test.serial(
  'missing entries, and a topic that was made again, are told, and no marker follows',
  async (t) => {
    for (const offset of [103n, 0n]) {
      const { reader, seen, say, handle, gaps } = await startReader(10)
      await reader.start()
      await say(1, mark(12))
      await say(0, mark(11))
      await handle({ partition: 0, records: [{ offset, ...mark(12) }] })
      t.deepEqual(gaps, ['entries of the log of states are missing (partition 0): start again'])
      t.is(seen.at(-1)?.[0], 11)
      await reader.stop()
    }
  },
)

test.serial('a mark below an earlier one brings no later changes forward', async (t) => {
  const { reader, seen, say } = await startReader(10)
  await reader.start()
  await say(0, mark(13), mark(11), change(1), mark(14))
  await say(1, mark(13))
  t.deepEqual(seen.slice(1), [[13, []]])
  await say(1, mark(14))
  t.deepEqual(seen.slice(2), [[14, [1]]])
  await reader.stop()
})

test.serial(
  'a marker is served once the ClickHouse server in use has its rows (rule K13)',
  async (t) => {
    const waiting: (() => void)[] = []
    const remembered: unknown[] = []
    const awaited: unknown[] = []
    const { reader, seen, say } = await startReader(10, {
      cluster: 'c',
      remember: (positions) => remembered.push(...positions),
      arriveAt: async () => {},
      catchUp: (tables) => {
        awaited.push(tables)
        return new Promise((resolve) => waiting.push(resolve))
      },
    })
    const isWaiting = async () => {
      while (waiting.length === 0) await new Promise(setImmediate)
    }
    const started = reader.start()
    await isWaiting()
    waiting.shift()?.()
    await started
    const said = Promise.all([say(0, change(1), mark(11)), say(1, mark(11))])
    await isWaiting()
    t.deepEqual(seen, [[10, []]])
    waiting.shift()?.()
    await said
    t.deepEqual(seen.slice(1), [[11, [1]]])
    const reached = (slot: number) => ({ worker: 'fold', partition: null, slot })
    t.deepEqual(remembered, [reached(10), reached(11)])
    const tables = ['positions', 'wallet_metrics', 'swaps', 'late_swaps', 'mints']
    t.deepEqual(awaited, [tables, tables])
    await reader.stop()
  },
)
