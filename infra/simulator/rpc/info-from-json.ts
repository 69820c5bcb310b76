import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import bs58 from 'bs58'
import type {
  WireConfig,
  WireInstruction,
  WireTransaction,
} from '../../../pipeline/ingest/wire/wire-transaction.ts'
import { encodeTransactionError } from './transaction-error.ts'
import type { TokenBalanceJson, TransactionJson } from './transaction-json.ts'

const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111'

type Transaction = NonNullable<SubscribeUpdateTransactionInfo['transaction']>
type Meta = NonNullable<SubscribeUpdateTransactionInfo['meta']>

/**
 * A transaction of RPC JSON (encoding `json`), as Yellowstone sends it: instruction data, keys and
 * balances are the same bytes.
 */
export function infoFromJson(json: TransactionJson, index: number): SubscribeUpdateTransactionInfo {
  return {
    signature: bs58.decode(json.transaction.signatures[0]!),
    isVote: isSimpleVote(json),
    index: String(index),
    transaction: signedFromJson(json),
    meta: metaFromJson(json.meta),
  }
}

/** The signed part of a transaction, without its outcome. */
export function signedFromJson(json: WireTransaction): Transaction {
  return {
    signatures: json.transaction.signatures.map((text) => bs58.decode(text)),
    message: messageFromJson(json),
  }
}

function messageFromJson({ transaction, version }: WireTransaction): Transaction['message'] {
  const { message } = transaction
  return {
    header: message.header,
    accountKeys: message.accountKeys.map((key) => bs58.decode(key)),
    recentBlockhash: bs58.decode(message.recentBlockhash),
    instructions: message.instructions.map(instructionFromJson),
    versioned: typeof version === 'number',
    addressTableLookups: (message.addressTableLookups ?? []).map((lookup) => ({
      accountKey: bs58.decode(lookup.accountKey),
      writableIndexes: Uint8Array.from(lookup.writableIndexes),
      readonlyIndexes: Uint8Array.from(lookup.readonlyIndexes),
    })),
    config: version === 1 ? configFromJson(message.transactionConfig) : undefined,
  }
}

function configFromJson(config: WireConfig | undefined) {
  return {
    priorityFee: optional(config?.priorityFee),
    computeUnitLimit: config?.computeUnitLimit ?? undefined,
    loadedAccountsDataSizeLimit: config?.loadedAccountsDataSizeLimit ?? undefined,
    heapSize: config?.heapSize ?? undefined,
  }
}

function metaFromJson(meta: TransactionJson['meta']): Meta {
  const { loadedAddresses, returnData } = meta
  return {
    // Some old recordings leave the field out.
    err: meta.err == null ? undefined : { err: encodeTransactionError(meta.err) },
    fee: String(meta.fee),
    preBalances: meta.preBalances.map(String),
    postBalances: meta.postBalances.map(String),
    innerInstructions: (meta.innerInstructions ?? []).map((inner) => ({
      index: inner.index,
      instructions: inner.instructions.map((from) => ({
        ...instructionFromJson(from),
        stackHeight: from.stackHeight ?? undefined,
      })),
    })),
    innerInstructionsNone: meta.innerInstructions == null,
    logMessages: [...(meta.logMessages ?? [])],
    logMessagesNone: meta.logMessages == null,
    preTokenBalances: (meta.preTokenBalances ?? []).map(tokenBalanceFromJson),
    postTokenBalances: (meta.postTokenBalances ?? []).map(tokenBalanceFromJson),
    rewards: [],
    loadedWritableAddresses: (loadedAddresses?.writable ?? []).map((key) => bs58.decode(key)),
    loadedReadonlyAddresses: (loadedAddresses?.readonly ?? []).map((key) => bs58.decode(key)),
    returnData: returnData == null ? undefined : returnDataFromJson(returnData),
    returnDataNone: returnData == null,
    computeUnitsConsumed: optional(meta.computeUnitsConsumed),
    costUnits: optional(meta.costUnits),
  }
}

function instructionFromJson(json: WireInstruction) {
  return {
    programIdIndex: json.programIdIndex,
    accounts: Uint8Array.from(json.accounts),
    data: bs58.decode(json.data),
  }
}

function returnDataFromJson({
  programId,
  data,
}: NonNullable<TransactionJson['meta']['returnData']>) {
  return { programId: bs58.decode(programId), data: Buffer.from(data[0], 'base64') }
}

function optional(value: number | null | undefined): string | undefined {
  return value == null ? undefined : String(value)
}

/**
 * Whether a transaction is a vote by the validator's rule: one instruction, of the vote program,
 * signed once or twice.
 */
function isSimpleVote(json: TransactionJson): boolean {
  const { accountKeys, instructions } = json.transaction.message
  const first = instructions[0]
  return (
    instructions.length === 1 &&
    first !== undefined &&
    accountKeys[first.programIdIndex] === VOTE_PROGRAM &&
    json.transaction.signatures.length < 3
  )
}

function tokenBalanceFromJson(json: TokenBalanceJson) {
  return {
    accountIndex: json.accountIndex,
    mint: json.mint,
    owner: json.owner ?? '',
    programId: json.programId ?? '',
    uiTokenAmount: {
      amount: json.uiTokenAmount.amount,
      decimals: json.uiTokenAmount.decimals,
      uiAmount: json.uiTokenAmount.uiAmount ?? 0,
      uiAmountString: json.uiTokenAmount.uiAmountString,
    },
  }
}
