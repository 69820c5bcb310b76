import test from 'ava'
import {
  type AnyValueType,
  boolean,
  integerBetween,
  keptBytes,
  natural,
  nullable,
  object,
  oneOf,
  pubkey,
  shortText,
  signature,
  u8,
  u64,
  u128,
  unixSeconds,
  walletNumber,
} from './value-types.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const MAX_BASE64 = Buffer.alloc(512 * 1024).toString('base64')

const integers = (min: number, max: number) => ({
  good: [min, max],
  bad: [min - 1, max + 1, min + 0.5, String(min), true, null, [], {}, Number.NaN],
})
const decimals = (max: bigint) => ({
  good: ['0', '7', String(max)],
  bad: ['', '-1', '00', '01', '1e3', '0x1', ' 1', '1.0', String(max + 1n), '9'.repeat(40), 1, null],
})

/** Values as JSON has them. */
const TYPES: Record<string, { type: AnyValueType; good: unknown[]; bad: unknown[] }> = {
  natural: { type: natural, ...integers(0, Number.MAX_SAFE_INTEGER) },
  walletNumber: { type: walletNumber, ...integers(1, Number.MAX_SAFE_INTEGER) },
  unixSeconds: { type: unixSeconds, ...integers(0, 2 ** 32 - 1) },
  u8: { type: u8, ...integers(0, 255) },
  integerBetween: { type: integerBetween(3, 5), ...integers(3, 5) },
  u64: { type: u64, ...decimals(2n ** 64n - 1n) },
  u128: { type: u128, ...decimals(2n ** 128n - 1n) },
  boolean: { type: boolean, good: [true, false], bad: [0, 1, 'true', null] },
  oneOf: { type: oneOf('in', 'out'), good: ['in', 'out'], bad: ['', 'IN', 'inout', 0, null, []] },
  shortText: {
    type: shortText,
    good: ['x', 'é'.repeat(100)],
    bad: ['', 'x'.repeat(101), 1, null, ['x']],
  },
  signature: {
    type: signature,
    good: ['1'.repeat(64), 'z'.repeat(88)],
    bad: ['1'.repeat(63), '1'.repeat(89), `${'1'.repeat(64)}\n`, '0'.repeat(64), 'l'.repeat(64), 1],
  },
  pubkey: {
    type: pubkey,
    good: [WSOL, '1'.repeat(32)],
    bad: ['', '1'.repeat(31), '1'.repeat(33), 'z'.repeat(44), WSOL.replace('S', '0'), 1, null],
  },
  nullable: { type: nullable(u64), good: [null, '5'], bad: [undefined, '', 5] },
  object: {
    type: object<{ a: number; b: bigint }>({ a: u8, b: u64 }),
    good: [],
    bad: [null, [], {}, 'a', { a: 1 }, { a: 1, b: 2 }, { a: 1, b: '2', c: 3 }, { a: 1, c: '2' }],
  },
}

test('a type reads its values up to both bounds, and nothing else', (t) => {
  for (const [name, { type, good, bad }] of Object.entries(TYPES)) {
    for (const json of good)
      t.deepEqual(String(type.read(json)), String(json), `${name}: ${JSON.stringify(json)}`)
    for (const json of bad) t.is(type.read(json), undefined, `${name}: ${JSON.stringify(json)}`)
  }
})

test('a type reads what JSON has into what the record has', (t) => {
  t.is(u128.read('340282366920938463463374607431768211455'), 2n ** 128n - 1n)
  t.is(nullable(u64).read(null), null)
  t.deepEqual(object<{ a: number; b: bigint }>({ a: u8, b: u64 }).read({ b: '2', a: 1 }), {
    a: 1,
    b: 2n,
  })
})

test('kept bytes are bytes, or base64, of at most 512 KiB', (t) => {
  t.deepEqual(keptBytes.read(Uint8Array.of(1, 2)), Uint8Array.of(1, 2))
  t.is(keptBytes.read(new Uint8Array(512 * 1024 + 1)), undefined)
  t.deepEqual(keptBytes.read('AQIDBA=='), Uint8Array.of(1, 2, 3, 4))
  t.deepEqual(keptBytes.read(''), new Uint8Array())
  t.is(keptBytes.read(MAX_BASE64)?.length, 512 * 1024)
  const larger = Buffer.alloc(512 * 1024 + 1).toString('base64')
  for (const json of ['AQIDBA', 'AQIDBA=', 'AQID BA==', 'AQI*BA==', 'AQIDB', '=', larger, 1, null])
    t.is(keptBytes.read(json), undefined)
})
