import { SubscribeUpdate, type SubscribeUpdateTransaction } from '@triton-one/yellowstone-grpc'
import bs58 from 'bs58'

/** A transaction of RPC JSON in the `json` encoding, as far as the converters here read it. */
export interface JsonTransaction {
  readonly slot: number | null
  readonly version?: number | 'legacy'
  readonly transaction: { readonly signatures: readonly string[]; readonly message: JsonMessage }
  readonly meta: JsonMeta
}

interface JsonMessage {
  readonly accountKeys: readonly string[]
  readonly header: {
    readonly numRequiredSignatures: number
    readonly numReadonlySignedAccounts: number
    readonly numReadonlyUnsignedAccounts: number
  }
  readonly recentBlockhash: string
  readonly instructions: readonly JsonInstruction[]
  readonly addressTableLookups?: readonly {
    readonly accountKey: string
    readonly writableIndexes: readonly number[]
    readonly readonlyIndexes: readonly number[]
  }[]
}

interface JsonInstruction {
  readonly programIdIndex: number
  readonly accounts: readonly number[]
  readonly data: string
  readonly stackHeight?: number | null
}

interface JsonMeta {
  readonly err?: unknown
  readonly status?: { readonly Err?: unknown }
  readonly fee: number
  readonly preBalances: readonly number[]
  readonly postBalances: readonly number[]
  readonly innerInstructions?:
    | readonly { readonly index: number; readonly instructions: readonly JsonInstruction[] }[]
    | null
  readonly logMessages?: readonly string[] | null
  readonly preTokenBalances?: readonly JsonTokenBalance[] | null
  readonly postTokenBalances?: readonly JsonTokenBalance[] | null
  readonly loadedAddresses?: {
    readonly writable: readonly string[]
    readonly readonly: readonly string[]
  }
}

interface JsonTokenBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly programId?: string
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number }
}

/**
 * The Yellowstone update that a server would have sent for a transaction in the `json` encoding, passed once through the wire codec so that it is what
 * a client gets.
 */
export function toGrpcUpdate(
  json: unknown,
  slot: number,
  index: number,
): SubscribeUpdateTransaction {
  const { transaction, meta, version } = json as JsonTransaction // built by tests or taken from the corpus
  const { message } = transaction
  const compiled = ({ programIdIndex, accounts, data }: JsonInstruction) => ({
    programIdIndex,
    accounts: Uint8Array.from(accounts),
    data: bs58.decode(data),
  })
  const balance = ({ accountIndex, mint, owner, programId, uiTokenAmount }: JsonTokenBalance) => ({
    accountIndex,
    mint,
    owner: owner ?? '',
    programId: programId ?? '',
    uiTokenAmount: {
      uiAmount: 0,
      uiAmountString: '',
      amount: uiTokenAmount.amount,
      decimals: uiTokenAmount.decimals,
    },
  })
  const failed = (meta.err ?? meta.status?.Err ?? null) !== null
  const update = SubscribeUpdate.fromPartial({
    filters: ['wallets'],
    transaction: {
      slot: String(slot),
      transaction: {
        signature: bs58.decode(transaction.signatures[0]!),
        isVote: false,
        index: String(index),
        transaction: {
          signatures: transaction.signatures.map((signature) => bs58.decode(signature)),
          message: {
            header: message.header,
            accountKeys: message.accountKeys.map((key) => bs58.decode(key)),
            recentBlockhash: bs58.decode(message.recentBlockhash),
            instructions: message.instructions.map(compiled),
            versioned: version === 0,
            addressTableLookups: (message.addressTableLookups ?? []).map((lookup) => ({
              accountKey: bs58.decode(lookup.accountKey),
              writableIndexes: Uint8Array.from(lookup.writableIndexes),
              readonlyIndexes: Uint8Array.from(lookup.readonlyIndexes),
            })),
          },
        },
        meta: {
          ...(failed ? { err: { err: Uint8Array.of(8, 0, 0, 0) } } : {}),
          fee: String(meta.fee),
          preBalances: meta.preBalances.map(String),
          postBalances: meta.postBalances.map(String),
          innerInstructions: (meta.innerInstructions ?? []).map((group) => ({
            index: group.index,
            instructions: group.instructions.map((inner) => ({
              ...compiled(inner),
              ...(inner.stackHeight == null ? {} : { stackHeight: inner.stackHeight }),
            })),
          })),
          innerInstructionsNone: meta.innerInstructions == null,
          logMessages: [...(meta.logMessages ?? [])],
          logMessagesNone: meta.logMessages == null,
          preTokenBalances: (meta.preTokenBalances ?? []).map(balance),
          postTokenBalances: (meta.postTokenBalances ?? []).map(balance),
          loadedWritableAddresses: (meta.loadedAddresses?.writable ?? []).map((a) =>
            bs58.decode(a),
          ),
          loadedReadonlyAddresses: (meta.loadedAddresses?.readonly ?? []).map((a) =>
            bs58.decode(a),
          ),
          returnDataNone: true,
        },
      },
    },
  })
  // The client decodes from a Buffer, and every bytes field is a part of it.
  const received = SubscribeUpdate.decode(Buffer.from(SubscribeUpdate.encode(update).finish()))
  if (received.transaction === undefined) throw new Error('the codec lost the transaction')
  return received.transaction
}
