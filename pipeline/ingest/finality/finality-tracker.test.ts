import test from 'ava'
import fc from 'fast-check'
import { type ChainBlock, FinalityTracker, type Passed } from './finality-tracker.ts'

const block = (slot: number, parent = slot - 1, id = slot): ChainBlock => ({
  slot,
  parent,
  blockId: BigInt(id),
})

/** A tracker at `tip`, to which these slots were added. */
function trackerOf(
  tip: number | null,
  sealed: readonly ChainBlock[],
  final: readonly ChainBlock[] = [],
): FinalityTracker {
  const tracker = new FinalityTracker(tip)
  for (const one of sealed) tracker.addSealed(one)
  for (const one of final) tracker.addFinal(one)
  return tracker
}

function takeAll(tracker: FinalityTracker): Passed[] {
  const all: Passed[] = []
  for (let next = tracker.take(); next !== null; next = tracker.take()) all.push(next)
  return all
}

const same = (slot: number, parent = slot - 1): Passed => ({
  block: block(slot, parent),
  withdrawn: [],
  missing: false,
  isUnverified: false,
})
const missing = (one: ChainBlock, withdrawn: readonly ChainBlock[] = []): Passed => ({
  block: one,
  withdrawn,
  missing: true,
  isUnverified: false,
})

test('sealed slots are final when their blocks come, whatever the order (rule K9)', (t) => {
  const tracker = trackerOf(10, [block(11), block(13, 11), block(14)])
  tracker.addFinal(block(14))
  tracker.addFinal(block(13, 11))
  t.deepEqual(takeAll(tracker), [])
  t.true(tracker.hasGap)
  tracker.addFinal(block(11))
  t.deepEqual(takeAll(tracker), [same(11), same(13, 11), same(14)])
  t.deepEqual([tracker.tip, tracker.hasGap], [14, false])
})

test('another block in a slot, or none, withdraws what was sealed there, and nothing else does', (t) => {
  const sealed = [block(11), block(12), block(13), block(14)]
  const final = [block(11), block(13, 11, 99), block(14)]
  const tracker = trackerOf(10, sealed, final)
  t.deepEqual(takeAll(tracker), [
    same(11),
    missing(block(13, 11, 99), [block(12), block(13)]),
    same(14),
  ])
})

test('a finalized block in a slot that was not sealed is missing, unless its slots were skipped for good', (t) => {
  const tracker = trackerOf(10, [block(11), block(13, 11), block(20, 16)])
  for (const one of [block(11), block(12), block(14, 12), block(16, 14), block(20, 16)])
    tracker.addFinal(one)
  t.deepEqual(takeAll(tracker), [
    same(11),
    missing(block(12)),
    { ...same(14, 12), withdrawn: [block(13, 11)] },
    same(20, 16),
  ])
})

test('slots that were skipped for good need no comparison: finality goes on behind them', (t) => {
  const tracker = trackerOf(10, [block(11), block(9000, 8999)], [block(9000, 8999)])
  t.deepEqual(tracker.wanted(200), { from: 11, to: 210 })
  tracker.addFinal(block(11))
  t.deepEqual(takeAll(tracker), [same(11), same(9000, 8999)])
  const live = trackerOf(10, [block(20, 15)])
  t.deepEqual([live.tip, live.wanted(200)], [15, { from: 16, to: 215 }])
})

test('a slot that was sealed and withdrawn before the start is not withdrawn again, and its finalized block is missing', (t) => {
  const start = (final: readonly ChainBlock[]) => {
    const tracker = trackerOf(10, [block(11)])
    tracker.addSealed(block(12), true)
    for (const one of [block(13), block(14)]) tracker.addSealed(one)
    for (const one of final) tracker.addFinal(one)
    return takeAll(tracker)
  }
  t.deepEqual(start([block(11), block(12, 11, 99), block(13)]), [
    same(11),
    missing(block(12, 11, 99)),
    same(13),
  ])
  t.deepEqual(start([block(11), block(12), block(13)]), [same(11), missing(block(12)), same(13)])
  t.deepEqual(start([block(11), block(13, 11), block(14, 13, 99)]), [
    same(11),
    same(13, 11),
    missing(block(14, 13, 99), [block(14)]),
  ])
})

test('a block whose hash is not known counts as equal, and is unverified', (t) => {
  const unknown = { ...block(11), blockId: null }
  const unverified = { ...same(11), isUnverified: true }
  t.deepEqual(takeAll(trackerOf(10, [unknown], [block(11)])), [unverified])
  t.deepEqual(takeAll(trackerOf(10, [block(11)], [unknown])), [{ ...unverified, block: unknown }])
  for (const final of [
    [block(11), unknown],
    [unknown, block(11)],
  ])
    t.deepEqual(takeAll(trackerOf(10, [block(11)], final)), [same(11)])
})

test('without a start the first sealed slot is the first to be compared', (t) => {
  const tracker = trackerOf(null, [], [block(9), block(10)])
  tracker.addSealed(block(11))
  tracker.addFinal(block(11))
  t.deepEqual(takeAll(tracker), [same(11)])
})

test('finalized blocks wait for the slots of a stream that is behind', (t) => {
  const tracker = trackerOf(10, [], [block(11), block(12)])
  t.deepEqual(takeAll(tracker), [])
  t.is(tracker.wanted(200), null)
  tracker.addSealed(block(11))
  t.deepEqual(takeAll(tracker), [same(11)])
  tracker.addSealed(block(12))
  t.deepEqual(takeAll(tracker), [same(12)])
})

test('the blocks between the tip and the next one known are wanted, or some after the tip', (t) => {
  const tracker = trackerOf(10, [block(11), block(12), block(13)])
  t.deepEqual(tracker.wanted(200), { from: 11, to: 210 })
  t.false(tracker.hasGap)
  tracker.addFinal(block(12))
  t.deepEqual(tracker.wanted(200), { from: 11, to: 11 })
  t.true(tracker.hasGap)
  tracker.addFinal(block(11))
  t.is(tracker.wanted(200), null)
  takeAll(tracker)
  t.deepEqual(tracker.wanted(200), { from: 13, to: 212 })
  tracker.addFinal(block(14, 12))
  t.is(tracker.wanted(200), null, 'slot 13 vanished, which shows once slot 14 is sealed')
})

test('blocks that nobody has are given up as far as the oldest block that waits, and sealed slots have passed them', (t) => {
  const sealed = [11, 12, 13, 14, 15].map((slot) => block(slot))
  const tracker = trackerOf(10, sealed, [block(14)])
  t.is(tracker.giveUp(16), 0)
  t.is(tracker.tip, 10)
  t.is(tracker.giveUp(11), 1)
  t.is(tracker.tip, 11)
  t.is(tracker.giveUp(15), 2)
  t.is(tracker.tip, 13)
  t.deepEqual(takeAll(tracker), [same(14)])
  t.is(tracker.giveUp(15), 1)
  t.deepEqual([tracker.tip, tracker.wanted(200)], [15, null])
})

test('memory is bounded: the oldest sealed slots are given up, and of the blocks the oldest are kept', (t) => {
  const tracker = new FinalityTracker(10, { maxSealed: 3, maxBlocks: 2 })
  t.deepEqual(
    [11, 12, 13, 14].map((slot) => tracker.addSealed(block(slot))),
    [0, 0, 0, 1],
  )
  t.is(tracker.tip, 11)
  for (const slot of [14, 13, 12]) tracker.addFinal(block(slot))
  t.deepEqual(takeAll(tracker), [same(12), same(13)])
  t.deepEqual(tracker.wanted(200), { from: 14, to: 213 })
})

test('any finalized chain, in any order and repeated, withdraws exactly the sealed blocks it lacks', (t) => {
  const aChain = fc.array(fc.constantFrom('same', 'other', 'none', 'more'), {
    minLength: 1,
    maxLength: 40,
  })
  fc.assert(
    fc.property(aChain, fc.infiniteStream(fc.nat()), (fates, order) => {
      const sealed: ChainBlock[] = []
      const final: ChainBlock[] = []
      fates.forEach((fate, at) => {
        const slot = 11 + at
        const parentOf = (chain: ChainBlock[]) => chain.at(-1)?.slot ?? 10
        if (fate !== 'more') sealed.push(block(slot, parentOf(sealed)))
        if (fate !== 'none') final.push(block(slot, parentOf(final), fate === 'same' ? slot : 1000))
      })
      const last = 11 + fates.length
      sealed.push(block(last, sealed.at(-1)?.slot ?? 10))
      final.push(block(last, final.at(-1)?.slot ?? 10))
      const tracker = trackerOf(10, sealed)
      const shuffled = [...final, ...final].sort(() => (order.next().value % 3) - 1)
      const passed = shuffled.flatMap((one) => {
        tracker.addFinal(one)
        return takeAll(tracker)
      })
      const slots = (wanted: readonly string[]) =>
        fates.flatMap((fate, at) => (wanted.includes(fate) ? [11 + at] : []))
      t.deepEqual(
        passed.flatMap(({ withdrawn }) => withdrawn.map(({ slot }) => slot)),
        slots(['other', 'none']),
      )
      t.deepEqual(
        passed.flatMap((one) => (one.missing ? [one.block.slot] : [])),
        slots(['other', 'more']),
      )
      t.deepEqual([tracker.tip, tracker.wanted(200)], [last, null])
    }),
  )
})
