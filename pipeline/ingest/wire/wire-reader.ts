import { encodeBase58 } from '../../domain/base58.ts'

/**
 * Reads the parts of a signed transaction in order. Beyond the end it reads zeros and fewer bytes,
 * and `at` grows on.
 */
export class WireReader {
  at = 0
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get size(): number {
    return this.#bytes.length
  }

  peek(): number {
    return this.#bytes[this.at] ?? 0
  }

  take(length: number): Uint8Array {
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }

  base58(length: number): string {
    return encodeBase58(this.take(length))
  }

  /** An unsigned little-endian integer. */
  uint(length: number): number {
    return this.take(length).reduceRight((value, byte) => value * 256 + byte, 0)
  }

  /** A compact-u16. */
  count(): number {
    let value = 0
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.uint(1)
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return value
  }

  /** A compact-u16 count and as many items. Stops at the end of the bytes. */
  list<T>(read: () => T): T[] {
    const items: T[] = []
    for (let left = this.count(); left > 0 && this.at <= this.size; left--) items.push(read())
    return items
  }
}
