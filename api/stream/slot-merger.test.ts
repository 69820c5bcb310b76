import test from 'ava'
import fc from 'fast-check'
import type { Swap } from '../../pipeline/domain/event.ts'
import { compareEventKeys, eventKeyText } from '../../pipeline/domain/event-key.ts'
import type { Rewind } from '../../pipeline/domain/slot.ts'
import type { LogRecord } from '../../pipeline/log/log.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { aSwap } from '../testing/a-swap.ts'
import { type MergerOutput, SlotMerger } from './slot-merger.ts'

const PARTITIONS = 3

type Entry = LogRecord extends infer R ? (R extends LogRecord ? Omit<R, 'offset'> : never) : never
interface Slot {
  readonly slot: number
  readonly parent: number
  readonly swaps: readonly Swap[]
}

const marker = (slot: number, parent = slot - 1): Entry => ({
  kind: 'marker',
  marker: aMarker(slot, parent),
})
const swap = (record: Swap, late: 'stream' | 'backfill' | null = null): Entry => ({
  kind: 'record',
  record,
  late,
})
const at = (slot: number, txIndex = 0, wallet = 1) => aSwap({ slot, txIndex, wallet })
/** The next batches of a partition that is read from `offset` on. */
const reader = (merger: SlotMerger, offset = 0) => {
  const next = Array.from({ length: PARTITIONS }, () => offset)
  return (partition: number, ...entries: Entry[]) => {
    const from = next[partition]!
    next[partition] = from + entries.length
    const records = entries.map((entry, i) => ({ offset: BigInt(from + i), ...entry }))
    return merger.read({ partition, records })
  }
}

/** A chain of slots, some numbers skipped, with the swaps of five wallets. */
const aChain = fc
  .array(
    fc.record({
      skipped: fc.nat({ max: 2 }),
      swaps: fc.uniqueArray(
        fc.record({ txIndex: fc.nat({ max: 5 }), wallet: fc.integer({ min: 1, max: 5 }) }),
        { maxLength: 6, selector: ({ txIndex, wallet }) => `${txIndex}/${wallet}` },
      ),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((slots) => {
    let slot = 0
    return slots.map(({ skipped, swaps }): Slot => {
      const parent = slot
      slot += 1 + skipped
      const number = slot
      return {
        slot,
        parent,
        swaps: swaps.map((s) => aSwap({ slot: number, ...s })).sort(compareEventKeys),
      }
    })
  })

/** Entries of each partition after appending slots: the records of its wallets, then the marker. */
const appended = (slots: readonly Slot[]): Entry[][] =>
  Array.from({ length: PARTITIONS }, (_, partition) =>
    slots.flatMap(({ slot, parent, swaps }) => [
      ...swaps.filter((s) => s.wallet % PARTITIONS === partition).map((s) => swap(s)),
      marker(slot, parent),
    ]),
  )

/**
 * The log of a chain whose writer died several times: each time every partition had got another
 * prefix, and the next writer went on after the newest slot that was whole everywhere, or some
 * slots before it.
 */
const aLog = fc
  .record({
    chain: aChain,
    crashes: fc.array(
      fc.record({
        prefixes: fc.array(fc.nat({ max: 40 }), { minLength: PARTITIONS, maxLength: PARTITIONS }),
        again: fc.nat({ max: 2 }),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ chain, crashes }) => {
    const log: Entry[][] = Array.from({ length: PARTITIONS }, () => [])
    let from = 0
    for (const { prefixes, again } of crashes) {
      const parts = appended(chain.slice(from))
      const cut = parts.map((part, i) => part.slice(0, prefixes[i]))
      cut.forEach((part, i) => {
        log[i]!.push(...part)
      })
      const whole = Math.min(...cut.map((p) => p.filter((e) => e.kind === 'marker').length))
      from = Math.max(0, from + whole - again)
    }
    appended(chain.slice(from)).forEach((part, i) => {
      log[i]!.push(...part)
    })
    return { chain, log }
  })

/** Reads the partitions in an interleaving, in batches, some of them twice. */
function readAll(log: readonly Entry[][], steps: readonly (readonly [number, number, boolean])[]) {
  const merger = new SlotMerger(PARTITIONS, { epoch: 0 })
  const next = log.map(() => 0)
  const out: MergerOutput[] = []
  const read = (partition: number, size: number, twice: boolean) => {
    const from = next[partition]!
    const records = log[partition]!.slice(from, from + size).map((entry, i) => ({
      offset: BigInt(from + i),
      ...entry,
    }))
    next[partition] = from + records.length
    out.push(...merger.read({ partition, records }))
    if (twice) out.push(...merger.read({ partition, records }))
  }
  for (const [partition, size, twice] of steps) read(partition, size, twice)
  log.forEach((entries, partition) => {
    read(partition, entries.length, false)
  })
  return { out, merger }
}

const someSteps = fc.array(
  fc.tuple(fc.nat({ max: PARTITIONS - 1 }), fc.integer({ min: 1, max: 5 }), fc.boolean()),
  { maxLength: 60 },
)

test('any interleaving of the partitions, any crash of the writer and any redelivery give the same slots in the same order', (t) => {
  fc.assert(
    fc.property(aLog, someSteps, ({ chain, log }, steps) => {
      const { out, merger } = readAll(log, steps)
      t.deepEqual(
        out,
        chain.map(({ slot, parent, swaps }) => ({
          kind: 'slot',
          marker: aMarker(slot, parent),
          swaps,
        })),
      )
      t.is(merger.size, 0)
    }),
  )
})

test('late swaps come out once, in one place in every process: behind the slot their partition had passed; fetched history never (rules F4, K2)', (t) => {
  const someLate = fc.array(
    fc.record({
      origin: fc.constantFrom('stream' as const, 'backfill' as const),
      slot: fc.nat({ max: 20 }),
      wallet: fc.integer({ min: 1, max: 5 }),
      place: fc.nat({ max: 100 }),
    }),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(aLog, someSteps, someSteps, someLate, ({ chain, log }, steps, other, lates) => {
      lates.forEach(({ origin, slot, wallet, place }, i) => {
        const late = aSwap({ slot: chain[slot % chain.length]!.slot, wallet, txIndex: 10 + i })
        const part = log[wallet % PARTITIONS]!
        const entries = [swap(late, origin), swap(late, origin)]
        part.splice(place % (part.length + 1), 0, ...entries)
      })
      const { out } = readAll(log, steps)
      const ordered = out.flatMap((one) => (one.kind === 'slot' ? [...one.swaps] : []))
      t.deepEqual(ordered, [...ordered].sort(compareEventKeys))
      const late = out.flatMap((one) => (one.kind === 'late' ? [one.swap] : []))
      const expected = [
        ...chain.flatMap(({ swaps }) => swaps),
        ...lates.flatMap(({ origin, slot, wallet }, i) =>
          origin === 'backfill'
            ? []
            : [aSwap({ slot: chain[slot % chain.length]!.slot, wallet, txIndex: 10 + i })],
        ),
      ]
      t.deepEqual([...ordered, ...late].sort(compareEventKeys), expected.sort(compareEventKeys))
      let passed = -1
      for (const one of out) {
        if (one.kind === 'slot') passed = one.marker.slot
        else if (one.kind === 'late')
          t.deepEqual([one.mark.passedSlot, one.swap.slot <= passed], [passed, true])
      }
      // Runs may differ only in how the late trades of different partitions interleave in one slot.
      const inOnePlace = (merged: readonly MergerOutput[]) =>
        merged
          .flatMap((one) => (one.kind === 'late' ? [one.mark] : []))
          .sort((a, b) => a.passedSlot - b.passedSlot || a.partition - b.partition)
      t.deepEqual(inOnePlace(readAll(log, other).out), inOnePlace(out))
    }),
  )
})

test('a slot waits for the last partition, and `isBehind` names the slowest', (t) => {
  const merger = new SlotMerger(PARTITIONS, { epoch: 0 })
  const read = reader(merger)
  t.deepEqual(read(0, marker(7)), [])
  t.deepEqual(read(1, swap(at(7)), marker(7), marker(9)), [])
  t.deepEqual([merger.size, merger.newest], [3, null])
  t.deepEqual(
    [0, 1, 2].map((partition) => merger.isBehind(partition)),
    [false, false, true],
  )
  t.deepEqual(read(2, marker(7)), [{ kind: 'slot', marker: aMarker(7), swaps: [at(7)] }])
  t.deepEqual(merger.newest, aMarker(7))
  t.is(merger.size, 1)
  t.deepEqual(
    [0, 1, 2].map((partition) => merger.isBehind(partition)),
    [true, false, true],
  )
})

test('reading from the middle of the log leaves slots up to the first markers incomplete', (t) => {
  const merger = new SlotMerger(PARTITIONS, { epoch: 0 })
  const read = reader(merger, 50)
  read(0, swap(at(5, 0, 3)), marker(5), marker(6), marker(7))
  read(1, swap(at(6, 1, 1)), marker(6), marker(7))
  const out = read(2, swap(at(6, 2, 2)), marker(6), marker(7))
  t.deepEqual(out, [
    { kind: 'slot', marker: aMarker(5), swaps: [] },
    { kind: 'slot', marker: aMarker(6), swaps: [at(6, 1, 1), at(6, 2, 2)] },
    { kind: 'slot', marker: aMarker(7), swaps: [] },
  ])
  t.is(merger.incompleteTo, 6)
  const again = { kind: 'record', record: at(5, 0, 3), late: null, offset: 90n } as const
  const mark = { epoch: 0, passedSlot: 7, partition: 0, offset: 90 }
  t.deepEqual(merger.findSuspects({ partition: 0, records: [again] }), [
    { swap: again.record, mark },
  ])
  t.deepEqual(
    merger.read({ partition: 0, records: [again] }, new Set([eventKeyText(again.record)])),
    [],
  )
})

test('swaps of a slot that left the chain before its marker are released with the next slot', (t) => {
  const merger = new SlotMerger(1, { epoch: 0 })
  const records = [swap(at(4)), swap(at(5)), marker(5)]
  t.deepEqual(
    merger.read({ partition: 0, records: records.map((r, i) => ({ offset: BigInt(i), ...r })) }),
    [{ kind: 'slot', marker: aMarker(5), swaps: [at(4), at(5)] }],
  )
})

test('a repeated swap is dropped for a remembered slot, and is a suspect for a forgotten one', (t) => {
  const merger = new SlotMerger(1, { epoch: 3 })
  const read = reader(merger)
  read(0, swap(at(1)), marker(1), swap(at(2)), marker(2))
  merger.forget(1)
  const records = [swap(at(1)), swap(at(2)), swap(at(2, 1))].map((entry, i) => ({
    offset: BigInt(4 + i),
    ...entry,
  }))
  const mark = (offset: number) => ({ epoch: 3, passedSlot: 2, partition: 0, offset })
  t.deepEqual(merger.findSuspects({ partition: 0, records }), [{ swap: at(1), mark: mark(4) }])
  t.deepEqual(merger.read({ partition: 0, records }, new Set([eventKeyText(at(1))])), [
    { kind: 'late', swap: at(2, 1), blockId: null, mark: mark(6) },
  ])
  t.deepEqual(merger.read({ partition: 0, records }), [
    { kind: 'late', swap: at(1), blockId: null, mark: mark(4) },
  ])
  t.deepEqual(merger.read({ partition: 0, records }), [])
})

test('what lies before the first slot of a log that follows another is not complete (rule K10)', (t) => {
  for (const [followsOther, incompleteTo] of [
    [true, 8],
    [false, -1],
  ] as const) {
    const merger = new SlotMerger(1, { epoch: 0, followsOther })
    t.deepEqual(reader(merger)(0, swap(at(9)), marker(9, 8)), [
      { kind: 'slot', marker: aMarker(9, 8), swaps: [at(9)] },
    ])
    t.is(merger.incompleteTo, incompleteTo)
  }
})

test('a marker whose parent never came gives a gap (rule K2)', (t) => {
  const merger = new SlotMerger(1, { epoch: 0, newest: aMarker(5) })
  const read = reader(merger)
  t.is(merger.incompleteTo, 5)
  t.deepEqual(read(0, marker(5), marker(6), marker(90, 88), marker(91, 6)), [
    { kind: 'slot', marker: aMarker(6), swaps: [] },
    { kind: 'gap', fromSlot: 6, toSlot: 88 },
    { kind: 'slot', marker: aMarker(90, 88), swaps: [] },
    { kind: 'slot', marker: aMarker(91, 6), swaps: [] },
  ])
})

const withdrawal = (slot: number, rewind: Rewind | null = null) => ({
  kind: 'withdrawal' as const,
  withdrawal: { slot, blockId: 7n, solPrice: null, rewind },
})
const rewindTo = (slot: number, attempt = 1): Rewind => ({ checkpoint: aMarker(slot), attempt })

test('a withdrawal of a released slot comes at its place, and the other block of the slot after it, late (rule K9)', (t) => {
  const merger = new SlotMerger(1, { epoch: 3 })
  const read = reader(merger)
  read(0, swap(at(1)), swap(at(1, 1)), marker(1), marker(2))
  t.true(merger.isReady(0))
  const mark = (offset: number) => ({ epoch: 3, passedSlot: 2, partition: 0, offset })
  t.deepEqual(read(0, withdrawal(1)), [
    { kind: 'withdrawn', withdrawal: withdrawal(1).withdrawal, mark: mark(4) },
  ])
  const other = { ...swap(at(1)), late: 'stream' as const, blockId: 8n }
  t.deepEqual(read(0, other, other), [{ kind: 'late', swap: at(1), blockId: 8n, mark: mark(5) }])
})

test('a partition that is ahead is not ready for a withdrawal', (t) => {
  const merger = new SlotMerger(2, { epoch: 3 })
  const read = reader(merger)
  read(0, marker(1), marker(2))
  read(1, marker(1))
  t.deepEqual([merger.isReady(0), merger.isReady(1)], [false, true])
})

test('of a slot that was not appended whole only what came after its withdrawal is released (rule K9)', (t) => {
  const merger = new SlotMerger(2, { epoch: 3 })
  const read = reader(merger)
  read(0, marker(1))
  read(1, marker(1))
  // One partition has all of the old block with its marker, the other one a part of it.
  t.deepEqual(read(0, swap(at(2)), marker(2), withdrawal(2, rewindTo(1))), [])
  t.deepEqual(read(1, swap(at(2, 0, 2)), withdrawal(2, rewindTo(1))), [])
  t.deepEqual(read(0, swap(at(2, 1)), marker(2)), [])
  const outputs = read(1, swap(at(2, 1, 2)), marker(2))
  t.deepEqual(
    outputs.map((output) => (output.kind === 'slot' ? output.swaps : output)),
    [[at(2, 1), at(2, 1, 2)]],
  )
})

test('a void marker releases nothing, whichever partition is read first (rule K9)', (t) => {
  const merger = new SlotMerger(3, { epoch: 3 })
  const read = reader(merger)
  for (const partition of [0, 1, 2]) read(partition, marker(1))
  const back = withdrawal(2, rewindTo(1))
  // The block that is sealed instead lacks slot 2, and the first reader is through with all of it.
  t.deepEqual(read(0, back, marker(3, 1), swap(at(4)), marker(4)), [])
  t.deepEqual(read(1, swap(at(2, 0, 2)), marker(2), back, marker(3, 1), marker(4)), [])
  t.deepEqual(read(2, marker(2)), [])
  t.deepEqual(read(2, back), [])
  t.deepEqual(read(2, marker(3, 1), marker(4)), [
    { kind: 'slot', marker: aMarker(3, 1), swaps: [] },
    { kind: 'slot', marker: aMarker(4), swaps: [at(4)] },
  ])
})

test('a second rewind voids what came after the first one (rule K9)', (t) => {
  const merger = new SlotMerger(2, { epoch: 3 })
  const read = reader(merger)
  for (const partition of [0, 1]) read(partition, marker(1))
  const [first, second] = [1, 2].map((attempt) => withdrawal(2, rewindTo(1, attempt)))
  if (first === undefined || second === undefined) throw new Error('there are two')
  t.deepEqual(read(0, marker(2), first, second, swap(at(2)), marker(2)), [])
  t.deepEqual(read(1, first, swap(at(2, 1, 2)), marker(2)), [])
  t.deepEqual(read(1, second, marker(2)), [{ kind: 'slot', marker: aMarker(2), swaps: [at(2)] }])
})

test('a withdrawal between a void marker and its rewind does not wait for the void slot (rule K9)', (t) => {
  const merger = new SlotMerger(2, { epoch: 3 })
  const read = reader(merger)
  for (const partition of [0, 1]) read(partition, marker(1))
  read(0, marker(2))
  t.false(merger.isReady(0))
  read(1, withdrawal(2, rewindTo(1)))
  t.true(merger.isReady(0))
})

test('a partition whose rewind lies before the place where reading starts holds nothing up (rule K9)', (t) => {
  const merger = new SlotMerger(2, { epoch: 3 })
  const read = reader(merger)
  read(0, marker(1), marker(2), withdrawal(2, rewindTo(1)), marker(2), marker(3))
  const released = read(1, marker(2), marker(3))
  t.deepEqual(
    released.map((output) => output.kind === 'slot' && output.marker.slot),
    [1, 2, 3],
  )
})
