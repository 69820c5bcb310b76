import { existsSync, readFileSync } from 'node:fs'
import { SubscribeRequest, SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import fc from 'fast-check'
import { addressFromBytes } from '../../domain/address.ts'
import { createWallets } from '../../domain/wallets.ts'
import { pingRequest, subscribeRequest } from '../stream/subscribe-request.ts'
import { readEnvelope } from './update-envelope.ts'

// The generated type of a partial message does not accept literals.
const encode = (update: object) =>
  SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()
const signature = Uint8Array.from({ length: 64 }, (_, at) => 255 - at)
const createdAt = new Date()
const key = Buffer.from(signature).toString('latin1')

test('the envelope of each kind of update is read from its bytes', (t) => {
  const cases = [
    [
      {
        transaction: { slot: '432104870', transaction: { signature, index: '300', isVote: false } },
      },
      { kind: 'transaction', slot: 432104870, index: 300, key },
    ],
    [
      { transaction: { slot: '7', transaction: { signature } } },
      { kind: 'transaction', slot: 7, index: 0, key },
    ],
    [
      {
        blockMeta: {
          slot: '9007199254740991',
          parentSlot: '9007199254740990',
          blockTime: { timestamp: '1700000000' },
          blockhash: 'x',
          parentBlockhash: 'y',
        },
      },
      {
        kind: 'meta',
        slot: 9007199254740991,
        parent: 9007199254740990,
        blockTime: 1700000000,
        blockhash: 'x',
      },
    ],
    [
      { blockMeta: { slot: '5', parentSlot: '4' } },
      { kind: 'meta', slot: 5, parent: 4, blockTime: null, blockhash: '' },
    ],
    [{ slot: { slot: '5', status: 1 } }, { kind: 'slot', slot: 5, status: 'confirmed' }],
    [{ slot: { slot: '5', status: 2 } }, { kind: 'slot', slot: 5, status: 'confirmed' }],
    [{ slot: { slot: '5' } }, { kind: 'slot', slot: 5, status: 'other' }],
    [{ slot: { slot: '5', status: 6, deadError: 'e' } }, { kind: 'slot', slot: 5, status: 'dead' }],
    [
      {
        account: {
          slot: '5',
          account: {
            pubkey: signature.subarray(0, 32),
            owner: signature.subarray(32),
            data: signature,
            writeVersion: '99',
          },
        },
      },
      {
        kind: 'account',
        slot: 5,
        key: Buffer.from(signature.subarray(0, 32)).toString('latin1'),
        owner: Buffer.from(signature.subarray(32)).toString('latin1'),
        writeVersion: 99,
        data: signature,
      },
    ],
    [{ ping: {} }, { kind: 'ping' }],
    [{ pong: { id: 3 } }, { kind: 'pong' }],
    [{ entry: { slot: '5' } }, { kind: 'other' }],
  ] as const
  for (const [update, expected] of cases) {
    const read = (bytes: Uint8Array) => {
      const envelope = readEnvelope(bytes)
      if (envelope?.kind !== 'account') return envelope
      return {
        ...envelope,
        data: Uint8Array.from(envelope.data),
      }
    }
    t.deepEqual(read(encode({ filters: ['wallets-1'], ...update, createdAt })), expected as never)
  }
})

test('bytes that are no update read as null, and no bytes throw', (t) => {
  t.is(readEnvelope(new Uint8Array()), null)
  t.is(
    readEnvelope(
      encode({ transaction: { slot: '5', transaction: { signature: signature.subarray(1) } } }),
    ),
    null,
  )
  t.is(readEnvelope(encode({ slot: { slot: '18446744073709551615', status: 1 } })), null)
  const whole = encode({ transaction: { slot: '5', transaction: { signature, index: '1' } } })
  for (let length = 0; length < whole.length; length++) {
    t.is(readEnvelope(whole.subarray(0, length)), null)
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      readEnvelope(bytes)
    }),
  )
})

const RECORDED =
  '../shared/corpus/blocks/yellowstone-vixen.SubscribeUpdate.slots398202772-398202821.lenprefixed.bin'
const recorded = existsSync(RECORDED) ? test : test.skip
recorded('recorded updates of 50 slots read as the package decodes them', (t) => {
  const file = readFileSync(RECORDED)
  let metas = 0
  for (let at = 0; at < file.length; ) {
    const length = file.readUInt32BE(at)
    const bytes = file.subarray(at + 4, at + 4 + length)
    at += 4 + length
    const update = SubscribeUpdate.decode(bytes)
    const envelope = readEnvelope(bytes)
    if (update.blockMeta !== undefined) {
      metas++
      t.like(envelope, {
        kind: 'meta',
        slot: Number(update.blockMeta.slot),
        parent: Number(update.blockMeta.parentSlot),
        blockTime: Number(update.blockMeta.blockTime?.timestamp),
        blockhash: update.blockMeta.blockhash,
      })
    } else if (update.slot !== undefined) {
      const status =
        ({ 1: 'confirmed', 2: 'confirmed', 6: 'dead' } as const)[update.slot.status as 1] ?? 'other'
      t.like(envelope, { kind: 'slot', slot: Number(update.slot.slot), status })
    } else {
      t.is(envelope?.kind, update.ping === undefined ? 'other' : 'ping')
    }
  }
  t.true(metas > 40)
})

const walletsOf = (count: number) =>
  createWallets(
    Array.from({ length: count }, (_, at) => {
      const bytes = new Uint8Array(32).fill(255)
      new DataView(bytes.buffer).setUint32(0, at + 1)
      return addressFromBytes(bytes)
    }),
  )
const pool = addressFromBytes(new Uint8Array(32).fill(7))

test('the request covers wallets, metas, confirmed statuses and accounts, and survives encoding', (t) => {
  const wallets = walletsOf(3)
  const request = subscribeRequest({ wallets, accounts: [pool], fromSlot: 77 })
  const sent = SubscribeRequest.decode(SubscribeRequest.encode(request).finish())
  t.deepEqual(sent.transactions['wallets-1']?.accountInclude, [1, 2, 3].map(wallets.addressOf))
  t.deepEqual(
    {
      tokenAccounts: sent.transactions['wallets-1']?.tokenAccounts,
      failed: sent.transactions['wallets-1']?.failed,
      vote: sent.transactions['wallets-1']?.vote,
      accounts: sent.accounts.accounts?.account,
      slots: sent.slots,
      commitment: sent.commitment,
      fromSlot: sent.fromSlot,
      blocks: sent.blocks,
    },
    {
      tokenAccounts: 1,
      failed: undefined,
      vote: undefined,
      accounts: [pool],
      slots: { slots: { filterByCommitment: true, interslotUpdates: undefined } },
      commitment: 1,
      fromSlot: '77',
      blocks: {},
    },
  )
  t.deepEqual(Object.keys(request.blocksMeta), ['metas'])
  t.is(subscribeRequest({ wallets, accounts: [], fromSlot: null }).fromSlot, undefined)
})

test('payment addresses have a filter of their own, by account key and by owner', (t) => {
  const payments = [pool]
  const { transactions } = subscribeRequest({
    wallets: walletsOf(2),
    accounts: [],
    fromSlot: null,
    payments,
  })
  t.deepEqual(Object.keys(transactions), ['wallets-1', 'payments-1'])
  t.like(transactions['payments-1'], { accountInclude: [pool], tokenAccounts: 1 })
})

test('without wallets there is no filter, which would match all transactions', (t) => {
  t.deepEqual(
    subscribeRequest({ wallets: walletsOf(0), accounts: [], fromSlot: null }).transactions,
    {},
  )
})

test('10,000 wallets fit in half a megabyte and are split into filters of any size', (t) => {
  const wallets = walletsOf(10_000)
  const whole = subscribeRequest({ wallets, accounts: [pool], fromSlot: null })
  t.true(SubscribeRequest.encode(whole).finish().length < 500_000)
  t.is(Object.keys(whole.transactions).length, 1)
  const parts = subscribeRequest({
    wallets,
    accounts: [],
    fromSlot: null,
    addressesPerFilter: 3000,
  })
  t.deepEqual(
    Object.entries(parts.transactions).map(([name, filter]) => [
      name,
      filter.accountInclude.length,
    ]),
    [
      ['wallets-1', 3000],
      ['wallets-2', 3000],
      ['wallets-3', 3000],
      ['wallets-4', 1000],
    ],
  )
})

test('a ping changes no filter', (t) => {
  t.deepEqual(
    Object.values(pingRequest(5)).filter((part) => Object.keys(part ?? {}).length > 0),
    [{ id: 5 }],
  )
})
