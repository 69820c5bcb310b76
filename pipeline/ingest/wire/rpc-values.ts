import type { Address } from '../../domain/address.ts'
import { decodeBase58 } from '../../domain/base58.ts'
import type { MalformedTransactionReason } from '../../domain/transaction.ts'

// Checked reads of the JSON values in RPC transactions. Each throws `MalformedError` with the
// reason for which the transaction is malformed. `normalizeRpc` catches it.

/** Ends the normalisation of a transaction that is malformed. Never leaves `normalizeRpc`. */
export class MalformedError extends Error {
  readonly reason: MalformedTransactionReason
  constructor(reason: MalformedTransactionReason) {
    super(reason)
    this.reason = reason
  }
}

/** An object that is not an array; undefined for every other value. */
export function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as Readonly<Record<string, unknown>> // an object that is no array has string keys
}

/** An array. */
export function list(value: unknown, reason: MalformedTransactionReason): readonly unknown[] {
  if (!Array.isArray(value)) throw new MalformedError(reason)
  return value
}

/** Whether a value is a non-negative integer that a double represents exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/**
 * A u64 as text, as bigint, or as a JSON number. A JSON number above 2^53 has lost its last digits
 * before it came here.
 */
export function u64Of(value: unknown, reason: MalformedTransactionReason): bigint {
  if (typeof value === 'bigint' && value >= 0n) return value
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string' && /^[0-9]{1,20}$/.test(value)) return BigInt(value)
  throw new MalformedError(reason)
}

/** The bytes of base58 text. */
export function base58(value: unknown, reason: MalformedTransactionReason): Uint8Array {
  const bytes = typeof value === 'string' ? decodeBase58(value) : null
  if (bytes === null) throw new MalformedError(reason)
  return bytes
}

/** The 32 bytes of an account key. */
export function accountKey(value: unknown): Uint8Array {
  const bytes = addressBytes(value)
  if (bytes === null) throw new MalformedError('bad_account_keys')
  return bytes
}

/** Account keys; none for null or undefined. */
export function accountKeys(raw: unknown): Uint8Array[] {
  return raw == null ? [] : list(raw, 'bad_account_keys').map(accountKey)
}

/** An address; null for every other value. */
export function addressOrNull(value: unknown): Address | null {
  return addressBytes(value) === null ? null : (value as Address) // it has 32 bytes
}

/** Cache of decoded addresses: programs, pools, mints and wallets recur in many transactions. */
const decoded = new Map<string, Uint8Array>()
const MAX_DECODED = 20_000
/** In characters. */
const LONGEST_ADDRESS = 44

function addressBytes(value: unknown): Uint8Array | null {
  if (typeof value !== 'string') return null
  const found = decoded.get(value)
  if (found !== undefined) return found
  const bytes = decodeBase58(value.slice(0, LONGEST_ADDRESS + 1))
  if (bytes?.length !== 32) return null
  if (decoded.size >= MAX_DECODED) decoded.clear()
  decoded.set(value, bytes)
  return bytes
}
