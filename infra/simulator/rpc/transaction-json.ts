import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type {
  WireConfig,
  WireInstruction,
  WireTransaction,
} from '../../../pipeline/ingest/wire/wire-transaction.ts'
import { decodeTransactionError, type TransactionErrorJson } from './transaction-error.ts'

/** A transaction as RPC returns it in encoding `json`, within `getBlock`. */
export interface TransactionJson extends WireTransaction {
  readonly meta: MetaJson
}

interface MetaJson {
  readonly err: TransactionErrorJson | null
  readonly status: { readonly Ok: null } | { readonly Err: TransactionErrorJson }
  readonly fee: number
  readonly preBalances: readonly number[]
  readonly postBalances: readonly number[]
  readonly innerInstructions:
    | readonly { readonly index: number; readonly instructions: readonly WireInstruction[] }[]
    | null
  readonly logMessages: readonly string[] | null
  readonly preTokenBalances: readonly TokenBalanceJson[] | null
  readonly postTokenBalances: readonly TokenBalanceJson[] | null
  readonly rewards: readonly RewardJson[] | null
  readonly loadedAddresses?: {
    readonly writable: readonly string[]
    readonly readonly: readonly string[]
  }
  readonly returnData?: {
    readonly programId: string
    readonly data: readonly [string, 'base64']
  } | null
  readonly computeUnitsConsumed?: number | null
  readonly costUnits?: number | null
}

/** A token balance in RPC JSON. */
export interface TokenBalanceJson {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly programId?: string
  readonly uiTokenAmount: {
    readonly amount: string
    readonly decimals: number
    readonly uiAmount: number | null
    readonly uiAmountString: string
  }
}

interface RewardJson {
  readonly pubkey: string
  readonly lamports: number
  readonly postBalance: number
  readonly rewardType: string | null
  readonly commission: number | null
}

type Meta = NonNullable<SubscribeUpdateTransactionInfo['meta']>
type Message = NonNullable<NonNullable<SubscribeUpdateTransactionInfo['transaction']>['message']>

/** Converts a transaction to the JSON that RPC returns in encoding `json`. */
export function jsonFromInfo(info: SubscribeUpdateTransactionInfo): TransactionJson {
  const transaction = info.transaction!
  const message = transaction.message!
  // Old nodes that answer no `costUnits` answer no stack height of top-level instructions either.
  const topHeight = info.meta?.costUnits === undefined ? undefined : 1
  return {
    version: versionOf(message),
    transaction: {
      signatures: transaction.signatures.map((bytes) => encodeBase58(bytes)),
      message: {
        accountKeys: message.accountKeys.map((key) => keyText(key)),
        header: message.header!,
        recentBlockhash: encodeBase58(message.recentBlockhash),
        instructions: message.instructions.map((from) =>
          instructionJson({ stackHeight: topHeight, ...from }),
        ),
        ...(message.config !== undefined && { transactionConfig: configJson(message.config) }),
        ...(versionOf(message) === 0 && {
          addressTableLookups: message.addressTableLookups.map((lookup) => ({
            accountKey: keyText(lookup.accountKey),
            writableIndexes: [...lookup.writableIndexes],
            readonlyIndexes: [...lookup.readonlyIndexes],
          })),
        }),
      },
    },
    meta: metaJson(info.meta!),
  }
}

/** The version of a message: version 1 is the one that has a config. */
function versionOf({ versioned, config }: Message): TransactionJson['version'] {
  if (config !== undefined) return 1
  return versioned ? 0 : 'legacy'
}

function configJson(config: NonNullable<Message['config']>): WireConfig {
  return {
    computeUnitLimit: config.computeUnitLimit ?? null,
    heapSize: config.heapSize ?? null,
    loadedAccountsDataSizeLimit: config.loadedAccountsDataSizeLimit ?? null,
    priorityFee: numberOrNull(config.priorityFee),
  }
}

/** The outcome of a transaction, the same for all encodings. */
function metaJson(meta: Meta): MetaJson {
  const err = meta.err === undefined ? null : decodeTransactionError(meta.err.err)
  return {
    computeUnitsConsumed: numberOrNull(meta.computeUnitsConsumed),
    ...(meta.costUnits !== undefined && { costUnits: Number(meta.costUnits) }),
    err,
    fee: Number(meta.fee),
    innerInstructions: meta.innerInstructionsNone
      ? null
      : meta.innerInstructions.map((inner) => ({
          index: inner.index,
          instructions: inner.instructions.map(instructionJson),
        })),
    loadedAddresses: {
      writable: meta.loadedWritableAddresses.map((key) => keyText(key)),
      readonly: meta.loadedReadonlyAddresses.map((key) => keyText(key)),
    },
    logMessages: meta.logMessagesNone ? null : meta.logMessages,
    postBalances: meta.postBalances.map(Number),
    postTokenBalances: meta.postTokenBalances.map(tokenBalanceJson),
    preBalances: meta.preBalances.map(Number),
    preTokenBalances: meta.preTokenBalances.map(tokenBalanceJson),
    ...(meta.returnData !== undefined && {
      returnData: {
        data: [Buffer.from(meta.returnData.data).toString('base64'), 'base64'] as const,
        programId: encodeBase58(meta.returnData.programId),
      },
    }),
    rewards: [],
    status: err === null ? { Ok: null } : { Err: err },
  }
}

function instructionJson(from: {
  programIdIndex: number
  accounts: Uint8Array
  data: Uint8Array
  stackHeight?: number | undefined
}): WireInstruction {
  return {
    accounts: [...from.accounts],
    data: encodeBase58(from.data),
    programIdIndex: from.programIdIndex,
    stackHeight: from.stackHeight ?? null,
  }
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text)
}

function tokenBalanceJson(balance: Meta['preTokenBalances'][number]): TokenBalanceJson {
  const { amount, decimals, uiAmount, uiAmountString } = balance.uiTokenAmount!
  return {
    accountIndex: balance.accountIndex,
    mint: balance.mint,
    owner: balance.owner,
    programId: balance.programId,
    uiTokenAmount: { amount, decimals, uiAmount: uiAmount === 0 ? null : uiAmount, uiAmountString },
  }
}

/** The base58 text of a key, cached by the key's bytes object: the market reuses these objects. */
function keyText(key: Uint8Array): string {
  let text = keyTexts.get(key)
  if (text === undefined) {
    text = encodeBase58(key)
    keyTexts.set(key, text)
  }
  return text
}
const keyTexts = new WeakMap<Uint8Array, string>()
