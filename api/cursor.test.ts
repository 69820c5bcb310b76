import test from 'ava'
import fc from 'fast-check'
import { BEGINNING, createCursorCodec, endOfSlot } from './cursor.ts'

const codec = createCursorCodec(Buffer.alloc(32, 7))
const u32 = fc.nat({ max: 0xffff_ffff })
const aKey = fc.record(
  { slot: fc.nat({ max: Number.MAX_SAFE_INTEGER }), txIndex: u32, wallet: u32, eventIndex: u32 },
  { noNullPrototype: true },
)
const key = { slot: 432104870, txIndex: 12, wallet: 3, eventIndex: 1 }

test('a cursor gives back its position, in every process that has the key (decisions D4)', (t) => {
  const elsewhere = createCursorCodec(Buffer.alloc(32, 7))
  fc.assert(
    fc.property(aKey, (position) => {
      const cursor = codec.encode('trades', position)
      t.deepEqual(elsewhere.decode('trades', cursor), position)
      t.is(elsewhere.encode('trades', position), cursor)
      t.regex(cursor, /^[\w-]{50}$/)
    }),
  )
  for (const position of [BEGINNING, endOfSlot(5)])
    t.deepEqual(codec.decode('trades', codec.encode('trades', position)), position)
})

test('a cursor that is changed in any character, cut or prolonged is none', (t) => {
  fc.assert(
    fc.property(aKey, fc.nat({ max: 49 }), fc.string({ maxLength: 3 }), (position, at, other) => {
      const cursor = codec.encode('trades', position)
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1)
      if (changed !== cursor) t.is(codec.decode('trades', changed), null)
      t.is(codec.decode('trades', cursor.slice(0, at)), null)
      if (other !== '') t.is(codec.decode('trades', cursor + other), null)
    }),
  )
})

test('text that is no cursor is none', (t) => {
  fc.assert(fc.property(fc.string(), (text) => t.is(codec.decode('trades', text), null)))
  for (const text of ['', 'null', '0', 'A'.repeat(50), '='.repeat(50), 'é'.repeat(50)])
    t.is(codec.decode('trades', text), null)
})

test('a cursor of another scope or of another key is none', (t) => {
  const cursor = codec.encode('swaps:So11111111111111111111111111111111111111112', key)
  t.is(codec.decode('trades', cursor), null)
  t.is(codec.decode('swaps:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', cursor), null)
  t.is(createCursorCodec(Buffer.alloc(32, 8)).decode('trades', codec.encode('trades', key)), null)
})

test('a cursor shows nothing of its position: neighbours share no text', (t) => {
  const [a, b] = [codec.encode('trades', key), codec.encode('trades', { ...key, eventIndex: 2 })]
  const common = [...a].filter((character, at) => character === b[at]).length
  t.true(common < 10, `${common} of 50 characters agree`)
})
