import test from 'ava'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import type { FinalHeads } from '../rpc/rpc-history.ts'
import { createIngestMetrics } from '../telemetry.ts'
import { createFinalityReader } from './finality-reader.ts'
import { type ChainBlock, FinalityTracker } from './finality-tracker.ts'

const block = (slot: number, parent = slot - 1): ChainBlock => ({
  slot,
  parent,
  blockId: BigInt(slot),
})

/**
 * A reader for a tracker at slot 10 with sealed slots up to `head`. Its limits are 1,000 ms until
 * RPC is given up, and a backoff of 100 to 400 ms.
 */
function readerOf(head: number, answer: (from: number, to: number) => FinalHeads | 'refused') {
  const metrics = createIngestMetrics(createRegistry())
  const tracker = new FinalityTracker(10)
  for (let slot = 11; slot <= head; slot += 1) tracker.addSealed(block(slot))
  const ranges: [number, number][] = []
  let nowMs = 0
  const reader = createFinalityReader(
    {
      tracker,
      history: {
        async finalHeads(from, to) {
          ranges.push([from, to])
          return answer(from, to)
        },
      },
      onRead() {
        while (tracker.take() !== null) reader.onMoved()
      },
      logger: createLogger('silent'),
      metrics,
    },
    { refusalMs: 1000, backoffMs: 100, maxBackoffMs: 400 },
    () => nowMs,
  )
  return {
    tracker,
    ranges,
    /** Reads `count` times, as often as the backoff allows. */
    async read(count = 1) {
      for (let at = 0; at < count; at += 1) {
        await reader.read()
        nowMs += 400
      }
    },
    /** Reads ten times a second. */
    async readFor(ms: number) {
      for (const end = nowMs + ms; nowMs < end; nowMs += 100) await reader.read()
    },
    unverified: async () => (await metrics.unverifiedSlots.get()).values[0]?.value ?? 0,
  }
}

test('sealed slots that a server deleted are given up after a while, and those after them at once (rule K10)', async (t) => {
  const deleted = 1000
  const { tracker, ranges, read, unverified } = readerOf(1200, (from, to) => ({
    heads: from > deleted ? [block(from), block(from + 1)] : [],
    end: to,
  }))
  tracker.addFinal(block(1190))
  await read(3)
  t.deepEqual([tracker.tip, await unverified()], [10, 0])
  await read(5)
  t.deepEqual([tracker.tip, await unverified()], [1010, 1000])
  await read(1)
  t.deepEqual([tracker.tip, await unverified()], [1012, 1000])
  t.deepEqual(ranges.slice(3), [
    [11, 210],
    [211, 410],
    [411, 610],
    [611, 810],
    [811, 1010],
    [1011, 1189],
  ])
})

test('a deleted part is given up as far as the first block that the server has', async (t) => {
  const { tracker, read, unverified } = readerOf(300, (_, end) => ({
    heads: [block(57), block(58)],
    end,
  }))
  await read(4)
  t.deepEqual([tracker.tip, await unverified()], [58, 46])
})

test('while some nodes of a pool are behind nothing is given up, whether the others have more blocks or not', async (t) => {
  let turn = 0
  const { tracker, read, unverified } = readerOf(400, (from, end) => {
    turn += 1
    if (turn % 8 === 0) return { heads: [block(from)], end }
    return { heads: [], end: turn % 2 === 0 ? from - 1 : end }
  })
  await read(80)
  t.deepEqual([tracker.tip, await unverified()], [20, 0])
})

test('a block that no node can read is given up alone', async (t) => {
  const { tracker, read, unverified } = readerOf(40, (from, end) =>
    from <= 12 ? { heads: from === 11 ? [block(11)] : [], end: 12 } : { heads: [block(from)], end },
  )
  await read(5)
  t.deepEqual([tracker.tip, await unverified()], [12, 1])
  await read(1)
  t.deepEqual([tracker.tip, await unverified()], [13, 1])
})

test('a range that RPC refuses is given up, but no slots near the newest one, which a stream may bring', async (t) => {
  const { tracker, read, unverified } = readerOf(300, () => 'refused')
  await read(3)
  t.deepEqual([tracker.tip, await unverified()], [210, 200])
  tracker.addFinal(block(222))
  await read(1)
  t.deepEqual([tracker.tip, await unverified()], [222, 211])
})

test('reads back off while they bring nothing', async (t) => {
  const { ranges, readFor } = readerOf(40, (from) => ({ heads: [], end: from - 1 }))
  await readFor(10_000)
  t.true(ranges.length > 20 && ranges.length < 60, `${ranges.length}`)
})
