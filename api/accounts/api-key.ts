import { hash, randomBytes } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../../pipeline/domain/base58.ts'

/**
 * A raw API key: `tw_` and the base58 of 32 random bytes and their checksum. Older keys have no
 * checksum and stay valid. A raw key is shown once and never stored (rule E3).
 */
export type ApiKey = `tw_${string}`

/** Makes a key from 32 bytes of the system's random generator. */
export function newApiKey(): ApiKey {
  const random = randomBytes(RANDOM_BYTES)
  return `${PREFIX}${encodeBase58(Buffer.concat([random, checksum(random)]))}`
}

/**
 * Parses text as an API key. Returns null for text that cannot be a key, including a wrong
 * checksum. So such text needs no look-up.
 */
export function parseApiKey(text: string): ApiKey | null {
  const body = /^tw_([1-9A-HJ-NP-Za-km-z]{32,50})$/.exec(text)?.[1] ?? ''
  const bytes = decodeBase58(body) ?? new Uint8Array()
  const random = bytes.subarray(0, RANDOM_BYTES)
  const isWhole =
    bytes.length === RANDOM_BYTES ||
    (bytes.length === RANDOM_BYTES + CHECKSUM_BYTES &&
      checksum(random).equals(bytes.subarray(RANDOM_BYTES)))
  return isWhole ? `${PREFIX}${body}` : null
}

/**
 * Returns the part of a key that is stored: SHA-256 of its text in hex. The key has 256 random
 * bits, so it needs neither salt nor a slow hash.
 */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** The checksum of Base58Check, with the prefix `tw_` in place of the version byte. */
function checksum(random: Uint8Array): Buffer {
  const once = hash('sha256', Buffer.concat([Buffer.from(PREFIX), random]), 'buffer')
  return hash('sha256', once, 'buffer').subarray(0, CHECKSUM_BYTES)
}

const PREFIX = 'tw_'
const RANDOM_BYTES = 32
const CHECKSUM_BYTES = 4
