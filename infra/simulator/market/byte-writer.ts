import type { Key } from './key.ts'

/**
 * Writes little-endian records in the layout of Solana programs, of up to `capacity` bytes. Every
 * method writes its values one after the other and returns the writer.
 */
export class ByteWriter {
  readonly #buffer: Buffer
  #at = 0

  constructor(capacity = 512) {
    this.#buffer = Buffer.allocUnsafe(capacity)
  }

  u8(...values: readonly number[]): this {
    for (const value of values) this.#at = this.#buffer.writeUInt8(value, this.#at)
    return this
  }

  bool(...values: readonly boolean[]): this {
    return this.u8(...values.map(Number))
  }

  u16(...values: readonly number[]): this {
    for (const value of values) this.#at = this.#buffer.writeUInt16LE(value, this.#at)
    return this
  }

  u32(value: number): this {
    this.#at = this.#buffer.writeUInt32LE(value, this.#at)
    return this
  }

  i32(...values: readonly number[]): this {
    for (const value of values) this.#at = this.#buffer.writeInt32LE(value, this.#at)
    return this
  }

  u64(...values: readonly (bigint | number)[]): this {
    for (const value of values) this.#at = this.#buffer.writeBigUInt64LE(BigInt(value), this.#at)
    return this
  }

  u128(...values: readonly bigint[]): this {
    for (const value of values) this.u64(value & 0xffffffffffffffffn, value >> 64n)
    return this
  }

  key(...values: readonly Key[]): this {
    return this.raw(...values.map(({ bytes }) => bytes))
  }

  raw(...values: readonly Uint8Array[]): this {
    for (const value of values) {
      this.#buffer.set(value, this.#at)
      this.#at += value.length
    }
    return this
  }

  zeros(count: number): this {
    this.#buffer.fill(0, this.#at, this.#at + count)
    this.#at += count
    return this
  }

  hex(value: string): this {
    return this.raw(Buffer.from(value, 'hex'))
  }

  /** Borsh string: u32 length, then UTF-8. */
  text(value: string): this {
    const encoded = Buffer.from(value, 'utf8')
    return this.u32(encoded.length).raw(encoded)
  }

  done(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }
}

/** A writer for records of up to `capacity` bytes. */
export const byteWriter = (capacity?: number) => new ByteWriter(capacity)
