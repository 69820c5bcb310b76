import { decodeBase58 } from '../../domain/base58.ts'
import type { Instruction, TokenBalance, Transaction } from '../../domain/transaction.ts'
import { fieldOf, isObjectOrArray, itemsOf } from './json-field.ts'
import { ProtoWriter } from './proto-writer.ts'

/**
 * Encodes a transaction that came over RPC as Yellowstone would have sent it: the message
 * `SubscribeUpdateTransactionInfo` of `geyser.proto`, without its slot.
 *
 * All fields that the decoder reads come from `tx`. `json`, the RPC result that `tx` was read from,
 * adds the other fields: blockhash, lookups, the config of version 1, all signatures, return data,
 * compute units, token programs. RPC does not return the bytes of an error, so the error of a
 * failed transaction is empty.
 */
export function encodeTransactionInfo(
  tx: Omit<Transaction, 'encoded'>,
  json?: unknown,
): Uint8Array {
  const message = fieldOf(fieldOf(json, 'transaction'), 'message')
  const meta = fieldOf(json, 'meta')
  const keys = splitKeys(tx, message, meta)
  const signatures = itemsOf(fieldOf(fieldOf(json, 'transaction'), 'signatures'))
  writeBytes(1, tx.signature)
  out.message(3, () => {
    out.bytesOf(1, tx.signature)
    for (const signature of signatures.slice(1)) out.bytesOf(1, bytesOf(signature))
    out.message(2, () => writeMessage(tx, keys.staticKeys, message, fieldOf(json, 'version')))
  })
  out.message(4, () => writeMeta(tx, keys, meta))
  writeUint(5, tx.index)
  return out.finish()
}

/** Shared by all calls: a transaction is written synchronously. */
const out = new ProtoWriter()

// Writers of proto3 fields, which are omitted when they have their default value.

function writeUint(field: number, value: number | bigint): void {
  if (value > 0) out.uint(field, value)
}

function writeBytes(field: number, value: Uint8Array): void {
  if (value.length > 0) out.bytesOf(field, value)
}

function writeText(field: number, value: string): void {
  if (value !== '') out.text(field, value)
}

function writeFlag(field: number, value: boolean): void {
  if (value) out.uint(field, 1)
}

/** `Message`. */
function writeMessage(
  tx: Omit<Transaction, 'encoded'>,
  staticKeys: readonly Uint8Array[],
  message: unknown,
  version: unknown,
): void {
  const header = fieldOf(message, 'header')
  out.message(1, () => {
    writeUint(1, tx.signerCount)
    writeUint(2, count(fieldOf(header, 'numReadonlySignedAccounts')))
    writeUint(3, count(fieldOf(header, 'numReadonlyUnsignedAccounts')))
  })
  for (const key of staticKeys) out.bytesOf(2, key)
  writeBytes(3, bytesOf(fieldOf(message, 'recentBlockhash')))
  for (const instruction of tx.instructions)
    if (isTop(instruction)) out.message(4, () => writeInstruction(instruction))
  writeFlag(5, typeof version === 'number')
  for (const lookup of itemsOf(fieldOf(message, 'addressTableLookups')))
    out.message(6, () => {
      writeBytes(1, bytesOf(fieldOf(lookup, 'accountKey')))
      writeBytes(2, Uint8Array.from(itemsOf(fieldOf(lookup, 'writableIndexes')), count))
      writeBytes(3, Uint8Array.from(itemsOf(fieldOf(lookup, 'readonlyIndexes')), count))
    })
  if (version === 1) out.message(7, () => writeConfig(fieldOf(message, 'transactionConfig')))
}

/** `TransactionConfig`. Its presence alone tells version 1 from version 0. */
function writeConfig(config: unknown): void {
  writeIfCount(1, fieldOf(config, 'priorityFee'))
  writeIfCount(2, fieldOf(config, 'computeUnitLimit'))
  writeIfCount(3, fieldOf(config, 'loadedAccountsDataSizeLimit'))
  writeIfCount(4, fieldOf(config, 'heapSize'))
}

/** `TransactionStatusMeta`. */
function writeMeta(
  tx: Omit<Transaction, 'encoded'>,
  { writable, readonly }: ReturnType<typeof splitKeys>,
  meta: unknown,
): void {
  if (tx.failed) out.message(1, () => {})
  writeUint(2, tx.fee)
  const accounts = tx.accountKeys.length
  out.message(3, () => {
    for (let account = 0; account < accounts; account++) out.packed(tx.lamportsBefore(account))
  })
  out.message(4, () => {
    for (let account = 0; account < accounts; account++) out.packed(tx.lamportsAfter(account))
  })
  writeInner(tx.instructions)
  writeFlag(10, !tx.innerKept)
  for (const line of tx.logs ?? []) out.text(6, line)
  writeFlag(11, tx.logs === null)
  writeBalances(7, tx.preTokenBalances, fieldOf(meta, 'preTokenBalances'))
  writeBalances(8, tx.postTokenBalances, fieldOf(meta, 'postTokenBalances'))
  for (const key of writable) out.bytesOf(12, key)
  for (const key of readonly) out.bytesOf(13, key)
  const returnData = fieldOf(meta, 'returnData')
  if (isObjectOrArray(returnData))
    out.message(14, () => {
      writeBytes(1, bytesOf(fieldOf(returnData, 'programId')))
      writeBytes(2, Buffer.from(String(fieldOf(fieldOf(returnData, 'data'), 0)), 'base64'))
    })
  else out.uint(15, 1)
  writeIfCount(16, fieldOf(meta, 'computeUnitsConsumed'))
  writeIfCount(17, fieldOf(meta, 'costUnits'))
}

/**
 * Separates the message's own keys from those of lookup tables. When `json` does not say which are
 * which, all count as the message's own.
 */
function splitKeys(tx: Omit<Transaction, 'encoded'>, message: unknown, meta: unknown) {
  const loaded = fieldOf(meta, 'loadedAddresses')
  const last = tx.accountKeys.length - itemsOf(fieldOf(loaded, 'readonly')).length
  const first = last - itemsOf(fieldOf(loaded, 'writable')).length
  const own = itemsOf(fieldOf(message, 'accountKeys')).length
  const isKnown = own === first && first >= tx.signerCount
  const [from, to] = isKnown ? [first, last] : [tx.accountKeys.length, tx.accountKeys.length]
  return {
    staticKeys: tx.accountKeys.slice(0, from),
    writable: tx.accountKeys.slice(from, to),
    readonly: tx.accountKeys.slice(to),
  }
}

function isTop({ stackHeight }: Instruction): boolean {
  return stackHeight === 1
}

function writeInstruction({ programIndex, accounts, data }: Instruction): void {
  writeUint(1, programIndex)
  writeBytes(2, accounts)
  writeBytes(3, data)
}

/** Writes one group of inner instructions per top-level instruction that called any. */
function writeInner(instructions: readonly Instruction[]): void {
  let index = -1
  for (let from = 0; from < instructions.length; ) {
    if (isTop(instructions[from]!)) {
      index++
      from++
      continue
    }
    let to = from + 1
    while (to < instructions.length && !isTop(instructions[to]!)) to++
    const called = instructions.slice(from, to)
    out.message(5, () => {
      writeUint(1, index)
      for (const instruction of called)
        out.message(2, () => {
          writeInstruction(instruction)
          out.uint(4, instruction.stackHeight)
        })
    })
    from = to
  }
}

function writeBalances(field: number, balances: readonly TokenBalance[], json: unknown): void {
  const entries = itemsOf(json)
  balances.forEach(({ accountIndex, mint, owner, amount, decimals }, index) => {
    const uiAmounts = fieldOf(entries[index], 'uiTokenAmount')
    out.message(field, () => {
      writeUint(1, accountIndex)
      writeText(2, mint)
      out.message(3, () => {
        const uiAmount = Number(fieldOf(uiAmounts, 'uiAmount') ?? 0) || 0
        if (uiAmount !== 0) out.double(1, uiAmount)
        writeUint(2, decimals)
        out.text(3, String(amount))
        writeText(4, text(fieldOf(uiAmounts, 'uiAmountString')))
      })
      writeText(4, owner ?? '')
      writeText(5, text(fieldOf(entries[index], 'programId')))
    })
  })
}

const NO_BYTES = new Uint8Array()

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function bytesOf(value: unknown): Uint8Array {
  return (typeof value === 'string' ? decodeBase58(value) : null) ?? NO_BYTES
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

function writeIfCount(field: number, value: unknown): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) out.uint(field, value)
}
