import { ed25519 } from '@noble/curves/ed25519'
import type { Keypair, Transaction } from '@solana/web3.js'
import bs58 from 'bs58'
import { toBase64Json } from '../../corpus/to-base64-json.ts'

/** The priority fee of a transaction that `signVersion1` signs, in lamports. */
export const VERSION_1_PRIORITY_FEE = 1_234

/**
 * Signs a transaction as one of version 1 and returns its bytes, base64. web3.js 1 knows no version
 * 1, but a legacy message has the same parts in the same order.
 */
export function signVersion1(tx: Transaction, signers: readonly Keypair[]): string {
  const { header, accountKeys, recentBlockhash, instructions } = tx.compileMessage()
  const message = {
    header,
    accountKeys: accountKeys.map((key) => key.toBase58()),
    recentBlockhash,
    instructions,
    transactionConfig: {
      priorityFee: VERSION_1_PRIORITY_FEE,
      computeUnitLimit: 400_000,
      loadedAccountsDataSizeLimit: 64 * 1024 * 1024,
      heapSize: null,
    },
  }
  const encode = (signatures: readonly string[]) => {
    const json = toBase64Json({ version: 1, transaction: { signatures, message } })
    return (json as { transaction: [string, string] }).transaction[0]
  }
  const unsigned = Buffer.from(encode([]), 'base64')
  const keyOf = new Map(signers.map((key) => [key.publicKey.toBase58(), key.secretKey]))
  const signatures = message.accountKeys
    .slice(0, header.numRequiredSignatures)
    .map((address) => bs58.encode(ed25519.sign(unsigned, keyOf.get(address)!.subarray(0, 32))))
  return encode(signatures)
}
