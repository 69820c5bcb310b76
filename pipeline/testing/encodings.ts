import bs58 from 'bs58'
import type { JsonTransaction } from '../../infra/corpus/to-grpc-update.ts'
import type { Malformed, TokenBalance, Transaction } from '../domain/transaction.ts'

export { toGrpcUpdate } from '../../infra/corpus/to-grpc-update.ts'

/**
 * Returns an RPC response in the `base64` encoding: the transaction as signed, the rest unchanged.
 */
export function toBase64Json(json: unknown): unknown {
  const { transaction, version } = json as JsonTransaction // taken from the corpus
  const { message, signatures } = transaction
  const parts: Uint8Array[] = []
  const count = (value: number) => {
    const bytes: number[] = []
    for (let left = value; ; left >>= 7) {
      if (left < 0x80) {
        bytes.push(left)
        break
      }
      bytes.push((left & 0x7f) | 0x80)
    }
    parts.push(Uint8Array.from(bytes))
  }
  const sized = (bytes: Uint8Array) => {
    count(bytes.length)
    parts.push(bytes)
  }
  count(signatures.length)
  for (const signature of signatures) parts.push(bs58.decode(signature))
  if (version === 0) parts.push(Uint8Array.of(0x80))
  const { header } = message
  parts.push(
    Uint8Array.of(
      header.numRequiredSignatures,
      header.numReadonlySignedAccounts,
      header.numReadonlyUnsignedAccounts,
    ),
  )
  count(message.accountKeys.length)
  for (const key of message.accountKeys) parts.push(bs58.decode(key))
  parts.push(bs58.decode(message.recentBlockhash))
  count(message.instructions.length)
  for (const { programIdIndex, accounts, data } of message.instructions) {
    parts.push(Uint8Array.of(programIdIndex))
    sized(Uint8Array.from(accounts))
    sized(bs58.decode(data))
  }
  if (version === 0) {
    const lookups = message.addressTableLookups ?? []
    count(lookups.length)
    for (const { accountKey, writableIndexes, readonlyIndexes } of lookups) {
      parts.push(bs58.decode(accountKey))
      sized(Uint8Array.from(writableIndexes))
      sized(Uint8Array.from(readonlyIndexes))
    }
  }
  return { ...(json as object), transaction: [Buffer.concat(parts).toString('base64'), 'base64'] }
}

/** Returns all fields of a transaction as plain values, including lazily built ones. */
export function plain(value: Transaction | Malformed) {
  if (value.kind === 'malformed') return value
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const balance = ({ accountIndex, mint, owner, amount, decimals }: TokenBalance) => ({
    accountIndex,
    mint,
    owner,
    amount,
    decimals,
  })
  const { slot, index, failed, signerCount, fee, innerKept, logs, tokenOwners } = value
  return {
    slot,
    index,
    signature: hex(value.signature),
    failed,
    signerCount,
    fee,
    innerKept,
    logs,
    tokenOwners,
    accountKeys: value.accountKeys.map(hex),
    before: value.accountKeys.map((_, i) => value.lamportsBefore(i)),
    after: value.accountKeys.map((_, i) => value.lamportsAfter(i)),
    preTokenBalances: value.preTokenBalances.map(balance),
    postTokenBalances: value.postTokenBalances.map(balance),
    instructions: value.instructions.map(({ programIndex, accounts, data, stackHeight }) => ({
      programIndex,
      accounts: hex(accounts),
      data: hex(data),
      stackHeight,
    })),
  }
}
