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
})

test('sealed slots are final when their blocks come, whatever the order (rule K9)', (t) => {
  const tracker = trackerOf(10, [block(11), block(13, 11), block(14)])
  tracker.addFinal(block(14))
  tracker.addFinal(block(13, 11))
  t.deepEqual(takeAll(tracker), [])
  t.true(tracker.hasGap)
  tracker.addFinal(block(11))
  t.deepEqual(takeAll(tracker), [same(11), same(13, 11), same(14)])
  t.deepEqual([tracker.tip, tracker.waiting, tracker.hasGap], [14, 0, false])
})

test('another block in a slot, or none, withdraws what was sealed there, and nothing else does', (t) => {
  const sealed = [block(11), block(12), block(13), block(14)]
  const final = [block(11), block(13, 11, 99), block(14)]
  const tracker = trackerOf(10, sealed, final)
  t.deepEqual(takeAll(tracker), [
    same(11),
    { block: block(13, 11, 99), withdrawn: [block(12), block(13)], missing: true },
    same(14),
  ])
})

test('a finalized block in a slot that was not sealed is missing, unless its slots were skipped for good', (t) => {
  const tracker = trackerOf(10, [block(11), block(13, 11), block(20, 13)])
  tracker.ignore({ from: 14, to: 19 })
  for (const one of [block(11), block(12), block(13), block(15, 13), block(20, 15)])
    tracker.addFinal(one)
  t.deepEqual(takeAll(tracker), [
    same(11),
    { block: block(12), withdrawn: [], missing: true },
    same(13),
    { block: block(15, 13), withdrawn: [], missing: false },
    same(20, 15),
  ])
})

test('a block whose hash is not known counts as equal', (t) => {
  const unknown = { ...block(11), blockId: null }
  t.deepEqual(takeAll(trackerOf(10, [unknown], [block(11)])), [same(11)])
  t.deepEqual(takeAll(trackerOf(10, [block(11)], [unknown])), [{ ...same(11), block: unknown }])
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
  t.is(tracker.wanted(), null)
  tracker.addSealed(block(11))
  t.deepEqual(takeAll(tracker), [same(11)])
  tracker.addSealed(block(12))
  t.deepEqual(takeAll(tracker), [same(12)])
})

test('the blocks between the tip and the next one known, or the newest sealed slot, are wanted', (t) => {
  const tracker = trackerOf(10, [block(11), block(12), block(13)])
  t.deepEqual(tracker.wanted(), { from: 11, to: 13 })
  t.false(tracker.hasGap)
  tracker.addFinal(block(12))
  t.deepEqual(tracker.wanted(), { from: 11, to: 12 })
  t.true(tracker.hasGap)
  tracker.addFinal(block(11))
  t.is(tracker.wanted(), null)
})

test('memory is bounded: the oldest sealed slots are given up, and blocks come again over RPC', (t) => {
  const tracker = new FinalityTracker(10, { maxSealed: 2, maxBlocks: 2 })
  t.deepEqual(
    [11, 12, 13].map((slot) => tracker.addSealed(block(slot))),
    [0, 0, 1],
  )
  t.deepEqual([tracker.tip, tracker.waiting], [11, 2])
  for (const slot of [14, 13, 12]) tracker.addFinal(block(slot))
  t.deepEqual(takeAll(tracker), [])
  t.deepEqual(tracker.wanted(), { from: 12, to: 13 })
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
      t.deepEqual([tracker.tip, tracker.waiting], [last, 0])
    }),
  )
})
