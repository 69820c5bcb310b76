import test from 'ava'
import bs58 from 'bs58'
import type { UpdateEnvelope } from '../wire/update-envelope.ts'
import { streamEvent } from './stream-event.ts'

const bytes = new Uint8Array(7)
const eventOf = (envelope: UpdateEnvelope) => streamEvent(envelope, bytes)

test('a transaction stays encoded, with its key, index and size', (t) => {
  t.deepEqual(eventOf({ kind: 'transaction', slot: 11, index: 3, key: 'signature' }), {
    kind: 'transaction',
    slot: 11,
    transaction: { key: 'signature', index: 3, bytes: 7, item: { kind: 'grpc', bytes } },
  })
})

test('a block meta without a time, or with a parent that is not below it, is ignored', (t) => {
  const meta = { kind: 'meta', slot: 11, parent: 10, blockTime: 5 } as const
  const blockhash = bs58.encode(Buffer.alloc(32, 1))
  const read = { ...meta, blockId: 0x0101010101010101n }
  t.deepEqual(eventOf({ ...meta, blockhash }), read)
  t.deepEqual(eventOf({ ...meta, blockhash: '' }), { ...read, blockId: null })
  t.is(eventOf({ ...meta, blockhash, blockTime: null }), null)
  t.is(eventOf({ ...meta, blockhash, parent: 11 }), null)
})

test('of statuses and other updates only confirmed and dead slots matter', (t) => {
  t.deepEqual(eventOf({ kind: 'slot', slot: 11, status: 'confirmed' }), {
    kind: 'confirmed',
    slot: 11,
  })
  t.deepEqual(eventOf({ kind: 'slot', slot: 11, status: 'dead' }), { kind: 'dead', slot: 11 })
  t.is(eventOf({ kind: 'slot', slot: 11, status: 'other' }), null)
  t.is(eventOf({ kind: 'pong' }), null)
})
