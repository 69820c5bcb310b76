import test from 'ava'
import bs58 from 'bs58'
import { addressFromBytes } from '../domain/address.ts'
import { createWallets } from '../domain/wallets.ts'
import { selectTracked } from './select-tracked.ts'

const [wallet, other] = [9, 8].map((byte) => addressFromBytes(new Uint8Array(32).fill(byte)))
if (wallet === undefined || other === undefined) throw new Error('two addresses')
const signature = new Uint8Array(64).fill(1)

const transaction = (accountKeys: readonly string[], meta: object = {}) => ({
  transaction: { signatures: [bs58.encode(signature)], message: { accountKeys } },
  meta,
})

test('the transactions that name a tracked wallet, in any field, are selected with their index', (t) => {
  const transactions = [
    transaction([other]),
    transaction([other, wallet]),
    transaction([other], { loadedAddresses: { writable: [wallet], readonly: [] } }),
    transaction([other], { loadedAddresses: { writable: [], readonly: [wallet] } }),
    transaction([other], { preTokenBalances: [{ owner: wallet }] }),
    transaction([other], { postTokenBalances: [{ owner: other }, { owner: wallet }] }),
    { transaction: { signatures: [], message: { accountKeys: [wallet] } } },
    null,
  ]
  const block = { slot: 11, parent: 10, blockTime: 5, blockId: 7n, transactions }
  const { transactions: selected, ...rest } = selectTracked(block, createWallets([wallet]))
  t.deepEqual(rest, { slot: 11, parent: 10, blockTime: 5, blockId: 7n })
  t.deepEqual(
    selected.map(({ index }) => index),
    [1, 2, 3, 4, 5],
  )
  t.like(selected[0], {
    key: Buffer.from(signature).toString('latin1'),
    item: { kind: 'rpc', slot: 11, index: 1, json: transactions[1] },
  })
})
