import test from 'ava'
import { decodeState, encodeState } from './state-entry.ts'
import type { StateChange } from './state-log.ts'

const swap = (slot: number): StateChange => ({
  table: 'swaps',
  row: { slot: String(slot), quote_mint: null, quote_mismatch: false },
})
const position = (wallet: number): StateChange => ({ table: 'positions', row: { wallet } })
const mark = { slot: 9, blockTime: 1_700_000_000 }

/** What is read of the entries of a message. */
const read = (changes: readonly StateChange[]) =>
  encodeState(3, { changes, mark, fence: 2 }).map(({ partition, value }, at) => {
    const found = decodeState(Buffer.from(value), BigInt(at))
    return found.kind === 'ok' ? { partition, ...found.record } : found
  })

test('an entry has the rows of its tables, in order within each, and the mark', (t) => {
  t.deepEqual(read([swap(1), position(7), swap(2), position(8)]), [
    {
      partition: 3,
      offset: 0n,
      changes: [position(7), position(8), swap(1), swap(2)],
      mark,
      fence: 2,
    },
  ])
})

test('many changes make entries of at most 500, of which the last one has the mark', (t) => {
  const changes = Array.from({ length: 1001 }, (_, at) => swap(at))
  const entry = (offset: bigint, from: number, to: number, own: typeof mark | null) => ({
    partition: 3,
    offset,
    changes: changes.slice(from, to),
    mark: own,
    fence: 2,
  })
  t.deepEqual(read(changes), [
    entry(0n, 0, 500, null),
    entry(1n, 500, 1000, null),
    entry(2n, 1000, 1001, mark),
  ])
})

test('a row with other columns than the first one of its table is refused', (t) => {
  const more = { ...position(2), row: { wallet: 2, mint: 'M' } }
  const others = { ...position(2), row: { mint: 'M' } }
  for (const second of [more, others])
    t.throws(() => read([position(1), second]), {
      message: 'rows of positions have different columns',
    })
})

test('an entry of a newer format stops its reader, and one that is no entry is malformed', (t) => {
  const shape = { fence: 1, mark: null, tables: {} }
  const kinds = [
    { v: 3, ...shape },
    { v: 1, ...shape },
    { ...shape },
    { v: 2, ...shape, tables: { lots: { columns: [], rows: [] } } },
    { v: 2, ...shape, tables: null },
    { v: 2, ...shape },
  ].map((json) => {
    const found = decodeState(Buffer.from(JSON.stringify(json)), 0n)
    return found.kind === 'malformed' ? found.reason : found.kind
  })
  t.deepEqual(kinds, ['newer', 'wrong_shape', 'no_version', 'wrong_shape', 'wrong_shape', 'ok'])
  for (const bytes of [null, Buffer.alloc(0), Buffer.from('no JSON')])
    t.is(decodeState(bytes, 0n).kind, 'malformed')
})
