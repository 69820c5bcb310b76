import { decodeBase58, encodeBase58 } from './base58.ts'

/** A 32-byte Solana address as base58 text. */
export type Address = string & { readonly __address: unique symbol }

/** Reads base58 text as an address; null unless it is the base58 of exactly 32 bytes. */
export function parseAddress(text: string): Address | null {
  if (text.length < 32 || text.length > 44) return null
  const bytes = decodeBase58(text)
  return bytes?.length === 32 ? (text as Address) : null
}

/** Returns a constant as an address. Throws a TypeError unless it is the base58 of 32 bytes. */
export function address(text: string): Address {
  const parsed = parseAddress(text)
  if (parsed === null) throw new TypeError(`not a base58 address of 32 bytes: ${text}`)
  return parsed
}

/** Returns the base58 text of 32 bytes. Throws a TypeError for another length. */
export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== 32) throw new TypeError(`an address has 32 bytes, not ${bytes.length}`)
  return encodeBase58(bytes) as Address
}

/** Returns the 32 bytes of an address. */
export function addressBytes(value: Address): Uint8Array {
  const bytes = decodeBase58(value)
  if (bytes === null) throw new TypeError('not base58')
  return bytes
}
