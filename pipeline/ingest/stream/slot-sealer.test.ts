import test from 'ava'
import fc from 'fast-check'
import type {
  FetchedBlock,
  PendingTransaction,
  SealerEvent,
  SealerOutput,
} from './sealer-events.ts'
import { SlotSealer } from './slot-sealer.ts'

type Event = SealerEvent<string, string>
type Output = SealerOutput<string, string>

const tx = (slot: number, index: number): Event => ({
  kind: 'transaction',
  slot,
  transaction: pending(slot, index),
})
const pending = (slot: number, index: number): PendingTransaction<string> => ({
  key: `signature ${slot}/${index}`,
  index,
  bytes: 100,
  item: `${slot}/${index}`,
})
const meta = (slot: number, parent: number): Event => ({
  kind: 'meta',
  slot,
  parent,
  blockTime: timeOf(slot),
  blockId: BigInt(slot),
})
const confirmed = (slot: number): Event => ({ kind: 'confirmed', slot })
const timeOf = (slot: number) => 1_700_000_000 + Math.floor((slot * 2) / 5)
const block = (slot: number, parent: number, count = 0): FetchedBlock<string> => ({
  slot,
  parent,
  blockTime: timeOf(slot),
  blockId: BigInt(slot),
  transactions: Array.from({ length: count }, (_, index) => pending(slot, index)),
})
const sealed = (
  slot: number,
  parent: number,
  count = 0,
  account: string | null = null,
): Output => ({
  kind: 'sealed',
  slot,
  parent,
  blockTime: timeOf(slot),
  blockId: BigInt(slot),
  transactions: Array.from({ length: count }, (_, index) => `${slot}/${index}`),
  account,
})
const late = (slot: number, transaction: string, origin: 'stream' | 'backfill'): Output => ({
  kind: 'late',
  slot,
  blockTime: timeOf(slot),
  blockId: BigInt(slot),
  transaction,
  origin,
})
const feed = (sealer: SlotSealer<string, string>, events: readonly Event[], nowMs = 0) =>
  events.flatMap((event) => sealer.apply(event, nowMs))

test('a slot is sealed when its meta and its confirmed status have come, in either order (rule K2)', (t) => {
  for (const last of [
    [meta(11, 10), confirmed(11)],
    [confirmed(11), meta(11, 10)],
  ] as const) {
    const sealer = new SlotSealer<string, string>({ head: 10 })
    t.deepEqual(feed(sealer, [tx(11, 1), tx(11, 0), tx(11, 1), last[0]]), [])
    t.deepEqual(feed(sealer, [last[1]]), [sealed(11, 10, 2)])
    t.is(sealer.head, 11)
    t.deepEqual(sealer.pending, { slots: 0, transactions: 0, bytes: 0 })
    t.deepEqual(sealer.dropped, { duplicate: 1, passed_over: 0, too_old: 0 })
  }
})

test('a sealed slot has the account update with the highest write version', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  const update = (writeVersion: number): Event => ({
    kind: 'account',
    slot: 11,
    writeVersion,
    account: `version ${writeVersion}`,
  })
  t.deepEqual(feed(sealer, [update(5), update(7), update(6), confirmed(11), meta(11, 10)]), [
    sealed(11, 10, 0, 'version 7'),
  ])
})

test('slots are sealed along parent links; skipped slots, dead slots and forks are left out', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  const fork = [
    tx(11, 0),
    meta(11, 10),
    tx(12, 0),
    meta(12, 11),
    tx(13, 3),
    { kind: 'dead', slot: 13 },
  ]
  t.deepEqual(feed(sealer, fork as Event[]), [])
  t.deepEqual(feed(sealer, [meta(15, 14), confirmed(15), tx(14, 0), confirmed(14)]), [])
  t.deepEqual(feed(sealer, [meta(14, 10)]), [sealed(14, 10, 1), sealed(15, 14)])
  t.deepEqual(feed(sealer, [tx(12, 1), meta(12, 11), confirmed(12)]), [])
  t.deepEqual(sealer.dropped, { duplicate: 0, passed_over: 2, too_old: 1 })
  t.deepEqual(sealer.pending, { slots: 0, transactions: 0, bytes: 0 })
})

test('a transaction of a sealed slot is emitted as late, once', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [tx(11, 0), meta(11, 10), confirmed(11)])
  t.deepEqual(feed(sealer, [tx(11, 0), tx(11, 1), tx(11, 1), tx(9, 0)]), [
    late(11, '11/1', 'stream'),
  ])
  t.deepEqual(sealer.dropped, { duplicate: 2, passed_over: 0, too_old: 1 })
})

test('a slot missing 10 s after a newer one was confirmed is fetched once, then its missing parents', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [tx(14, 0), meta(14, 13), confirmed(14)], 1000)
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 10_999), [])
  t.deepEqual(feed(sealer, [{ kind: 'tick' }, { kind: 'tick' }], 11_000), [
    { kind: 'fetch', slot: 13 },
  ])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(13, 12, 2) }], 11_100), [
    { kind: 'fetch', slot: 12 },
  ])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(12, 10) }], 11_200), [
    sealed(12, 10),
    sealed(13, 12, 2),
    sealed(14, 13, 1),
  ])

  feed(sealer, [confirmed(15), tx(15, 0)], 20_000)
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 90_000), [], 'nothing newer is confirmed')
  feed(sealer, [meta(16, 15), confirmed(16)], 90_000)
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 100_000), [{ kind: 'fetch', slot: 15 }])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(15, 14, 3) }], 100_000), [
    sealed(15, 14, 3),
    sealed(16, 15),
  ])
})

test('a slot that lost only its status is fetched too; a later, different meta does not change it', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [tx(11, 0), meta(11, 10), tx(12, 0), meta(12, 11), confirmed(12)])
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 10_000), [{ kind: 'fetch', slot: 11 }])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(11, 10, 2) }, meta(11, 3)], 10_000), [
    sealed(11, 10, 2),
    sealed(12, 11, 1),
  ])
})

test('when RPC lacks a parent named by the stream, the child is fetched', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [meta(14, 12), confirmed(14), meta(15, 14), confirmed(15)])
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 10_000), [{ kind: 'fetch', slot: 12 }])
  t.deepEqual(feed(sealer, [{ kind: 'absent', slot: 12 }], 10_000), [{ kind: 'fetch', slot: 14 }])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(14, 10) }], 10_000), [
    sealed(14, 10),
    sealed(15, 14),
  ])
})

test('when RPC lacks a parent named by RPC, the chain continues after a gap', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [{ kind: 'cut', replayed: false }, tx(14, 0), confirmed(14)])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(14, 13, 1) }]), [{ kind: 'fetch', slot: 13 }])
  t.deepEqual(feed(sealer, [{ kind: 'absent', slot: 13 }]), [
    { kind: 'gap', fromSlot: 11, toSlot: 13 },
    sealed(14, 13, 1),
  ])
})

test('when RPC refuses a block, the chain continues after a gap, with the stream alone (rule K10)', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [meta(14, 12), confirmed(14), tx(14, 0)])
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 10_000), [{ kind: 'fetch', slot: 12 }])
  t.deepEqual(feed(sealer, [{ kind: 'refused', slot: 12 }], 10_000), [
    { kind: 'gap', fromSlot: 11, toSlot: 12 },
    sealed(14, 12, 1),
  ])
  // A slot without meta is refused before its child comes.
  feed(sealer, [confirmed(15), confirmed(16)], 10_000)
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 20_000), [{ kind: 'fetch', slot: 15 }])
  t.deepEqual(feed(sealer, [{ kind: 'refused', slot: 15 }], 20_000), [])
  t.deepEqual(feed(sealer, [meta(16, 15)], 20_000), [
    { kind: 'gap', fromSlot: 15, toSlot: 15 },
    sealed(16, 15),
  ])
})

test('a fetched block whose parent lies before the head is sealed, so no fork stops the chain forever', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [meta(12, 9), confirmed(12), meta(13, 12), confirmed(13)])
  t.deepEqual(feed(sealer, [{ kind: 'tick' }], 10_000), [{ kind: 'fetch', slot: 12 }])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(12, 9) }], 10_000), [
    sealed(12, 9),
    sealed(13, 12),
  ])
})

test('after a cut a slot is sealed only when the replay repeats its meta and status', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [tx(12, 0), meta(12, 11), confirmed(12), tx(11, 0), meta(11, 10), confirmed(13)])
  t.deepEqual(feed(sealer, [{ kind: 'cut', replayed: true }, confirmed(11)]), [])
  t.deepEqual(
    feed(sealer, [
      tx(11, 0),
      tx(11, 1),
      meta(11, 10),
      tx(12, 0),
      tx(12, 1),
      meta(12, 11),
      confirmed(12),
    ]),
    [sealed(11, 10, 2), sealed(12, 11, 2)],
  )
  t.deepEqual(feed(sealer, [meta(13, 12)]), [])
  t.deepEqual(feed(sealer, [confirmed(13)]), [sealed(13, 12)])
})

test('the first slot of a stream without replay and the slots before it are fetched at once', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [{ kind: 'cut', replayed: false }])
  t.deepEqual(feed(sealer, [tx(13, 2), meta(13, 12), confirmed(13), meta(13, 12)]), [
    { kind: 'fetch', slot: 13 },
  ])
  t.deepEqual(feed(sealer, [tx(14, 0), meta(14, 13), confirmed(14)]), [])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(13, 12, 3) }]), [{ kind: 'fetch', slot: 12 }])
  t.deepEqual(feed(sealer, [{ kind: 'block', ...block(12, 10, 1) }]), [
    sealed(12, 10, 1),
    sealed(13, 12, 3),
    sealed(14, 13, 1),
  ])
})

test('without a checkpoint the chain starts with the first slot that the stream has whole', (t) => {
  const sealer = new SlotSealer<string, string>({ head: null })
  t.deepEqual(feed(sealer, [tx(20, 5), meta(20, 19), tx(21, 0), meta(21, 20), confirmed(20)]), [])
  t.deepEqual(feed(sealer, [confirmed(21)]), [sealed(21, 20, 1)])
})

test('after a gap that is too long to fetch, a gap is emitted and live slots follow', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 10 })
  feed(sealer, [tx(11, 0), { kind: 'jump' }])
  t.is(sealer.head, null)
  t.deepEqual(
    feed(sealer, [{ kind: 'block', ...block(11, 10) }, confirmed(5000), meta(5000, 4999)]),
    [],
  )
  t.deepEqual(feed(sealer, [tx(5002, 0), meta(5002, 5000), confirmed(5002)]), [
    { kind: 'gap', fromSlot: 11, toSlot: 5000 },
    sealed(5002, 5000, 1),
  ])
})

test('rechecked blocks give unknown transactions as late, and as backfill after a restart', (t) => {
  const ran = new SlotSealer<string, string>({ head: 10 })
  feed(ran, [tx(11, 0), meta(11, 10), confirmed(11)])
  t.deepEqual(feed(ran, [{ kind: 'recheck', ...block(11, 10, 2) }]), [late(11, '11/1', 'stream')])
  const restarted = new SlotSealer<string, string>({ head: 11 })
  const backfill = (index: number): Output => late(11, `11/${index}`, 'backfill')
  t.deepEqual(feed(restarted, [{ kind: 'recheck', ...block(11, 10, 2) }]), [
    backfill(0),
    backfill(1),
  ])
  t.deepEqual(feed(restarted, [tx(11, 1), tx(11, 2)]), [late(11, '11/2', 'stream')])
  t.deepEqual(feed(restarted, [{ kind: 'recheck', ...block(12, 11, 1) }]), [], 'not sealed yet')

  const blocks = [8, 9, 11].map((slot): Event => ({ kind: 'recheck', ...block(slot, slot - 1, 1) }))
  const again = new SlotSealer<string, string>({ head: 11 })
  t.is(feed(again, blocks).length, 3)
  t.deepEqual(feed(again, blocks), [])
  t.deepEqual(again.recentSlots(), [8, 9, 11])
})

test('memory is bounded: passed slots are deleted and only the newest sealed slots are remembered', (t) => {
  const sealer = new SlotSealer<string, string>({ head: 0, remember: 4 })
  for (let slot = 1; slot <= 1000; slot++) {
    feed(sealer, [tx(slot, 0), tx(slot + 2, 9), meta(slot, slot - 1), confirmed(slot)])
  }
  t.deepEqual(sealer.recentSlots(), [997, 998, 999, 1000])
  // Older rechecked blocks are emitted but not remembered, so that a long disconnect does not
  // increase memory.
  const before = [994, 995, 996].map(
    (slot): Event => ({ kind: 'recheck', ...block(slot, slot - 1, 1) }),
  )
  t.is(feed(sealer, before).length, 3)
  t.deepEqual(sealer.recentSlots(), [997, 998, 999, 1000])
  t.deepEqual(sealer.pending, { slots: 2, transactions: 2, bytes: 200 })
  feed(sealer, [{ kind: 'clear' }])
  t.deepEqual(sealer.pending, { slots: 0, transactions: 0, bytes: 0 })
  t.is(sealer.head, 1000)
})

interface Chain {
  readonly head: number
  readonly blocks: readonly {
    readonly slot: number
    readonly parent: number
    readonly count: number
  }[]
  /** Slots of forks: never confirmed. */
  readonly forks: readonly {
    readonly slot: number
    readonly parent: number
    readonly count: number
  }[]
}

const chains: fc.Arbitrary<Chain> = fc
  .record({
    head: fc.integer({ min: 1, max: 1000 }),
    steps: fc.array(
      fc.record({
        skip: fc.integer({ min: 0, max: 2 }),
        count: fc.integer({ min: 0, max: 4 }),
        fork: fc.boolean(),
      }),
      { minLength: 1, maxLength: 8 },
    ),
  })
  .map(({ head, steps }) => {
    const blocks: Chain['blocks'][number][] = []
    const forks: Chain['blocks'][number][] = []
    let parent = head
    for (const { skip, count, fork } of steps) {
      const slot = parent + 1 + skip
      for (let skipped = parent + 1; fork && skipped < slot; skipped++) {
        forks.push({ slot: skipped, parent: skipped - 1, count: 2 })
      }
      blocks.push({ slot, parent, count })
      parent = slot
    }
    return { head, blocks, forks }
  })

const truth = (chain: Chain) =>
  chain.blocks.map(({ slot, parent, count }) => sealed(slot, parent, count))
const contentOf = ({ slot, count }: { slot: number; count: number }): Event[] =>
  Array.from({ length: count }, (_, index) => tx(slot, index))
const endOf = ({ slot, parent }: { slot: number; parent: number }): Event[] => [
  meta(slot, parent),
  confirmed(slot),
]

/** Orders in which the transactions of a slot precede its meta and status, with repeated events. */
const orders = (chain: Chain): fc.Arbitrary<Event[]> => {
  const content = [...chain.blocks, ...chain.forks].flatMap(contentOf)
  const forkMetas = chain.forks.map(({ slot, parent }) => meta(slot, parent))
  const mixed = [
    ...content,
    ...content,
    ...forkMetas,
    ...chain.blocks.flatMap(endOf),
    ...chain.blocks.flatMap(endOf),
  ]
  return fc
    .shuffledSubarray(mixed, { minLength: mixed.length, maxLength: mixed.length })
    .map((shuffled) => {
      const ordered: Event[] = []
      const seen = new Set<Event>()
      for (const event of shuffled) {
        const chainBlock = chain.blocks.find(
          (one) => event.kind !== 'tick' && 'slot' in event && one.slot === event.slot,
        )
        if (chainBlock !== undefined && (event.kind === 'meta' || event.kind === 'confirmed')) {
          for (const first of content) {
            if (
              first.kind === 'transaction' &&
              first.slot === chainBlock.slot &&
              !seen.has(first)
            ) {
              seen.add(first)
              ordered.push(first)
            }
          }
        }
        seen.add(event)
        ordered.push(event)
      }
      return ordered
    })
}

test('any order and repetition of events of one chain gives the same sealed slots', (t) => {
  fc.assert(
    fc.property(
      chains.chain((chain) => fc.tuple(fc.constant(chain), orders(chain))),
      ([chain, events]) => {
        const sealer = new SlotSealer<string, string>({ head: chain.head })
        t.deepEqual(feed(sealer, events), truth(chain))
        const newest = chain.blocks.at(-1)?.slot ?? 0
        t.true([...chain.forks].every(({ slot }) => slot < newest))
        t.deepEqual(sealer.pending, { slots: 0, transactions: 0, bytes: 0 })
      },
    ),
    { numRuns: 500 },
  )
})

test('with lost and late events and cuts, each slot and transaction of the chain is emitted once', (t) => {
  fc.assert(
    fc.property(
      chains.chain((chain) => {
        const all = [...chain.blocks, ...chain.forks].flatMap((one) => [
          ...contentOf(one),
          ...endOf(one),
        ])
        return fc.tuple(
          fc.constant(chain),
          fc.shuffledSubarray(all.filter((event) => !isForkStatus(chain, event))),
          fc.array(fc.record({ at: fc.nat({ max: all.length }), replayed: fc.boolean() }), {
            maxLength: 2,
          }),
        )
      }),
      ([chain, events, cuts]) => {
        const sealer = new SlotSealer<string, string>({ head: chain.head })
        const mixed: Event[] = [...events]
        for (const { at, replayed } of cuts) {
          mixed.splice(Math.min(at, mixed.length), 0, { kind: 'cut', replayed })
        }
        const last = chain.blocks.at(-1)
        if (last === undefined) return
        const tip = { slot: last.slot + 1, parent: last.slot, count: 0 }
        mixed.push({ kind: 'cut', replayed: true }, ...endOf(tip))
        const outputs: Output[] = []
        let nowMs = 0
        const queue = [...mixed]
        for (let rounds = 0; rounds < 200; rounds++) {
          nowMs += 20_000
          const event = queue.shift() ?? ({ kind: 'tick' } as const)
          for (const output of sealer.apply(event, nowMs)) {
            outputs.push(output)
            if (output.kind !== 'fetch') continue
            const found = chain.blocks.find(({ slot }) => slot === output.slot)
            if (output.slot === tip.slot)
              queue.push({ kind: 'block', ...block(tip.slot, tip.parent) })
            else if (found === undefined) queue.push({ kind: 'absent', slot: output.slot })
            else queue.push({ kind: 'block', ...block(found.slot, found.parent, found.count) })
          }
        }
        for (const { slot, parent, count } of chain.blocks) {
          outputs.push(...sealer.apply({ kind: 'recheck', ...block(slot, parent, count) }, nowMs))
        }
        const slots = outputs.flatMap((output) => (output.kind === 'sealed' ? [output] : []))
        t.deepEqual(
          slots.map(({ slot, parent }) => [slot, parent]),
          [...chain.blocks, tip].map(({ slot, parent }) => [slot, parent]),
        )
        const transactions = outputs.flatMap((output) => {
          if (output.kind === 'sealed') return output.transactions
          return output.kind === 'late' ? [output.transaction] : []
        })
        t.deepEqual(
          transactions.toSorted(),
          chain.blocks
            .flatMap(({ slot, count }) => block(slot, 0, count).transactions.map((one) => one.item))
            .toSorted(),
        )
      },
    ),
    { numRuns: 500 },
  )
})

function isForkStatus(chain: Chain, event: Event): boolean {
  return event.kind === 'confirmed' && chain.forks.some(({ slot }) => slot === event.slot)
}
