import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { byteWriter } from './byte-writer.ts'
import type { Key } from './key.ts'
import type { Draft, DraftBalance, DraftInstruction } from './transaction-builder.ts'

type Meta = NonNullable<SubscribeUpdateTransactionInfo['meta']>
type TokenBalance = Meta['preTokenBalances'][number]

/** Index, signatures and blockhash of a draft in its block, and the balances before it. */
export interface TransactionContext {
  readonly index: number
  readonly signatures: readonly Buffer[]
  readonly recentBlockhash: Uint8Array
  /** Lamports of an account before the transaction, beyond those of the draft. */
  base(key: Key): bigint
  /** Raw token units of an account, beyond those of the draft. */
  tokenBase(key: Key): bigint
}

/** The transaction of a draft in its context, as Yellowstone sends it. */
export function transactionInfo(
  draft: Draft,
  context: TransactionContext,
): SubscribeUpdateTransactionInfo {
  return {
    signature: context.signatures[0]!,
    isVote: false,
    index: String(context.index),
    transaction: {
      signatures: [...context.signatures],
      message: {
        header: {
          numRequiredSignatures: draft.signerCount,
          numReadonlySignedAccounts: draft.readonlySignerCount,
          numReadonlyUnsignedAccounts: draft.readonlyUnsignedCount,
        },
        accountKeys: draft.staticKeys.map((key) => key.bytes),
        recentBlockhash: context.recentBlockhash,
        instructions: draft.instructions.map(instructionOf),
        versioned: draft.versioned,
        addressTableLookups: draft.lookups.map((lookup) => ({
          accountKey: lookup.table.bytes,
          writableIndexes: lookup.writable,
          readonlyIndexes: lookup.readonly,
        })),
        config: configOf(draft),
      },
    },
    meta: metaOf(draft, context),
  }
}

function configOf({ config }: Draft) {
  if (config === null) return undefined
  return { ...config, priorityFee: String(config.priorityFee), heapSize: undefined }
}

function metaOf(draft: Draft, context: TransactionContext): Meta {
  const bases = draft.keys.map((key) => context.base(key))
  const lamports = (amounts: readonly bigint[]) =>
    amounts.map((amount, index) => String(amount + bases[index]!))
  const tokens = (balances: readonly DraftBalance[]) =>
    balances.map((balance) => tokenBalance(draft, balance, context))
  return {
    err: draft.failure === null ? undefined : { err: customError(draft.failure) },
    fee: String(draft.fee),
    preBalances: lamports(draft.pre),
    postBalances: lamports(draft.post),
    innerInstructions: [...draft.inner].map(([index, list]) => ({
      index,
      instructions: list.map((one) => ({ ...instructionOf(one), stackHeight: one.depth })),
    })),
    innerInstructionsNone: false,
    logMessages: [...draft.logs],
    logMessagesNone: false,
    preTokenBalances: tokens(draft.preTokens),
    postTokenBalances: tokens(draft.postTokens),
    rewards: [],
    loadedWritableAddresses: draft.loadedWritable.map((key) => key.bytes),
    loadedReadonlyAddresses: draft.loadedReadonly.map((key) => key.bytes),
    returnData: undefined,
    returnDataNone: true,
    computeUnitsConsumed: String(draft.computeUnits),
    costUnits: String(draft.computeUnits + 1_500),
  }
}

function instructionOf({ program, accounts, data }: DraftInstruction) {
  return { programIdIndex: program, accounts, data }
}

/**
 * Bincode of `TransactionError::InstructionError(u8, InstructionError::Custom(u32))`: variants 8
 * and 25.
 */
function customError(failure: { instruction: number; code: number }): Buffer {
  return byteWriter(13).u32(8).u8(failure.instruction).u32(25).u32(failure.code).done()
}

function tokenBalance(
  draft: Draft,
  balance: DraftBalance,
  context: TransactionContext,
): TokenBalance {
  const { mint, owner } = balance.token
  const amount = balance.token.amount + context.tokenBase(draft.keys[balance.account]!)
  return {
    accountIndex: balance.account,
    mint: mint.key.address,
    owner: owner.address,
    programId: mint.program.address,
    uiTokenAmount: uiTokenAmount(amount, mint.decimals),
  }
}

/**
 * A raw amount with its decimal form, which has no trailing zeros: 1500000 with 6 decimals is
 * `1.5`.
 */
export function uiTokenAmount(raw: bigint, decimals: number): TokenBalance['uiTokenAmount'] {
  const amount = String(raw)
  const digits = amount.padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const text = `${whole}.${digits.slice(whole.length)}`.replace(/\.?0*$/, '')
  return { uiAmount: Number(text), decimals, amount, uiAmountString: text }
}
