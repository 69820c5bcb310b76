/**
 * Writes the fields of a protobuf message one after the other into one buffer that is used again and again. The generated writers collect arrays of numbers
 * and pieces, and take a u64 as text: several times the cost.
 */
export class ProtoWriter {
  private bytes = Buffer.allocUnsafe(KEPT_BYTES)
  private at = 0

  /** A number, 0 too. */
  uint(field: number, value: number | bigint): void {
    this.key(field, 0)
    this.varint(value)
  }

  bytesOf(field: number, value: Uint8Array): void {
    this.key(field, 2)
    this.varint(value.length)
    this.room(value.length)
    this.bytes.set(value, this.at)
    this.at += value.length
  }

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value)
    this.key(field, 2)
    this.varint(length)
    this.room(length)
    this.bytes.write(value, this.at)
    this.at += length
  }

  double(field: number, value: number): void {
    this.key(field, 1)
    this.room(8)
    this.at = this.bytes.writeDoubleLE(value, this.at)
  }

  /** A message within this one, of the fields that `write` writes; with `packed` in place of fields, a list of numbers. */
  message(field: number, write: () => void): void {
    this.key(field, 2)
    this.room(1)
    // One byte is long enough for most lengths; what is longer moves by the rest.
    const start = ++this.at
    write()
    const end = this.at
    const length = end - start
    let more = 0
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) more++
    if (more > 0) {
      this.room(more)
      this.bytes.copyWithin(start + more, start, end)
    }
    this.at = start - 1
    this.varint(length)
    this.at = end + more
  }

  /** One of a packed list of numbers. */
  packed(value: number | bigint): void {
    this.varint(value)
  }

  /** What was written, and begins anew. */
  finish(): Uint8Array {
    const written = new Uint8Array(this.bytes.subarray(0, this.at))
    this.at = 0
    if (this.bytes.length > MOST_KEPT_BYTES) this.bytes = Buffer.allocUnsafe(KEPT_BYTES)
    return written
  }

  private key(field: number, wire: number): void {
    this.varint(field * 8 + wire)
  }

  private varint(value: number | bigint): void {
    this.room(10)
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

  private room(size: number): void {
    if (this.at + size <= this.bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.at + size))
    larger.set(this.bytes.subarray(0, this.at))
    this.bytes = larger
  }
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const KEPT_BYTES = 32 * 1024
/** A larger buffer is given back. */
const MOST_KEPT_BYTES = 1024 * 1024
