import test from 'ava'
import fc from 'fast-check'
import { address } from '../domain/address.ts'
import type { WalletRecord } from '../domain/slot.ts'
import { aRefold, aSlotMarker, aWalletRecord } from '../testing/arbitraries.ts'
import { decodeMessage, encodeMessage, type LogMessage } from './record.ts'

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
    '{"v":1,"kind":"token_transfer","slot":7,"txIndex":3,"wallet":12,"eventIndex":0,"blockTime":1700000000,' +
      `"signature":"${'1'.repeat(64)}","direction":"in","mint":"So11111111111111111111111111111111111111112",` +
      '"amount":"340282366920938463463374607431768211455","decimals":9,"late":"stream","decoderVersion":3}',
  )
})

test('a request to fold a wallet anew names a revision that can be reached', (t) => {
  const text = '{"v":1,"kind":"refold","wallet":12,"revision":3}'
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
    ...{ kind: 'kept', slot: 1, txIndex: 0, wallet: 1, blockTime: 1, signature: '1'.repeat(64) },
    ...{ format: 1, bytes: Uint8Array.of(1, 2, 3, 4) },
  }
  const text = encodeMessage({ kind: 'record', record, late: null })
  t.true(text.endsWith('"bytes":"AQIDBA=="}'))
  t.is(read(text).kind, 'ok')
  for (const bytes of ['AQIDBA', 'AQIDBA=', 'AQID BA==', 'AQI*BA==', 'AQIDB', '='])
    t.is(read(text.replace('AQIDBA==', bytes)).kind, 'malformed', bytes)
})

test('an entry of a later format is not taken for a damaged one (decisions K3)', (t) => {
  t.deepEqual(read('{"v":2,"kind":"something_new"}'), { kind: 'newer', version: 2 })
})
