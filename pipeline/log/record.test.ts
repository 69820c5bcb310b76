import test from 'ava'
import fc from 'fast-check'
import { z } from 'zod'
import { type Address, address, parseAddress } from '../domain/address.ts'
import { MAX_KEPT_BYTES } from '../domain/event.ts'
import type { WalletRecord } from '../domain/slot.ts'
import { anySwap, aRefold, aSlotMarker, aWalletRecord } from '../testing/arbitraries.ts'
import type { LogMessage } from './log-message.ts'
import { decodeMessage, encodeMessage, FORMAT_VERSION } from './record.ts'

/** What `readEntry` accepts, as a schema. */
const natural = z.int().min(0)
const unixSeconds = z.int().min(0).max(0xffff_ffff)
const integer = (bits: number) => {
  const limit = 1n << BigInt(bits)
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,38})$/)
    .transform(BigInt)
    .refine((value) => value < limit)
}
const u64 = integer(64)
const u128 = integer(128)
const addressText = z.string().transform((text, context): Address => {
  const parsed = parseAddress(text)
  if (parsed !== null) return parsed
  context.addIssue({ code: 'custom', message: 'not an address' })
  return z.NEVER
})
const signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)

/** Versions of rows are revision x 2^32 + records folded, and are safe integers. */
const MAX_REVISION = 2 ** 21 - 1

const version = { v: z.literal(FORMAT_VERSION) }
const place = {
  ...version,
  slot: natural,
  txIndex: natural,
  wallet: z.int().min(1),
  blockTime: unixSeconds,
  late: z.enum(['stream', 'backfill']).nullable(),
  decoderVersion: z.int().min(1).max(0xffff),
}
const event = { ...place, eventIndex: natural, signature }
const base64 = z.string().transform((text, context): Uint8Array => {
  const bytes = Buffer.from(text, 'base64')
  // What is no base64 is left out by Node, so that there is less.
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (bytes.length <= MAX_KEPT_BYTES && bytes.length === (text.length * 3) / 4 - padding)
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  context.addIssue({ code: 'custom', message: 'not base64' })
  return z.NEVER
})
const direction = z.enum(['in', 'out'])
const decimals = z.int().min(0).max(255)

const Entry = z.discriminatedUnion('kind', [
  z.strictObject({
    ...version,
    kind: z.literal('marker'),
    slot: natural,
    parent: natural,
    blockTime: unixSeconds,
    solPrice: z.strictObject({ time: unixSeconds, usdE9: u64 }).nullable(),
  }),
  z.strictObject({
    ...version,
    kind: z.literal('refold'),
    wallet: z.int().min(1),
    revision: z.int().min(1).max(MAX_REVISION),
  }),
  z.strictObject({
    ...event,
    kind: z.literal('swap'),
    side: z.enum(['buy', 'sell']),
    baseMint: addressText,
    baseAmount: u128,
    baseDecimals: decimals,
    quoteMint: addressText.nullable(),
    quoteAmount: u128,
    program: z.string().min(1).max(100),
    programId: addressText,
    pool: addressText.nullable(),
    confidence: z.enum(['high', 'delta_only']),
    quoteMismatch: z.boolean(),
    feeLamports: u64,
    solPriceUsdE9: u64.nullable(),
  }),
  z.strictObject({
    ...event,
    kind: z.literal('token_transfer'),
    direction,
    mint: addressText,
    amount: u128,
    decimals,
  }),
  z.strictObject({ ...event, kind: z.literal('sol_transfer'), direction, lamports: u64 }),
  z.strictObject({ ...place, kind: z.literal('balance'), lamports: u64 }),
  z.strictObject({
    ...place,
    kind: z.literal('undecoded'),
    signature,
    programId: addressText.nullable(),
    reason: z.string().min(1).max(100),
  }),
  z.strictObject({
    ...place,
    kind: z.literal('kept'),
    signature,
    format: z.int().min(0).max(255),
    bytes: base64,
  }),
])

const aMessage: fc.Arbitrary<LogMessage> = fc.oneof(
  aSlotMarker.map((marker) => ({ kind: 'marker' as const, marker })),
  aRefold.map((refold) => ({ kind: 'refold' as const, refold })),
  fc
    .tuple(aWalletRecord, fc.constantFrom('stream' as const, 'backfill' as const, null))
    .map(([record, late]) => ({ kind: 'record' as const, record, late, decoderVersion: 7 })),
)

const read = (text: string) => decodeMessage(Buffer.from(text))

test('what is decoded is what was encoded', (t) => {
  fc.assert(
    fc.property(aMessage, (message) => {
      t.deepEqual(read(encodeMessage(message)), { kind: 'ok', message })
    }),
  )
})

test('a swap of format version 1 is read as one whose pool nobody knows (rule K3)', (t) => {
  fc.assert(
    fc.property(anySwap, (swap) => {
      const message = { kind: 'record' as const, record: swap, late: null, decoderVersion: 1 }
      const { pool, ...entry } = JSON.parse(encodeMessage(message))
      t.deepEqual(read(JSON.stringify({ ...entry, v: 1 })), {
        kind: 'ok',
        message: { ...message, record: { ...swap, pool: null } },
      })
      t.is(read(JSON.stringify({ ...entry, pool, v: 1 })).kind, 'malformed')
      t.is(read(JSON.stringify(entry)).kind, 'malformed')
    }),
  )
})

test('the text of a record is stable', (t) => {
  t.is(
    encodeMessage({
      kind: 'record',
      late: 'stream',
      decoderVersion: 3,
      record: {
        kind: 'token_transfer',
        slot: 7,
        txIndex: 3,
        wallet: 12,
        eventIndex: 0,
        blockTime: 1_700_000_000,
        signature: '1'.repeat(64),
        direction: 'in',
        mint: address('So11111111111111111111111111111111111111112'),
        amount: 340_282_366_920_938_463_463_374_607_431_768_211_455n,
        decimals: 9,
      },
    }),
    '{"v":2,"kind":"token_transfer","slot":7,"txIndex":3,"wallet":12,"eventIndex":0,"blockTime":1700000000,' +
      `"signature":"${'1'.repeat(64)}","direction":"in","mint":"So11111111111111111111111111111111111111112",` +
      '"amount":"340282366920938463463374607431768211455","decimals":9,"late":"stream","decoderVersion":3}',
  )
})

test('a request to fold a wallet anew names a revision that can be reached', (t) => {
  const text = '{"v":2,"kind":"refold","wallet":12,"revision":3}'
  t.is(encodeMessage({ kind: 'refold', refold: { wallet: 12, revision: 3 } }), text)
  for (const revision of [0, 1.5, 2 ** 21])
    t.deepEqual(read(text.replace('3', String(revision))), {
      kind: 'malformed',
      reason: 'wrong_shape',
    })
})

test('any damage to an entry is refused with a reason, never thrown', (t) => {
  const text = encodeMessage({
    kind: 'marker',
    marker: { slot: 5, parent: 4, blockTime: 9, solPrice: { time: 8, usdE9: 150_000_000_000n } },
  })
  const damaged = (change: (entry: Record<string, unknown>) => void) => {
    const entry = JSON.parse(text)
    change(entry)
    return read(JSON.stringify(entry))
  }
  const malformed = (reason: string) => ({ kind: 'malformed', reason })
  t.deepEqual(decodeMessage(null), malformed('empty'))
  t.deepEqual(read(''), malformed('empty'))
  t.deepEqual(read(text.slice(0, -1)), malformed('not_json'))
  t.deepEqual(read('null'), malformed('no_version'))
  t.deepEqual(read('{"v":"1"}'), malformed('no_version'))
  t.deepEqual(read('{"v":1}'), malformed('wrong_shape'))
  for (const change of [
    (e: Record<string, unknown>) => delete e.parent,
    (e: Record<string, unknown>) => Object.assign(e, { extra: 1 }),
    (e: Record<string, unknown>) => Object.assign(e, { slot: -1 }),
    (e: Record<string, unknown>) => Object.assign(e, { slot: '5' }),
    (e: Record<string, unknown>) => Object.assign(e, { blockTime: 2 ** 32 }),
    (e: Record<string, unknown>) => Object.assign(e, { kind: 'swap' }),
    ...['-1', '01', '', '1e3', '18446744073709551616', 1].map(
      (usdE9) => (e: Record<string, unknown>) => Object.assign(e, { solPrice: { time: 8, usdE9 } }),
    ),
  ])
    t.deepEqual(damaged(change), malformed('wrong_shape'), change.toString())
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      t.not(decodeMessage(bytes).kind, 'ok')
    }),
  )
})

test('bytes that are no base64 are refused', (t) => {
  const record: WalletRecord = {
    kind: 'kept',
    slot: 1,
    txIndex: 0,
    wallet: 1,
    blockTime: 1,
    signature: '1'.repeat(64),
    format: 1,
    bytes: Uint8Array.of(1, 2, 3, 4),
  }
  const text = encodeMessage({ kind: 'record', record, late: null })
  t.true(text.endsWith('"bytes":"AQIDBA=="}'))
  t.is(read(text).kind, 'ok')
  for (const bytes of ['AQIDBA', 'AQIDBA=', 'AQID BA==', 'AQI*BA==', 'AQIDB', '='])
    t.is(read(text.replace('AQIDBA==', bytes)).kind, 'malformed', bytes)
})

test('an entry of a later format is not taken for a damaged one (rule K3)', (t) => {
  t.deepEqual(read('{"v":3,"kind":"something_new"}'), { kind: 'newer', version: 3 })
})

test('an entry is read as its schema says, whatever of it is damaged', (t) => {
  const anOddity = fc.oneof(
    fc.constantFrom(null, true, '', '0', '00', '-1', 'in', 'buy', 'swap', [], {}, 0, -1, 1.5),
    fc.constantFrom(256, 2 ** 16, 2 ** 21, 2 ** 32, 2 ** 53, `${2n ** 64n}`, `${2n ** 128n}`),
    fc.constantFrom(
      '1'.repeat(63),
      '1'.repeat(64),
      '1'.repeat(89),
      '0'.repeat(70),
      'x'.repeat(101),
    ),
    fc.constantFrom('1'.repeat(32), 'So11111111111111111111111111111111111111112', 'AQIDBA==', '='),
    fc.integer(),
    fc.string(),
  )
  const aDamage = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), at: fc.nat(), value: anOddity }),
    fc.record({ kind: fc.constant('drop' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('add' as const), name: fc.string(), value: anOddity }),
    fc.record({ kind: fc.constant('swap' as const), at: fc.nat(), name: fc.string() }),
  )
  fc.assert(
    fc.property(aMessage, fc.array(aDamage, { maxLength: 2 }), (message, damages) => {
      const entry: Record<string, unknown> = JSON.parse(encodeMessage(message))
      for (const damage of damages) {
        const names = Object.keys(entry)
        const name = 'at' in damage ? (names[damage.at % names.length] ?? '') : damage.name
        if (name === 'v' || name === '__proto__') continue
        if (damage.kind === 'set' || damage.kind === 'add') entry[name] = damage.value
        else delete entry[name]
        if (damage.kind === 'swap' && damage.name !== '__proto__') entry[damage.name] = 1
      }
      const parsed = Entry.safeParse(entry)
      t.deepEqual(
        read(JSON.stringify(entry)),
        parsed.success
          ? { kind: 'ok', message: messageOf(parsed.data) }
          : { kind: 'malformed', reason: 'wrong_shape' },
      )
    }),
    { numRuns: 1000 },
  )
})

function messageOf(entry: z.infer<typeof Entry>): LogMessage {
  const { v, ...rest } = entry
  if (rest.kind === 'marker') {
    const { kind, ...marker } = rest
    return { kind, marker }
  }
  if (rest.kind === 'refold') {
    const { kind, ...refold } = rest
    return { kind, refold }
  }
  const { late, decoderVersion, ...record } = rest
  return { kind: 'record', record, late, decoderVersion }
}
