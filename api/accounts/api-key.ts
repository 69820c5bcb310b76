import { hash, randomBytes } from 'node:crypto'
import { decodeBase58, encodeBase58 } from '../../pipeline/domain/base58.ts'

/** A raw API key, `tw_` and the base58 of 32 bytes: shown once, never stored (decisions E3). */
export type ApiKey = `tw_${string}`

/** Makes a key nobody can guess. */
export function newApiKey(): ApiKey {
  return `tw_${encodeBase58(randomBytes(32))}`
}

/** Reads text as an API key; null for what cannot be one, so that nothing is looked up for it. */
export function parseApiKey(text: string): ApiKey | null {
  const body = /^tw_([1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(text)?.[1]
  return body !== undefined && decodeBase58(body)?.length === 32 ? `tw_${body}` : null
}

/** What is stored of a key: SHA-256 of its text in hex. The key has 256 random bits, so it needs neither salt nor a slow hash. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'hex')
}
