import { address, getCompiledTransactionMessageEncoder } from '@solana/kit'
import bs58 from 'bs58'
import type { WireTransaction } from '../../pipeline/ingest/wire/wire-transaction.ts'

/**
 * Returns an RPC response in the `base64` encoding: the transaction as signed, the rest unchanged.
 */
export function toBase64Json(json: unknown): unknown {
  const signed = json as WireTransaction // built by tests or taken from the corpus
  const bytes = signed.version === 1 ? version1Bytes(signed) : legacyOrVersion0Bytes(signed)
  return { ...signed, transaction: [Buffer.from(bytes).toString('base64'), 'base64'] }
}

function legacyOrVersion0Bytes({ transaction, version }: WireTransaction): Uint8Array {
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
  return Buffer.concat(parts)
}

/** The bytes of a version 1 transaction, written by the codec of `@solana/kit`. */
function version1Bytes({ transaction }: WireTransaction): Uint8Array {
  const { message, signatures } = transaction
  const { header, accountKeys, transactionConfig: config } = message
  const instructions = message.instructions.map(({ programIdIndex, accounts, data }) => ({
    programIdIndex,
    accounts: [...accounts],
    data: bs58.decode(data),
  }))
  const words = [
    config?.computeUnitLimit,
    config?.loadedAccountsDataSizeLimit,
    config?.heapSize,
  ].map((value, at) => ({ bit: 0b100 << at, value }))
  const fee = config?.priorityFee ?? null
  const compiled = {
    version: 1 as const,
    header: {
      numSignerAccounts: header.numRequiredSignatures,
      numReadonlySignerAccounts: header.numReadonlySignedAccounts,
      numReadonlyNonSignerAccounts: header.numReadonlyUnsignedAccounts,
    },
    configMask: words.reduce(
      (mask, { bit, value }) => (value == null ? mask : mask | bit),
      fee === null ? 0 : 0b11,
    ),
    configValues: [
      ...(fee === null ? [] : [{ kind: 'u64' as const, value: BigInt(fee) }]),
      ...words.flatMap(({ value }) => (value == null ? [] : { kind: 'u32' as const, value })),
    ],
    lifetimeToken: message.recentBlockhash,
    numInstructions: instructions.length,
    numStaticAccounts: accountKeys.length,
    staticAccounts: accountKeys.map((key) => address(key)),
    instructionHeaders: instructions.map(({ programIdIndex, accounts, data }) => ({
      programAccountIndex: programIdIndex,
      numInstructionAccounts: accounts.length,
      numInstructionDataBytes: data.length,
    })),
    instructionPayloads: instructions.map(({ accounts, data }) => ({
      instructionAccountIndices: accounts,
      instructionData: data,
    })),
  }
  const messageBytes = getCompiledTransactionMessageEncoder().encode(compiled)
  return Buffer.concat([
    Uint8Array.from(messageBytes),
    ...signatures.map((text) => bs58.decode(text)),
  ])
}
