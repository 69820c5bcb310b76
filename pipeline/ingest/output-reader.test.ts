import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import { readTransactions } from './output-reader.ts'
import type { RawTransaction } from './wire/raw-transaction.ts'

const raw = (index: number, signature: number, keys = 1): RawTransaction => {
  const accountKeys = Array.from({ length: keys }, () => new Uint8Array(32).fill(9))
  const update = {
    transaction: {
      slot: '11',
      transaction: {
        signature: new Uint8Array(64).fill(signature),
        index: String(index),
        transaction: { message: { header: { numRequiredSignatures: 1 }, accountKeys } },
        meta: { fee: '5000', preBalances: ['7'], postBalances: ['6'] },
      },
    },
  }
  // The generated type of a partial message does not accept literals.
  const bytes = SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()
  return { kind: 'grpc', bytes }
}

test('of several copies of a transaction the first well-formed one is read', (t) => {
  const { transactions, malformed } = readTransactions([
    raw(0, 1, 2), // two keys and one balance
    raw(0, 1),
    raw(0, 1),
    raw(0, 2),
    raw(1, 2),
  ])
  t.deepEqual(
    transactions.map(({ index, signature }) => [index, signature[0]]),
    [
      [0, 1],
      [0, 2],
      [1, 2],
    ],
  )
  t.deepEqual(
    malformed.map(({ index, reason }) => [index, reason]),
    [[0, 'bad_balances']],
  )
})
