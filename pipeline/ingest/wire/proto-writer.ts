/**
 * Writes protobuf messages into a reused buffer. The generated writers cost several times as much:
 * they collect arrays of numbers and chunks, and accept a u64 only as text.
 */
export class ProtoWriter {
  private bytes = Buffer.allocUnsafe(INITIAL_BUFFER_BYTES)
  private at = 0

  /** Writes a number as a varint. Writes 0 as well, which proto3 may omit. */
  uint(field: number, value: number | bigint): void {
    this.key(field, 0)
    this.varint(value)
  }

  /** Writes bytes. */
  bytesOf(field: number, value: Uint8Array): void {
    this.key(field, 2)
    this.varint(value.length)
    this.reserve(value.length)
    this.bytes.set(value, this.at)
    this.at += value.length
  }

  /** Writes text as UTF-8. */
  text(field: number, value: string): void {
    this.key(field, 2)
    this.reserve(LONGEST_VARINT + MAX_BYTES_PER_UNIT * value.length)
    const start = ++this.at
    this.at += this.bytes.write(value, start)
    this.close(start)
  }

  /** Writes a 64-bit float. */
  double(field: number, value: number): void {
    this.key(field, 1)
    this.reserve(8)
    this.at = this.bytes.writeDoubleLE(value, this.at)
  }

  /** Writes a nested message: the fields, or the packed numbers, that `write` writes. */
  message(field: number, write: () => void): void {
    this.key(field, 2)
    this.reserve(LONGEST_VARINT)
    const start = ++this.at
    write()
    this.close(start)
  }

  /**
   * Writes the length of the bytes from `start` on before them. One byte is reserved for it. A
   * longer length moves the bytes.
   */
  private close(start: number): void {
    const end = this.at
    const length = end - start
    let more = 0
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) more++
    if (more > 0) {
      this.reserve(more)
      this.bytes.copyWithin(start + more, start, end)
    }
    this.at = start - 1
    this.varint(length)
    this.at = end + more
  }

  /** Writes one number of a packed list. */
  packed(value: number | bigint): void {
    this.varint(value)
  }

  /** Returns a copy of the message and starts a new one. */
  finish(): Uint8Array {
    const written = new Uint8Array(this.bytes.subarray(0, this.at))
    this.at = 0
    if (this.bytes.length > MAX_BUFFER_BYTES) this.bytes = Buffer.allocUnsafe(INITIAL_BUFFER_BYTES)
    return written
  }

  private key(field: number, wire: number): void {
    this.varint(field * 8 + wire)
  }

  private varint(value: number | bigint): void {
    this.reserve(LONGEST_VARINT)
    let rest = value
    if (typeof rest === 'bigint') {
      while (rest > MAX_SAFE) {
        this.bytes[this.at++] = Number(rest & 0x7fn) | 0x80
        rest >>= 7n
      }
      rest = Number(rest)
    }
    while (rest > 0x7fff_ffff) {
      this.bytes[this.at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    while (rest > 0x7f) {
      this.bytes[this.at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.bytes[this.at++] = rest
  }

  private reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.at + size))
    larger.set(this.bytes.subarray(0, this.at))
    this.bytes = larger
  }
}

const LONGEST_VARINT = 10
/** Maximum number of UTF-8 bytes of one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const INITIAL_BUFFER_BYTES = 32 * 1024
/** A larger buffer is replaced after use, to free its memory. */
const MAX_BUFFER_BYTES = 1024 * 1024
