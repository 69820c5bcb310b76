import test from 'ava'
import type { SlotStage } from './slot-stage.ts'
import { createSlotTraces } from './slot-traces.ts'
import type { Span } from './span.ts'

/** The spans of processes with one log that reach these stages of slots, each in order. */
function spansOf(...processes: (readonly (readonly [SlotStage, number])[])[]): Span[] {
  const spans: Span[] = []
  for (const stages of processes) {
    const onStage = createSlotTraces((span) => spans.push(span), 'test-/0')
    for (const [stage, slot] of stages) onStage(stage, slot)
  }
  return spans
}

/** Each span with the names of its parent and of its slot. */
function treeOf(spans: readonly Span[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]))
  return spans.map(
    ({ parentId, name, attributes }) =>
      `${parentId === null ? '' : (names.get(parentId) ?? 'unknown')} > ${name} ${attributes.slot}`,
  )
}

const INGEST = [
  ['received', 7],
  ['received', 7],
  ['sealed', 7],
  ['decoded', 7],
  ['appended', 7],
] as const

test('processes that share only a log make one trace of a slot', (t) => {
  const spans = spansOf(
    INGEST,
    [
      ['read', 7],
      ['read', 7],
      ['folded', 7],
      ['folded', 7],
      ['stored', 7],
      ['stored', 7],
    ],
    [
      ['stored', 7],
      ['arrived', 7],
      ['arrived', 7],
      ['merged', 7],
      ['written', 7],
    ],
  )
  t.deepEqual(treeOf(spans), [
    ' > seal 7',
    'seal > decode 7',
    'seal > append 7',
    'append > fold 7',
    'append > store 7',
    'append > relay 7',
    'append > send 7',
  ])
  t.is(new Set(spans.map(({ traceId }) => traceId)).size, 1)
  t.is(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)
  for (const { startMs, endMs } of spans) t.true(startMs <= endMs)
})

test('slots and logs have traces of their own', (t) => {
  const traceOf = (log: string, slot: number) => {
    const ids: string[] = []
    createSlotTraces(({ traceId }) => ids.push(traceId), log)('sealed', slot)
    return ids[0]
  }
  t.is(traceOf('test-/0', 7), '38685be83cf41697917f7b503252896c') // of the SHA-256 of "test-/0/7"
  t.is(new Set([traceOf('a/0', 7), traceOf('a/0', 8), traceOf('b/0', 7)]).size, 3)
})

test('a slot that was read over RPC has a whole trace, and one whose beginning was not seen has none', (t) => {
  t.deepEqual(
    treeOf(
      spansOf([
        ['sealed', 7],
        ['decoded', 7],
        ['stored', 6],
        ['merged', 6],
      ]),
    ),
    [' > seal 7', 'seal > decode 7'],
  )
})

test('a storage marker ends the spans of every slot below it', (t) => {
  t.deepEqual(
    spansOf([
      ['read', 7],
      ['read', 8],
      ['folded', 8],
      ['read', 9],
      ['stored', 8],
    ]).map(({ name, attributes }) => [name, attributes.slot]),
    [
      ['fold', 7],
      ['store', 7],
      ['fold', 8],
      ['store', 8],
    ],
  )
})

test('slots whose spans never end are given up in the order in which they began', (t) => {
  const many = Array.from({ length: 257 }, (_, slot) => ['merged', slot] as const)
  t.deepEqual(
    spansOf([...many, ['written', 0], ['written', 2]]).map(({ attributes }) => attributes.slot),
    [2],
  )
})
