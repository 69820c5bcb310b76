import { Transaction } from '@solana/web3.js'
import test from 'ava'
import bs58 from 'bs58'
import { startSimulator } from '../simulator.ts'
import { callRpc } from '../testing/client.ts'
import { createPayer, USDT_PUBKEY } from '../testing/payer.ts'
import { signVersion1, VERSION_1_PRIORITY_FEE } from '../testing/sign-version-1.ts'
import { transfer } from './token-instructions.ts'

const START = 405_000_000
const FULL = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 } as const

interface Told {
  readonly slot: number
  readonly meta: {
    readonly err: unknown
    readonly fee: number
    readonly preBalances: readonly number[]
    readonly postBalances: readonly number[]
    readonly preTokenBalances: readonly Balance[]
    readonly postTokenBalances: readonly Balance[]
    readonly innerInstructions: readonly unknown[]
  }
}
interface Balance {
  readonly owner: string
  readonly mint: string
  readonly uiTokenAmount: { readonly amount: string }
}

test('a signed transaction is executed, and is in the next block for all clients', async (t) => {
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({ clock, wallets: 5, coins: 40, othersPerSlot: 2 })
  t.teardown(() => simulator.close())
  const { pro } = simulator.paymentAddresses
  const payer = await createPayer(simulator, 10_000_000n)
  const signature = await payer.pay(pro, 4_000_001n)
  t.is(await callRpc(simulator, 'getTransaction', signature, FULL), null)
  simulator.advance(1)
  const status = { slot: START + 1, confirmations: 0, err: null, status: { Ok: null } }
  t.deepEqual(
    ((await callRpc(simulator, 'getSignatureStatuses', [signature])) as { value: unknown }).value,
    [{ ...status, confirmationStatus: 'processed' }],
  )
  simulator.advance(1)
  const told = (await callRpc(simulator, 'getTransaction', signature, FULL)) as Told
  t.is(told.slot, START + 1)
  const { err, fee, innerInstructions } = told.meta
  t.deepEqual([err, fee], [null, 5000])
  t.true(innerInstructions.length > 0)
  const usdt = ({ owner, mint, uiTokenAmount }: Balance) => [owner, mint, uiTokenAmount.amount]
  const mint = USDT_PUBKEY.toBase58()
  t.deepEqual(told.meta.preTokenBalances.map(usdt), [[payer.address, mint, '10000000']])
  t.deepEqual(
    told.meta.postTokenBalances.map(usdt).toSorted(),
    [
      [payer.address, mint, '5999999'],
      [pro, mint, '4000001'],
    ].toSorted(),
  )
  const block = (await callRpc(simulator, 'getBlock', START + 1, {
    ...FULL,
    transactionDetails: 'signatures',
  })) as { signatures: string[] }
  t.is(block.signatures.at(-1), signature)
  const listed = (await callRpc(simulator, 'getSignaturesForAddress', pro, FULL)) as {
    signature: string
  }[]
  t.deepEqual(
    listed.map((entry) => entry.signature),
    [signature],
  )
  const accounts = (await callRpc(simulator, 'getTokenAccountsByOwner', pro, { mint }, FULL)) as {
    value: { account: { data: [string, string] } }[]
  }
  t.is(accounts.value.length, 1)

  // Preflight refuses it, unless the sender skips preflight.
  const tooMuch = [transfer(payer.usdt, payer.usdt, payer.key.publicKey, 99_000_000n)]
  await t.throwsAsync(payer.send(tooMuch), { message: /-32002.*Custom/ })
  const failed = await payer.send(tooMuch, { skipPreflight: true })
  simulator.advance(2)
  const { meta } = (await callRpc(simulator, 'getTransaction', failed, FULL)) as Told
  t.deepEqual([meta.err, meta.fee], [{ InstructionError: [0, { Custom: 1 }] }, 5000])
  const garbage = await callRpc(simulator, 'sendTransaction', 'AAAA', { encoding: 'base64' })
  t.like(garbage, { error: { code: -32_602 } })
})

test('a transaction of version 1 is executed, once, and refused with another signature', async (t) => {
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({ clock, wallets: 5, coins: 40, othersPerSlot: 2 })
  t.teardown(() => simulator.close())
  const payer = await createPayer(simulator, 10_000_000n)
  const { publicKey } = payer.key
  const tx = new Transaction().add(transfer(payer.usdt, payer.usdt, publicKey, 5n))
  tx.recentBlockhash = publicKey.toBase58()
  tx.feePayer = publicKey
  const wire = Buffer.from(signVersion1(tx, [payer.key]), 'base64')
  const send = (bytes: Uint8Array) =>
    callRpc(simulator, 'sendTransaction', Buffer.from(bytes).toString('base64'), {
      encoding: 'base64',
    })
  const changed = Uint8Array.from(wire)
  changed[wire.length - 1] = changed[wire.length - 1]! ^ 1
  t.like(await send(changed), { error: { code: -32_002 } })
  t.like(await send(wire.subarray(0, -1)), { error: { code: -32_602 } })
  const signature = bs58.encode(wire.subarray(-64))
  t.deepEqual([await send(wire), await send(wire)], [signature, signature])
  simulator.advance(2)
  const told = await callRpc(simulator, 'getTransaction', signature, FULL)
  const fee = 5_000 + VERSION_1_PRIORITY_FEE
  t.like(told, { version: 1, meta: { err: null, fee }, transaction: { signatures: [signature] } })
  const block = (await callRpc(simulator, 'getBlock', START + 1, FULL)) as {
    transactions: { transaction: { signatures: string[] } }[]
  }
  const sent = block.transactions.map(({ transaction }) => transaction.signatures[0])
  t.is(sent.filter((one) => one === signature).length, 1)
})
