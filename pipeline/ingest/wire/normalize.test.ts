import { isDeepStrictEqual } from 'node:util'
import {
  SubscribeUpdate,
  type SubscribeUpdateTransaction,
  SubscribeUpdateTransactionInfo,
} from '@triton-one/yellowstone-grpc'
import test from 'ava'
import fc from 'fast-check'
import type { Malformed, Transaction } from '../../domain/transaction.ts'
import { aTransaction } from '../../testing/a-transaction.ts'
import { readCorpus } from '../../testing/corpus.ts'
import { plain, toBase64Json, toGrpcUpdate } from '../../testing/encodings.ts'
import { toParsedJson } from '../../testing/parsed-encoding.ts'
import { encodeTransactionInfo } from './encode-transaction-info.ts'
import { normalizeGrpc } from './normalize-grpc.ts'
import { normalizeRpc } from './normalize-rpc.ts'
import { normalize } from './raw-transaction.ts'

const recorded = readCorpus()
const onCorpus = recorded.length > 0 ? test : test.skip
const inJson = recorded.filter(({ encoding }) => encoding === 'json')

onCorpus('a transaction is the same value from Yellowstone protobuf as from RPC JSON', (t) => {
  for (const { json, tx } of inJson) {
    t.deepEqual(plain(normalizeGrpc(toGrpcUpdate(json, tx.slot, tx.index))), plain(tx))
  }
})

onCorpus('a transaction is the same value in base64 as in json', (t) => {
  for (const { json, tx } of inJson) {
    t.deepEqual(plain(normalizeRpc(toBase64Json(json), tx)), plain(tx))
  }
})

onCorpus(
  'a stored transaction equals the transaction it was made of, for every source (rule K4)',
  (t) => {
    const same = (tx: Transaction | Malformed) => {
      if (tx.kind === 'malformed') return t.fail(tx.reason)
      const kept = normalize({ kind: 'kept', slot: tx.slot, bytes: tx.encoded() })
      if (!isDeepStrictEqual(plain(kept), plain(tx))) t.deepEqual(plain(kept), plain(tx))
      // Storing a stored transaction does not change it.
      t.is(Buffer.compare(aTransaction(kept).encoded(), tx.encoded()), 0)
    }
    for (const { json, tx, encoding } of recorded) {
      same(tx)
      if (encoding !== 'json') continue
      same(normalizeRpc(toBase64Json(json), tx))
      const update = SubscribeUpdate.fromPartial({
        transaction: toGrpcUpdate(json, tx.slot, tx.index),
      })
      same(normalize({ kind: 'grpc', bytes: SubscribeUpdate.encode(update).finish() }))
    }
  },
)

onCorpus('what is kept of an RPC answer is what the stream would have brought (rule K4)', (t) => {
  for (const { json, tx } of inJson) {
    const info = SubscribeUpdateTransactionInfo.decode(Buffer.from(tx.encoded()))
    const update = toGrpcUpdate(json, tx.slot, tx.index).transaction!
    t.true(isDeepStrictEqual(info.transaction, update.transaction), tx.slot.toString())
    // The bytes equal those of the generated code.
    t.is(Buffer.compare(SubscribeUpdateTransactionInfo.encode(info).finish(), tx.encoded()), 0)
    const fromBytes = aTransaction(normalizeRpc(toBase64Json(json), tx))
    t.is(Buffer.compare(fromBytes.encoded(), tx.encoded()), 0)
  }
})

test('numbers up to 2^64 - 1 and any text are stored unchanged (rule K4)', (t) => {
  const u64 = fc.bigInt(0n, 2n ** 64n - 1n)
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.nat(70_000).map((length) => 'Program log: ü'.repeat(length / 14)),
  )
  fc.assert(
    fc.property(u64, u64, u64, fc.array(line, { maxLength: 4 }), (fee, before, after, logs) => {
      const bytes = encodeTransactionInfo({
        kind: 'transaction',
        slot: 5,
        index: 2 ** 40,
        signature: new Uint8Array(64).fill(1),
        failed: true,
        accountKeys: [new Uint8Array(32)],
        signerCount: 1,
        fee,
        logs,
        innerKept: true,
        lamportsBefore: () => before,
        lamportsAfter: () => after,
        tokenOwners: [],
        preTokenBalances: [],
        postTokenBalances: [],
        instructions: [],
      })
      const { meta, index } = SubscribeUpdateTransactionInfo.decode(Buffer.from(bytes))
      t.is(index, String(2 ** 40))
      t.deepEqual(
        [meta?.fee, meta?.preBalances, meta?.postBalances, meta?.logMessages],
        [String(fee), [String(before)], [String(after)], logs],
      )
    }),
  )
})

onCorpus('instructions that a node has parsed are put back into the bytes they came from', (t) => {
  for (const { json, tx } of inJson) {
    const parsed = normalizeRpc(toParsedJson(json), tx)
    t.deepEqual(plain(parsed), plain(tx))
  }
})

test('an incomplete or contradictory transaction is malformed, with the reason', (t) => {
  const update = (change: (info: Info) => void) => {
    const made = {
      slot: '5',
      transaction: {
        signature: new Uint8Array(64),
        isVote: false,
        index: '2',
        transaction: {
          signatures: [new Uint8Array(64)],
          message: {
            header: {
              numRequiredSignatures: 1,
              numReadonlySignedAccounts: 0,
              numReadonlyUnsignedAccounts: 0,
            },
            accountKeys: [new Uint8Array(32), new Uint8Array(32).fill(1)],
            recentBlockhash: new Uint8Array(32),
            instructions: [
              { programIdIndex: 1, accounts: Uint8Array.of(0), data: new Uint8Array() },
            ],
            versioned: false,
            addressTableLookups: [],
          },
        },
        meta: {
          err: undefined,
          fee: '5000',
          preBalances: ['9', '1'],
          postBalances: ['4', '1'],
          innerInstructions: [],
          innerInstructionsNone: false,
          logMessages: [],
          logMessagesNone: false,
          preTokenBalances: [],
          postTokenBalances: [],
          rewards: [],
          loadedWritableAddresses: [],
          loadedReadonlyAddresses: [],
          returnData: undefined,
          returnDataNone: true,
        },
      },
    } satisfies SubscribeUpdateTransaction
    change(made.transaction)
    const result = normalizeGrpc(made)
    return result.kind === 'malformed' ? result.reason : result.kind
  }
  const message = (info: Info) => info.transaction!.message!
  t.is(
    update(() => {}),
    'transaction',
  )
  t.is(
    update((info) => {
      info.transaction = undefined
    }),
    'not_a_transaction',
  )
  t.is(
    update((info) => {
      info.meta = undefined
    }),
    'no_meta',
  )
  t.is(
    update((info) => {
      info.index = ''
    }),
    'transaction',
  )
  t.is(
    update((info) => {
      info.index = 'x'
    }),
    'bad_place',
  )
  t.is(
    update((info) => {
      info.signature = new Uint8Array(63)
    }),
    'bad_signature',
  )
  t.is(
    update((info) => {
      message(info).accountKeys.push(new Uint8Array(31))
    }),
    'bad_account_keys',
  )
  t.is(
    update((info) => {
      message(info).header!.numRequiredSignatures = 3
    }),
    'bad_account_keys',
  )
  t.is(
    update((info) => {
      info.meta!.postBalances.pop()
    }),
    'bad_balances',
  )
  t.is(
    update((info) => {
      message(info).instructions[0]!.accounts = Uint8Array.of(2)
    }),
    'bad_instruction',
  )
  t.is(
    update((info) => {
      message(info).instructions[0]!.programIdIndex = 2
    }),
    'bad_instruction',
  )
  t.is(
    update((info) => {
      info.meta!.innerInstructions = [{ index: 1, instructions: [] }]
    }),
    'bad_instruction',
  )
  const balance = (accountIndex: number, amount: string) => ({
    accountIndex,
    mint: 'So11111111111111111111111111111111111111112',
    owner: '',
    programId: '',
    uiTokenAmount: { amount, decimals: 9, uiAmount: 0, uiAmountString: '' },
  })
  t.is(
    update((info) => {
      info.meta!.preTokenBalances = [balance(2, '1')]
    }),
    'bad_token_balance',
  )
  t.is(
    update((info) => {
      info.meta!.preTokenBalances = [balance(1, '1e3')]
    }),
    'bad_token_balance',
  )
  t.is(normalizeRpc(null).kind, 'malformed')
  t.deepEqual(normalizeRpc({ transaction: ['AAAA', 'base32'], slot: 3 }), {
    kind: 'malformed',
    slot: 3,
    index: 0,
    signature: null,
    reason: 'unknown_encoding',
  })
})

type Info = NonNullable<SubscribeUpdateTransaction['transaction']>
