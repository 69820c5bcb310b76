import { type Address, parseAddress } from '../../domain/address.ts'
import { blockIdOf } from '../../domain/block-id.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { isRecord, RpcErrorResponse } from './json-rpc.ts'
import type {
  BlockHead,
  BlockSignatures,
  RpcAccount,
  RpcBlock,
  SignatureInfo,
} from './solana-rpc.ts'

// Readers of results of Solana RPC methods. Each checks the JSON and throws a retriable
// `unavailable` that names the method when the JSON is not what the method returns.

/** Slots of `getBlocks`, in ascending order. */
export function readSlots(json: unknown): number[] {
  if (!Array.isArray(json)) throw unexpected('getBlocks')
  return json.map((slot) => readInteger(slot, 'getBlocks')).sort((a, b) => a - b)
}

/**
 * A block of `getBlock`. A block without a time is `not_yet` there: nothing is emitted without a
 * block time (rule B15).
 */
export function readBlock(json: unknown, slot: number): RpcBlock | 'not_yet' {
  if (json === null) return 'not_yet'
  if (!isRecord(json) || !Array.isArray(json.transactions)) throw unexpected('getBlock')
  if (json.blockTime === null || json.blockTime === undefined) return 'not_yet'
  return {
    slot,
    parent: readInteger(json.parentSlot, 'getBlock'),
    blockTime: readInteger(json.blockTime, 'getBlock'),
    blockId: blockIdOf(json.blockhash),
    transactions: json.transactions,
  }
}

/** A block of `getBlock` with `transactionDetails: 'none'`. */
export function readBlockHead(json: unknown, slot: number): BlockHead | 'not_yet' {
  if (json === null) return 'not_yet'
  if (!isRecord(json)) throw unexpected('getBlock')
  const parent = readInteger(json.parentSlot, 'getBlock')
  return { slot, parent, blockId: blockIdOf(json.blockhash) }
}

/** A block of `getBlock` with `transactionDetails: 'signatures'`. */
export function readBlockSignatures(json: unknown): BlockSignatures | 'not_yet' {
  if (json === null) return 'not_yet'
  if (!isRecord(json) || !Array.isArray(json.signatures)) throw unexpected('getBlock')
  const { blockTime, signatures } = json
  return {
    blockTime: blockTime == null ? null : readInteger(blockTime, 'getBlock'),
    signatures,
  }
}

/** The entries of `getSignaturesForAddress`. */
export function readSignatureInfos(json: unknown): SignatureInfo[] {
  if (!Array.isArray(json)) throw unexpected('getSignaturesForAddress')
  return json.map((entry: unknown) => {
    if (!isRecord(entry) || typeof entry.signature !== 'string') {
      throw unexpected('getSignaturesForAddress')
    }
    return {
      signature: entry.signature,
      slot: readInteger(entry.slot, 'getSignaturesForAddress'),
      failed: (entry.err ?? null) !== null,
      blockTime: typeof entry.blockTime === 'number' ? entry.blockTime : null,
    }
  })
}

/** The slot and the accounts of `getMultipleAccounts`; `length` accounts are expected. */
export function readAccounts(
  json: unknown,
  length: number,
): { readonly slot: number; readonly accounts: readonly (RpcAccount | null)[] } {
  const { value, context } = isRecord(json) ? json : {}
  if (!Array.isArray(value) || value.length !== length || !isRecord(context)) {
    throw unexpected('getMultipleAccounts')
  }
  const slot = readInteger(context.slot, 'getMultipleAccounts')
  return { slot, accounts: value.map(readAccount) }
}

/** An account in encoding `base64`, as several methods return it; null for none. */
export function readAccount(json: unknown): RpcAccount | null {
  if (json === null) return null
  if (!isRecord(json) || !Array.isArray(json.data) || typeof json.owner !== 'string') {
    throw unexpected('getMultipleAccounts')
  }
  return { owner: json.owner, data: Buffer.from(String(json.data[0]), 'base64') }
}

/** The slot and the accounts of `getTokenAccountsByOwner`; each `account` is still JSON. */
export function readTokenAccounts(json: unknown): {
  readonly slot: number
  readonly accounts: readonly { readonly address: Address; readonly account: unknown }[]
} {
  const { value, context } = isRecord(json) ? json : {}
  if (!Array.isArray(value) || !isRecord(context)) throw unexpected('getTokenAccountsByOwner')
  const accounts = value.map((found: unknown) => {
    const entry = isRecord(found) ? found : {}
    const address = parseAddress(String(entry.pubkey))
    if (address === null) throw unexpected('getTokenAccountsByOwner')
    return { address, account: entry.account }
  })
  return { slot: readInteger(context.slot, 'getTokenAccountsByOwner'), accounts }
}

/** The amount of a token account in raw units, at `offset` of its data or at 0 of a data slice. */
export function readTokenAmount(account: unknown, offset: number): bigint {
  const data = Buffer.from(readAccount(account)?.data ?? [])
  // Some servers ignore `dataSlice` and return the whole account.
  const at = data.length === 8 ? 0 : offset
  if (data.length < at + 8) throw unexpected('getTokenAccountsByOwner')
  return data.readBigUInt64LE(at)
}

/** A non-negative integer that a double represents exactly. */
export function readInteger(value: unknown, method: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw unexpected(method)
  }
  return value
}

/**
 * Returns the result of `request`, or the reason why the server has no block. `absent`: the chain
 * has no such block, or this server deleted it. `not_yet`: the block may come later.
 */
export async function blockOrMissing<T>(
  request: () => Promise<T>,
): Promise<T | 'absent' | 'not_yet'> {
  try {
    return await request()
  } catch (error) {
    if (!(error instanceof RpcErrorResponse)) throw error
    if (ABSENT_CODES.has(error.rpcCode)) return 'absent'
    if (NOT_YET_CODES.has(error.rpcCode)) return 'not_yet'
    throw error
  }
}

// JSON-RPC error codes: agave rpc-client-types/src/custom_error.rs.
/** Block cleaned up; slot skipped; slot skipped or missing in long-term storage. */
const ABSENT_CODES = new Set([-32001, -32007, -32009])
/** Block not available for slot; block status not yet available. */
const NOT_YET_CODES = new Set([-32004, -32014])

function unexpected(method: string): ServiceError {
  const message = `SOLANA_RPC_URL: ${method} answered in a form that is not Solana's`
  return new ServiceError('unavailable', message, { context: { method } })
}
