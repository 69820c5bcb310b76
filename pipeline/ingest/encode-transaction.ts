import { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { decodeBase58 } from '../domain/base58.ts'
import type { Instruction, TokenBalance, Transaction } from '../domain/transaction.ts'

/**
 * A transaction that did not come as Yellowstone protobuf in that encoding: `SubscribeUpdateTransactionInfo` of `geyser.proto`, as a server would have sent it,
 * without its slot. Whatever the decoder reads comes from `tx`; `json`, the RPC's answer it was read from, adds what nobody reads yet: blockhash, look-ups, all
 * signatures, return data, compute units, token programs. Not known to RPC JSON, or not in this form: the bytes of an error (empty when the transaction failed).
 */
export function encodeTransaction(tx: Omit<Transaction, 'encoded'>, json?: unknown): Uint8Array {
  const message = at(at(json, 'transaction'), 'message')
  const meta = at(json, 'meta')
  const { staticKeys, writable, readonly } = splitKeys(tx, message, meta)
  const signatures = list(at(at(json, 'transaction'), 'signatures'))
  const header = at(message, 'header')
  const returnData = at(meta, 'returnData')
  const info = SubscribeUpdateTransactionInfo.fromPartial({
    signature: tx.signature,
    index: String(tx.index),
    transaction: {
      signatures: signatures.length > 0 ? signatures.map(bytesOf) : [tx.signature],
      message: {
        header: {
          numRequiredSignatures: tx.signerCount,
          numReadonlySignedAccounts: count(at(header, 'numReadonlySignedAccounts')),
          numReadonlyUnsignedAccounts: count(at(header, 'numReadonlyUnsignedAccounts')),
        },
        accountKeys: staticKeys,
        recentBlockhash: bytesOf(at(message, 'recentBlockhash')),
        instructions: tx.instructions.filter(isTop).map(compiled),
        versioned: typeof at(json, 'version') === 'number',
        addressTableLookups: list(at(message, 'addressTableLookups')).map((lookup) => ({
          accountKey: bytesOf(at(lookup, 'accountKey')),
          writableIndexes: Uint8Array.from(list(at(lookup, 'writableIndexes')), count),
          readonlyIndexes: Uint8Array.from(list(at(lookup, 'readonlyIndexes')), count),
        })),
      },
    },
    meta: {
      err: tx.failed ? { err: NO_BYTES } : undefined,
      fee: String(tx.fee),
      preBalances: tx.accountKeys.map((_, account) => String(tx.lamportsBefore(account))),
      postBalances: tx.accountKeys.map((_, account) => String(tx.lamportsAfter(account))),
      innerInstructions: innerGroups(tx.instructions),
      innerInstructionsNone: !tx.innerKept,
      logMessages: [...(tx.logs ?? [])],
      logMessagesNone: tx.logs === null,
      preTokenBalances: balances(tx.preTokenBalances, at(meta, 'preTokenBalances')),
      postTokenBalances: balances(tx.postTokenBalances, at(meta, 'postTokenBalances')),
      loadedWritableAddresses: writable,
      loadedReadonlyAddresses: readonly,
      returnData: isObject(returnData)
        ? {
            programId: bytesOf(at(returnData, 'programId')),
            data: Buffer.from(String(at(at(returnData, 'data'), 0)), 'base64'),
          }
        : undefined,
      returnDataNone: !isObject(returnData),
      computeUnitsConsumed: digits(at(meta, 'computeUnitsConsumed')),
      costUnits: digits(at(meta, 'costUnits')),
    },
  })
  return new Uint8Array(SubscribeUpdateTransactionInfo.encode(info).finish())
}

/** Which keys are the message's own and which were looked up; where that is not told, all are taken for its own. */
function splitKeys(tx: Omit<Transaction, 'encoded'>, message: unknown, meta: unknown) {
  const loaded = at(meta, 'loadedAddresses')
  const last = tx.accountKeys.length - list(at(loaded, 'readonly')).length
  const first = last - list(at(loaded, 'writable')).length
  const own = list(at(message, 'accountKeys')).length
  const isTold = own === first && first >= tx.signerCount
  const [from, to] = isTold ? [first, last] : [tx.accountKeys.length, tx.accountKeys.length]
  return {
    staticKeys: tx.accountKeys.slice(0, from),
    writable: tx.accountKeys.slice(from, to),
    readonly: tx.accountKeys.slice(to),
  }
}

function isTop({ stackHeight }: Instruction): boolean {
  return stackHeight === 1
}

function compiled({ programIndex, accounts, data }: Instruction) {
  return { programIdIndex: programIndex, accounts, data }
}

/** What each top-level instruction called. */
function innerGroups(instructions: readonly Instruction[]) {
  const groups: { index: number; instructions: Instruction[] }[] = []
  let index = -1
  for (const instruction of instructions) {
    if (isTop(instruction)) index++
    else if (groups.at(-1)?.index === index) groups.at(-1)?.instructions.push(instruction)
    else groups.push({ index, instructions: [instruction] })
  }
  return groups.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((inner) => ({
      ...compiled(inner),
      stackHeight: inner.stackHeight,
    })),
  }))
}

function balances(from: readonly TokenBalance[], json: unknown) {
  const entries = list(json)
  return from.map(({ accountIndex, mint, owner, amount, decimals }, place) => {
    const told = at(entries[place], 'uiTokenAmount')
    return {
      accountIndex,
      mint,
      owner: owner ?? '',
      programId: text(at(entries[place], 'programId')),
      uiTokenAmount: {
        amount: String(amount),
        decimals,
        uiAmount: Number(at(told, 'uiAmount') ?? 0) || 0,
        uiAmountString: text(at(told, 'uiAmountString')),
      },
    }
  })
}

const NO_BYTES = new Uint8Array()

function isObject(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null
}

function at(value: unknown, key: string | number): unknown {
  return isObject(value) ? value[key] : undefined
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function bytesOf(value: unknown): Uint8Array {
  return (typeof value === 'string' ? decodeBase58(value) : null) ?? NO_BYTES
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

function digits(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? String(value)
    : undefined
}
