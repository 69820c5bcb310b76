import { decodeBase58 } from '../../domain/base58.ts'
import type {
  Malformed,
  MalformedTransactionReason,
  TokenBalance,
  Transaction,
} from '../../domain/transaction.ts'
import { encodeTransactionInfo } from './encode-transaction-info.ts'
import { readRpcInstructions } from './rpc-instructions.ts'
import {
  accountKey,
  accountKeys,
  addressOrNull,
  base58,
  isCount,
  list,
  MalformedError,
  record,
  u64Of,
} from './rpc-values.ts'
import { readWireTransaction, type WireTransaction } from './wire-transaction.ts'

/** Slot and block index of a transaction whose JSON lacks them, as in the entries of `getBlock`. */
export interface RpcPlace {
  readonly slot?: number
  readonly index?: number
}

/**
 * The transaction of an RPC result: of `getTransaction`, or one entry of `getBlock` with its place.
 * Any of the encodings `json`, `jsonParsed`, `base64` and `base58`. What `place` lacks is read from
 * `slot` and `transactionIndex`; an unknown index is 0. Never throws.
 *
 * In `jsonParsed`, instructions of System, Token, Associated Token and Memo have named fields and
 * are compiled back to bytes. For the other programs that a node parses (stake, vote, loaders) the
 * bytes are lost, and `data` is empty.
 */
export function normalizeRpc(json: unknown, place: RpcPlace = {}): Transaction | Malformed {
  const root = record(json)
  const slot = place.slot ?? root?.slot
  const index = place.index ?? root?.transactionIndex ?? 0
  let signature: Uint8Array | null = null
  try {
    const inJson = { ...root, ...readBytes(root?.transaction) }
    const signed = readSigned(inJson.transaction)
    signature = signed.signature
    if (!isCount(slot) || !isCount(index)) throw new MalformedError('bad_place')
    const transaction = readOutcome(signed, root?.meta, slot, index)
    return { encoded: () => encodeTransactionInfo(transaction, inJson), ...transaction }
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error
    return {
      kind: 'malformed',
      slot: isCount(slot) ? slot : null,
      index: isCount(index) ? index : null,
      signature,
      reason: error.reason,
    }
  }
}

/** The signed part of a transaction. Its instructions are as the encoding gives them. */
interface Signed {
  readonly signature: Uint8Array
  readonly keys: readonly Uint8Array[]
  /** Whether `keys` includes the keys from lookup tables. */
  readonly allKeys: boolean
  readonly signerCount: number
  readonly instructions: readonly unknown[]
}

function readSigned(transaction: unknown): Signed {
  const signed = record(transaction)
  const message = record(signed?.message)
  if (signed === undefined || message === undefined) throw new MalformedError('not_a_transaction')
  const signature = base58(list(signed.signatures, 'bad_signature')[0], 'bad_signature')
  if (signature.length !== 64) throw new MalformedError('bad_signature')
  const entries = list(message.accountKeys, 'bad_account_keys')
  const keys = entries.map((entry) => accountKey(record(entry)?.pubkey ?? entry))
  const header = record(message.header)
  const signerCount =
    header?.numRequiredSignatures ?? entries.filter((e) => record(e)?.signer === true).length
  if (!isCount(signerCount) || signerCount < 1 || signerCount > keys.length) {
    throw new MalformedError('bad_account_keys')
  }
  return {
    signature,
    keys,
    allKeys: record(entries[0]) !== undefined,
    signerCount,
    instructions: list(message.instructions, 'bad_instruction'),
  }
}

/** A transaction given as bytes, in encoding `json`; null for one that is in JSON already. */
function readBytes(transaction: unknown): WireTransaction | null {
  if (typeof transaction === 'string') return readBytes([transaction, 'base58'])
  if (!Array.isArray(transaction)) return null
  const [text, encoding]: readonly unknown[] = transaction
  if (typeof text !== 'string') throw new MalformedError('unknown_encoding')
  if (encoding !== 'base64' && encoding !== 'base58') throw new MalformedError('unknown_encoding')
  const bytes = encoding === 'base58' ? decodeBase58(text) : Buffer.from(text, 'base64')
  const wire = bytes === null ? null : readWireTransaction(bytes)
  if (wire === null) throw new MalformedError('not_a_transaction')
  return wire
}

function readOutcome(
  signed: Signed,
  rawMeta: unknown,
  slot: number,
  index: number,
): Omit<Transaction, 'encoded'> {
  const meta = record(rawMeta)
  if (meta === undefined) throw new MalformedError('no_meta')
  const loaded = record(meta.loadedAddresses)
  const keys = signed.allKeys
    ? signed.keys
    : [...signed.keys, ...accountKeys(loaded?.writable), ...accountKeys(loaded?.readonly)]
  if (keys.length > 256) throw new MalformedError('bad_account_keys')
  const before = lamports(meta.preBalances, keys.length)
  const after = lamports(meta.postBalances, keys.length)
  const preTokenBalances = tokenBalances(meta.preTokenBalances, keys.length)
  const postTokenBalances = tokenBalances(meta.postTokenBalances, keys.length)
  const logs =
    meta.logMessages == null ? null : list(meta.logMessages, 'not_a_transaction').map(String)
  return {
    kind: 'transaction',
    slot,
    index,
    signature: signed.signature,
    failed: (meta.err ?? record(meta.status)?.Err ?? null) !== null,
    accountKeys: keys,
    signerCount: signed.signerCount,
    fee: u64Of(meta.fee, 'bad_balances'),
    lamportsBefore: (account) => before[account]!,
    lamportsAfter: (account) => after[account]!,
    tokenOwners: [...preTokenBalances, ...postTokenBalances].flatMap(({ owner }) => owner ?? []),
    preTokenBalances,
    postTokenBalances,
    instructions: readRpcInstructions(signed.instructions, meta.innerInstructions, keys, logs),
    innerKept: meta.innerInstructions != null,
    logs,
  }
}

function tokenBalances(raw: unknown, keyCount: number): TokenBalance[] {
  const reason: MalformedTransactionReason = 'bad_token_balance'
  if (raw == null) return []
  return list(raw, reason).map((entry) => {
    const balance = record(entry)
    const amount = record(balance?.uiTokenAmount)
    const mint = addressOrNull(balance?.mint)
    if (mint === null || !isCount(amount?.decimals) || amount.decimals > 255) {
      throw new MalformedError(reason)
    }
    if (!isCount(balance?.accountIndex) || balance.accountIndex >= keyCount) {
      throw new MalformedError(reason)
    }
    return {
      accountIndex: balance.accountIndex,
      mint,
      owner: addressOrNull(balance.owner),
      amount: u64Of(amount.amount, reason),
      decimals: amount.decimals,
    }
  })
}

function lamports(raw: unknown, keyCount: number): bigint[] {
  const values = list(raw, 'bad_balances')
  if (values.length !== keyCount) throw new MalformedError('bad_balances')
  return values.map((value) => u64Of(value, 'bad_balances'))
}
