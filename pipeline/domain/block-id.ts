import { decodeBase58 } from './base58.ts'

/**
 * The first 8 bytes of a block's hash, big-endian. It tells the blocks of one slot apart (rule K9).
 */
export type BlockId = bigint

/** Returns the id of a block by its hash in base58; null for text that is no hash. */
export function blockIdOf(blockhash: unknown): BlockId | null {
  const bytes = typeof blockhash === 'string' ? decodeBase58(blockhash) : null
  if (bytes === null || bytes.length !== 32) return null
  return Buffer.from(bytes.buffer, bytes.byteOffset, 32).readBigUInt64BE()
}

/** Whether the ids are of two blocks; false while one is not known. */
export function isOtherBlock(a: BlockId | null, b: BlockId | null): boolean {
  return a !== null && b !== null && a !== b
}
