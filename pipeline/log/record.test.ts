import test from 'ava'
import fc from 'fast-check'
import { DECODER_VERSION } from '../domain/decoder-version.ts'
import { MAX_KEPT_BYTES } from '../domain/event.ts'
import type { WalletRecord } from '../domain/slot.ts'
import {
  ANY_RECORD,
  aRefold,
  aSlotMarker,
  aWalletRecord,
  aWithdrawal,
} from '../testing/arbitraries.ts'
import type { LogMessage } from './log-message.ts'
import { decodeMessage, encodeMessage } from './record.ts'

const aBlock = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const aMessage: fc.Arbitrary<LogMessage> = fc.oneof(
  aSlotMarker.map((marker) => ({ kind: 'marker' as const, marker })),
  aRefold.map((refold) => ({ kind: 'refold' as const, refold })),
  aWithdrawal.map((withdrawal) => ({ kind: 'withdrawal' as const, withdrawal })),
  aWalletRecord.map((record) => ({
    kind: 'record' as const,
    record,
    late: null,
    decoderVersion: 7,
  })),
  fc
    .tuple(
      aWalletRecord,
      fc.constantFrom('stream' as const, 'backfill' as const),
      fc.option(aBlock),
    )
    .map(([record, late, blockId]) => ({
      kind: 'record' as const,
      record,
      late,
      blockId,
      decoderVersion: 7,
    })),
)

const read = (entry: string | Buffer) =>
  decodeMessage(typeof entry === 'string' ? Buffer.from(entry) : entry)
const jsonOf = (message: LogMessage) => JSON.parse(String(encodeMessage(message)))

test('what is decoded is what was encoded', (t) => {
  fc.assert(
    fc.property(aMessage, (message) => {
      t.deepEqual(read(encodeMessage(message)), { kind: 'ok', message })
    }),
  )
})

test('a swap of format version 1 is written without its pool, and read as one without a known pool (rule K3)', (t) => {
  fc.assert(
    fc.property(ANY_RECORD.swap, (swap) => {
      const message = { kind: 'record' as const, record: swap, late: null, decoderVersion: 1 }
      const { pool, ...entry } = jsonOf(message)
      t.is(encodeMessage(message, 1), JSON.stringify({ ...entry, v: 1 }))
      t.deepEqual(read(encodeMessage(message, 1)), {
        kind: 'ok',
        message: { ...message, record: { ...swap, pool: null } },
      })
      t.is(read(JSON.stringify({ ...entry, pool, v: 1 })).kind, 'malformed')
      t.is(read(JSON.stringify(entry)).kind, 'malformed')
    }),
  )
})

test('a balance of format version 2 is written without the lamports before, and read as one of which the lamports before are not known (rule K3)', (t) => {
  fc.assert(
    fc.property(ANY_RECORD.balance, (balance) => {
      const message = { kind: 'record' as const, record: balance, late: null, decoderVersion: 1 }
      const { lamportsBefore, ...entry } = jsonOf(message)
      t.is(encodeMessage(message, 2), JSON.stringify({ ...entry, v: 2 }))
      t.deepEqual(read(encodeMessage(message, 2)), {
        kind: 'ok',
        message: { ...message, record: { ...balance, lamportsBefore: null } },
      })
      t.is(read(JSON.stringify({ ...entry, lamportsBefore, v: 2 })).kind, 'malformed')
      t.is(read(JSON.stringify(entry)).kind, 'malformed')
    }),
  )
})

test('entries before format version 3 know no block and nothing of finality (rule K9)', (t) => {
  const marker = { slot: 5, parent: 4, blockTime: 9, solPrice: null }
  t.deepEqual(read(JSON.stringify({ v: 2, kind: 'marker', ...marker })), {
    kind: 'ok',
    message: { kind: 'marker', marker: { ...marker, blockId: null, finalized: null } },
  })
  t.is(read(JSON.stringify({ v: 3, kind: 'marker', ...marker })).kind, 'malformed')
  const record = { kind: 'balance' as const, slot: 5, txIndex: 0, wallet: 1, blockTime: 9 }
  const entry = { v: 2, ...record, lamports: '7', late: 'stream', decoderVersion: 1 }
  t.deepEqual(read(JSON.stringify(entry)), {
    kind: 'ok',
    message: {
      kind: 'record',
      record: { ...record, lamports: 7n, lamportsBefore: null },
      late: 'stream',
      blockId: null,
      decoderVersion: 1,
    },
  })
  t.is(read(JSON.stringify({ ...entry, v: 3 })).kind, 'malformed')
})

test('the texts of a marker, a withdrawal and a refold request do not change', (t) => {
  const slots = { slot: 405_000_123, parent: 405_000_121, blockTime: 1_790_000_000 }
  const solPrice = { time: 1_789_999_990, usdE9: 150_000_000_001n }
  const start = '{"v":3,"kind":"marker","slot":405000123,"parent":405000121,"blockTime":1790000000'
  const texts: [string, LogMessage][] = [
    [
      `${start},"solPrice":null,"blockId":null,"finalized":null}`,
      { kind: 'marker', marker: { ...slots, solPrice: null, blockId: null, finalized: null } },
    ],
    [
      `${start},"solPrice":{"time":1789999990,"usdE9":"150000000001"},"blockId":"18446744073709551615","finalized":405000091}`,
      {
        kind: 'marker',
        marker: { ...slots, solPrice, blockId: 2n ** 64n - 1n, finalized: 405_000_091 },
      },
    ],
    [
      '{"v":3,"kind":"withdrawal","slot":405000123,"blockId":"7","solPrice":null,"rewind":null}',
      {
        kind: 'withdrawal',
        withdrawal: { slot: 405_000_123, blockId: 7n, solPrice: null, rewind: null },
      },
    ],
    [
      '{"v":3,"kind":"refold","wallet":12,"revision":3}',
      { kind: 'refold', refold: { wallet: 12, revision: 3 } },
    ],
  ]
  for (const [text, message] of texts) {
    t.is(encodeMessage(message), text)
    t.deepEqual(read(text), { kind: 'ok', message })
  }
})

test('a refold request names a wallet and a revision that can be reached', (t) => {
  const fields = { v: 3, kind: 'refold', wallet: 1, revision: 2 ** 21 - 1 }
  t.is(read(JSON.stringify(fields)).kind, 'ok')
  for (const wrong of [
    { revision: 0 },
    { revision: 1.5 },
    { revision: 2 ** 21 },
    { wallet: 0 },
    { wallet: '1' },
    { wallet: undefined },
    { extra: 1 },
  ])
    t.deepEqual(read(JSON.stringify({ ...fields, ...wrong })), {
      kind: 'malformed',
      reason: 'wrong_shape',
    })
})

test('any damage to an entry is refused with a reason, never thrown', (t) => {
  const text = String(
    encodeMessage({
      kind: 'marker',
      marker: {
        slot: 5,
        parent: 4,
        blockTime: 9,
        solPrice: { time: 8, usdE9: 150_000_000_000n },
        blockId: 7n,
        finalized: 3,
      },
    }),
  )
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

test('the bytes of a kept transaction follow its text', (t) => {
  fc.assert(
    fc.property(ANY_RECORD.kept, (record) => {
      if (record.kind !== 'kept') return t.fail()
      const { bytes, ...fields } = record
      const entry = Buffer.from(encodeMessage({ kind: 'record', record, late: null }))
      const end = entry.indexOf('\n')
      t.deepEqual(JSON.parse(entry.toString('utf8', 0, end)), {
        v: 3,
        ...fields,
        late: null,
        decoderVersion: DECODER_VERSION,
      })
      t.deepEqual(new Uint8Array(entry.subarray(end + 1)), bytes)
    }),
  )
})

test('bytes are refused where they are missing, too many, or of another record', (t) => {
  const refused = { kind: 'malformed', reason: 'wrong_shape' }
  const entryOf = (arbitrary: fc.Arbitrary<WalletRecord>) => {
    const [record] = fc.sample(arbitrary, { seed: 1, numRuns: 1 }) as [WalletRecord] // of one
    return Buffer.from(encodeMessage({ kind: 'record', record, late: null }))
  }
  const kept = entryOf(ANY_RECORD.kept)
  const text = kept.subarray(0, kept.indexOf('\n') + 1)
  const withBytes = (bytes: Buffer) => read(Buffer.concat([text, bytes]))
  t.is(withBytes(Buffer.alloc(0)).kind, 'ok')
  t.is(withBytes(Buffer.alloc(MAX_KEPT_BYTES, '\n')).kind, 'ok')
  t.deepEqual(withBytes(Buffer.alloc(MAX_KEPT_BYTES + 1)), refused)
  t.deepEqual(read(text.subarray(0, -1)), refused)
  t.deepEqual(read(Buffer.concat([entryOf(ANY_RECORD.swap), Buffer.from('\n7')])), refused)
})

test('an entry of a later format is not taken for a damaged one (rule K3)', (t) => {
  t.deepEqual(read('{"v":4,"kind":"something_new"}'), { kind: 'newer', version: 4 })
})
