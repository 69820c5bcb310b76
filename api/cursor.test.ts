import { hkdfSync, randomBytes } from 'node:crypto'
import { aessiv } from '@noble/ciphers/aes.js'
import test from 'ava'
import fc from 'fast-check'
import { AesSiv } from './aes-siv.ts'
import {
  BEGINNING,
  createCursorCodec,
  endOfSlot,
  hasCome,
  isWithin,
  type LatePosition,
  lateAfter,
  lateBefore,
} from './cursor.ts'
import { cursorKeys } from './testing/cursor-keys.ts'

const codec = createCursorCodec(cursorKeys(7))
const u32 = fc.nat({ max: 0xffff_ffff })
const aKey = fc.record(
  { slot: fc.nat({ max: Number.MAX_SAFE_INTEGER }), txIndex: u32, wallet: u32, eventIndex: u32 },
  { noNullPrototype: true },
)
const key = { slot: 432104870, txIndex: 12, wallet: 3, eventIndex: 1 }

test('a cursor decodes to its position, in every process with the key (rule D4)', (t) => {
  const elsewhere = createCursorCodec(cursorKeys(7))
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

test('a cursor with an altered, missing or additional character is invalid', (t) => {
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

test('other text is not a cursor', (t) => {
  fc.assert(fc.property(fc.string(), (text) => t.is(codec.decode('trades', text), null)))
  for (const text of ['', 'null', '0', 'A'.repeat(50), '='.repeat(50), 'é'.repeat(50)])
    t.is(codec.decode('trades', text), null)
})

test('a cursor of another scope or key is invalid', (t) => {
  const cursor = codec.encode('swaps:So11111111111111111111111111111111111111112', key)
  t.is(codec.decode('trades', cursor), null)
  t.is(codec.decode('swaps:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', cursor), null)
  t.is(createCursorCodec(cursorKeys(8)).decode('trades', codec.encode('trades', key)), null)
})

test('the first secret key encrypts, each of them decrypts, and no trade_id changes (rule J14)', (t) => {
  const [old, current] = [createCursorCodec(cursorKeys(7)), createCursorCodec(cursorKeys(8, 7))]
  const removed = createCursorCodec({ ...cursorKeys(8), tradeIdKey: Buffer.alloc(32, 7) })
  const late = lateBefore(1, 2)
  const ofOld = old.encode('trades', key, late)
  const ofCurrent = current.encode('trades', key, late)
  t.deepEqual(
    [old, current, removed].map((one) =>
      [ofOld, ofCurrent].map((text) => one.decodePosition(text)),
    ),
    [
      [{ key, late }, null],
      [
        { key, late },
        { key, late },
      ],
      [null, { key, late }],
    ],
  )
  t.is(current.decode('swaps:a', old.encode('swaps:b', key)), null)
  t.is(removed.encode('trades', key, late), ofCurrent)
  const ids = [old, current, removed].map((one) => one.tradeId(key, 5n))
  t.deepEqual(ids, Array(3).fill(ids[0]))
})

test('a cursor reveals nothing of its position: neighbours share no text', (t) => {
  const [a, b] = [codec.encode('trades', key), codec.encode('trades', { ...key, eventIndex: 2 })]
  const common = [...a].filter((character, at) => character === b[at]).length
  t.true(common < 10, `${common} of 50 characters agree`)
})

const u48 = fc.nat({ max: 2 ** 48 - 1 })
const aLatePosition: fc.Arbitrary<LatePosition> = fc.record(
  {
    epoch: u48,
    passedSlot: u48,
    offsets: fc.uniqueArray(fc.tuple(fc.nat({ max: 255 }), u48), {
      selector: ([partition]) => partition,
      maxLength: 6,
    }),
  },
  { noNullPrototype: true },
)

test('a position of the feed keeps its late position; GET /trades accepts it too (rule F4)', (t) => {
  fc.assert(
    fc.property(aKey, aLatePosition, (position, late) => {
      const text = codec.encode('trades', position, late)
      t.deepEqual(codec.decodePosition(text), { key: position, late })
      t.deepEqual(codec.decode('trades', text), position)
      t.is(codec.decode(`swaps:a`, text), null)
    }),
  )
  t.deepEqual(codec.decodePosition(codec.encode('trades', key)), { key, late: null })
})

test('late trades are ordered by when they were sent', (t) => {
  const mark = (passedSlot: number, partition: number, offset: number, epoch = 0) => ({
    epoch,
    passedSlot,
    partition,
    offset,
  })
  const one = lateAfter(lateBefore(0, 10), mark(10, 2, 7))
  const two = lateAfter(one, mark(10, 0, 3))
  t.deepEqual(two.offsets, [
    [0, 3],
    [2, 7],
  ])
  t.deepEqual(lateAfter(two, mark(10, 2, 9)).offsets, [
    [0, 3],
    [2, 9],
  ])
  t.deepEqual(lateAfter(two, mark(11, 2, 1)), { epoch: 0, passedSlot: 11, offsets: [[2, 1]] })
  const come = [mark(9, 5, 99), mark(10, 0, 3), mark(10, 0, 2), mark(10, 2, 7)]
  const toCome = [mark(10, 0, 4), mark(10, 1, 0), mark(11, 0, 0), mark(1, 0, 0, 1)]
  t.deepEqual(
    [...come, ...toCome].map((late) => hasCome(late, two)),
    [...come.map(() => true), ...toCome.map(() => false)],
  )
  const at = (late: LatePosition, slot = 10) => ({ key: endOfSlot(slot), late })
  t.true(isWithin(at(one), at(two)))
  t.false(isWithin(at(two), at(one)))
  t.false(isWithin(at(one, 11), at(two)))
})

test('the cipher equals another implementation of AES-SIV', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 100 }), fc.uint8Array(), (plain, ad) => {
      const secret = new Uint8Array(hkdfSync('sha256', randomBytes(32), '', 'test', 64))
      const [ours, theirs] = [new AesSiv(secret, ad), aessiv(secret, ad)]
      t.deepEqual(Buffer.from(theirs.decrypt(ours.seal(plain))), Buffer.from(plain))
      t.deepEqual(ours.open(theirs.encrypt(plain)), Buffer.from(plain))
    }),
  )
})
