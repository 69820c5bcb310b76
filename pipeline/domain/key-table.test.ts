import test from 'ava'
import bs58 from 'bs58'
import fc from 'fast-check'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { createKeyTable } from './key-table.ts'

const keyOfBytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('encodeBase58 gives the same text as bs58', (t) => {
  const bytes = fc.tuple(fc.nat(12), fc.uint8Array({ minLength: 64, maxLength: 64 }))
  fc.assert(
    fc.property(bytes, fc.constantFrom(32, 64), ([zeros, random], length) => {
      const key = random.slice(0, length).fill(0, 0, zeros)
      return encodeBase58(key) === bs58.encode(key)
    }),
    { numRuns: 2000 },
  )
  t.is(encodeBase58(new Uint8Array(32)), '11111111111111111111111111111111')
  t.is(encodeBase58(new Uint8Array(64).fill(255)), bs58.encode(new Uint8Array(64).fill(255)))
})

test('decodeBase58 gives the same bytes as bs58, for any text', (t) => {
  const letters = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
  const length = fc.constantFrom(200, 800)
  const some = length.chain((maxLength) => fc.string({ unit: letters, maxLength, size: 'max' }))
  const text = fc.tuple(fc.nat(12), some)
  fc.assert(
    fc.property(text, ([ones, rest]) => {
      const whole = '1'.repeat(ones) + rest
      t.deepEqual(decodeBase58(whole), bs58.decodeUnsafe(whole))
    }),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (any) => {
      t.deepEqual(decodeBase58(any) ?? undefined, bs58.decodeUnsafe(any))
    }),
  )
  const key = new Uint8Array(64).fill(255)
  t.deepEqual(decodeBase58(bs58.encode(key)), key)
  for (const other of ['0', 'O', 'I', 'l', '1l', 'é', 'ā', '1111 ']) {
    t.is(decodeBase58(other), null)
    t.is(decodeBase58('2'.repeat(300) + other), null)
  }
})

test('a key table finds exactly its own keys', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(keyOfBytes, { selector: String }), keyOfBytes, (keys, other) => {
      const table = createKeyTable(keys)
      const isIn = keys.some((key) => String(key) === String(other))
      return keys.every((key, i) => table.get(key) === i + 1) && (isIn || table.get(other) === 0)
    }),
  )
  t.is(createKeyTable([]).get(new Uint8Array(32)), 0)
  t.is(createKeyTable([new Uint8Array(32)]).get(new Uint8Array(31)), 0)
})

test('a key table distinguishes keys that share most of their bytes', (t) => {
  const keys = Array.from({ length: 1000 }, (_, i) => {
    const key = new Uint8Array(32).fill(7)
    key[0] = i & 255
    key[31] = i >> 8
    return key
  })
  const table = createKeyTable(keys)
  t.deepEqual(
    keys.map((key) => table.get(key)),
    keys.map((_, i) => i + 1),
  )
})
