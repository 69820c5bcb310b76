import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Address } from '../../pipeline/domain/address.ts'
import { decodeBase58, encodeBase58 } from '../../pipeline/domain/base58.ts'
import type { SecretKeys } from '../secret-key.ts'

/** What a nonce is bound to: the wallet, and the times of its message in unix milliseconds. */
export interface NonceSubject {
  readonly wallet: Address
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Nonces that authenticate themselves by a MAC, so that the server stores none of them. */
export interface Nonces {
  /** Returns a nonce of letters and digits, as Sign-In With Solana requires. */
  make(subject: NonceSubject): string
  /** Whether `make` returned this nonce for exactly this subject. */
  isOurs(nonce: string, subject: NonceSubject): boolean
}

/**
 * A nonce is the base58 of 16 random bytes and a MAC: the first 16 bytes of the HMAC-SHA-256 of
 * those bytes and the subject. RFC 2104, section 5, allows truncation to half. The key is derived
 * from the first secret key by HKDF. A nonce is accepted under any of the secret keys.
 */
export function createNonces(secretKeys: SecretKeys): Nonces {
  const keyOf = (secretKey: Uint8Array) =>
    new Uint8Array(hkdfSync('sha256', secretKey, '', 'sign-in nonce', 32))
  const [first, ...others] = secretKeys
  const issuing = keyOf(first)
  const accepting = [issuing, ...others.map(keyOf)]
  const macOf = (
    key: Uint8Array,
    random: Uint8Array,
    { wallet, issuedAt, expiresAt }: NonceSubject,
  ) =>
    createHmac('sha256', key)
      .update(random)
      .update(`${wallet} ${issuedAt} ${expiresAt}`)
      .digest()
      .subarray(0, MAC_BYTES)
  return {
    make(subject) {
      const random = randomBytes(RANDOM_BYTES)
      return encodeBase58(Buffer.concat([random, macOf(issuing, random, subject)]))
    },
    isOurs(nonce, subject) {
      const bytes = decodeBase58(nonce)
      if (bytes?.length !== RANDOM_BYTES + MAC_BYTES) return false
      const random = bytes.subarray(0, RANDOM_BYTES)
      const mac = bytes.subarray(RANDOM_BYTES)
      return accepting.some((key) => timingSafeEqual(macOf(key, random, subject), mac))
    },
  }
}

const RANDOM_BYTES = 16
const MAC_BYTES = 16
