import { createPublicKey, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import { type Address, addressBytes } from '../../pipeline/domain/address.ts'

/**
 * Parses a signature of 64 bytes, in base58 (Solana) or base64 (browsers). Returns null for any
 * other text.
 */
export function parseSignature(text: string): Uint8Array | null {
  if (text.length > 90) return null
  const bytes = bs58.decodeUnsafe(text)
  if (bytes?.length === 64) return bytes
  if (!/^[A-Za-z0-9+/]{86}(==)?$/.test(text)) return null
  return Buffer.from(text, 'base64')
}

/**
 * Whether the wallet's key signed the bytes, by the strict rules. OpenSSL checks the equation of
 * RFC 8032 without the cofactor, and that s is below the order. @noble/curves (audited, already a
 * dependency) checks that the key and R are canonical points outside the small subgroup. OpenSSL
 * does not check this, and without it one signature can be valid for every message. @noble/curves
 * alone takes ten times as long.
 */
export function isSignedBy(wallet: Address, bytes: Uint8Array, signature: Uint8Array): boolean {
  const key = addressBytes(wallet)
  if (signature.length !== 64 || !isStrictPoint(key) || !isStrictPoint(signature.subarray(0, 32)))
    return false
  const x = Buffer.from(key).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, bytes, publicKey, signature)
}

function isStrictPoint(bytes: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(bytes).isSmallOrder()
  } catch {
    return false // not a point, or not canonically encoded
  }
}
