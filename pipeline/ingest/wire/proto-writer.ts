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
    this.key(field, 2)
    this.room(LONGEST_VARINT + MOST_BYTES_A_UNIT * value.length)
    const start = ++this.at
    this.at += this.bytes.write(value, start)
    this.close(start)
  }

  double(field: number, value: number): void {
    this.key(field, 1)
    this.room(8)
    this.at = this.bytes.writeDoubleLE(value, this.at)
  }

  /** A message within this one, of the fields that `write` writes; with `packed` in place of fields, a list of numbers. */
  message(field: number, write: () => void): void {
    this.key(field, 2)
    this.room(LONGEST_VARINT)
    const start = ++this.at
    write()
    this.close(start)
  }

  /** Writes the length of what stands from `start` on before it. One byte was left for that, which is enough for most; what is longer moves by the rest. */
  private close(start: number): void {
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
    this.room(LONGEST_VARINT)
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

const LONGEST_VARINT = 10
/** Of UTF-8, for one of UTF-16. */
const MOST_BYTES_A_UNIT = 3
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const KEPT_BYTES = 32 * 1024
/** A larger buffer is given back. */
const MOST_KEPT_BYTES = 1024 * 1024
