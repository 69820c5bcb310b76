import type { Key } from './key.ts'

/**
 * Writes little-endian records in the layout of Solana programs. Every method returns the writer;
 * `done` returns the bytes.
 */
export interface ByteWriter {
  u8(value: number): ByteWriter
  bool(value: boolean): ByteWriter
  u16(value: number): ByteWriter
  u32(value: number): ByteWriter
  i32(value: number): ByteWriter
  u64(value: bigint | number): ByteWriter
  u128(value: bigint): ByteWriter
  key(value: Key): ByteWriter
  raw(value: Uint8Array): ByteWriter
  hex(value: string): ByteWriter
  /** Borsh string: u32 length, then UTF-8. */
  text(value: string): ByteWriter
  done(): Buffer
}

/** A writer for records of up to `capacity` bytes. */
export function byteWriter(capacity = 512): ByteWriter {
  const buffer = Buffer.allocUnsafe(capacity)
  let at = 0
  const writer: ByteWriter = {
    u8(value) {
      at = buffer.writeUInt8(value, at)
      return writer
    },
    bool: (value) => writer.u8(value ? 1 : 0),
    u16(value) {
      at = buffer.writeUInt16LE(value, at)
      return writer
    },
    u32(value) {
      at = buffer.writeUInt32LE(value, at)
      return writer
    },
    i32(value) {
      at = buffer.writeInt32LE(value, at)
      return writer
    },
    u64(value) {
      at = buffer.writeBigUInt64LE(BigInt(value), at)
      return writer
    },
    u128: (value) => writer.u64(value & 0xffffffffffffffffn).u64(value >> 64n),
    key: (value) => writer.raw(value.bytes),
    raw(value) {
      buffer.set(value, at)
      at += value.length
      return writer
    },
    hex: (value) => writer.raw(Buffer.from(value, 'hex')),
    text(value) {
      const encoded = Buffer.from(value, 'utf8')
      return writer.u32(encoded.length).raw(encoded)
    },
    done: () => buffer.subarray(0, at),
  }
  return writer
}
