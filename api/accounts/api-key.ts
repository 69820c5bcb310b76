import { hash, randomBytes } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../../pipeline/domain/base58.ts'

/**
 * A raw API key: `tw_` and the base58 of 32 random bytes and their checksum. Keys that were made
 * before there was a checksum have the 32 bytes alone, and stay valid. Shown once, never stored
 * (rule E3).
 */
export type ApiKey = `tw_${string}`

/** Makes a key that nobody can guess. */
export function newApiKey(): ApiKey {
  const random = randomBytes(RANDOM_BYTES)
  return `${PREFIX}${encodeBase58(Buffer.concat([random, checksum(random)]))}`
}

/**
 * Reads text as an API key. Returns null for text that cannot be one, also when its checksum does
 * not hold, so that nothing is looked up for it.
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

/** Of Base58Check, with the prefix of the text in the place of a version byte. */
function checksum(random: Uint8Array): Buffer {
  const once = hash('sha256', Buffer.concat([Buffer.from(PREFIX), random]), 'buffer')
  return hash('sha256', once, 'buffer').subarray(0, CHECKSUM_BYTES)
}

const PREFIX = 'tw_'
const RANDOM_BYTES = 32
const CHECKSUM_BYTES = 4
