/**
 * Reads the fields of a protobuf message one by one, without allocating objects. `next` moves to a
 * field; `field`, `wire`, `value` and `start` describe it.
 */
export class ProtoReader {
  readonly bytes: Uint8Array
  /** Offset of the next field. */
  at = 0
  /** Field number. */
  field = 0
  /** Wire type: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
  wire = 0
  /**
   * The varint, exact below 2^53 (above that use `exact`). For wire type 2, the length in bytes.
   */
  value = 0
  /** For wire type 2, the offset of the first byte. The bytes end at `at`. */
  start = 0
  /** Whether the bytes are malformed. */
  broken = false
  private readonly buffer: Buffer
  private high = 0
  private low = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Moves to the next field before `end`. Returns false at the end and on malformed bytes. */
  next(end: number): boolean {
    if (this.at >= end || this.broken) return false
    this.varint(end)
    this.wire = this.value & 7
    this.field = Math.floor(this.value / 8)
    if (this.field === 0) return this.stop()
    if (this.wire === 0 || this.wire === 2) {
      this.varint(end)
      if (this.wire === 2) {
        this.start = this.at
        this.at += this.value
      }
    } else if (this.wire === 1) this.at += 8
    else if (this.wire === 5) this.at += 4
    else return this.stop()
    return this.at <= end && !this.broken ? true : this.stop()
  }

  /** Reads the nested message of the current field with `read`, then moves behind it. */
  within<T>(read: (reader: this, end: number) => T): T {
    const end = this.at
    this.at = this.wire === 2 ? this.start : end
    const value = read(this, end)
    this.at = end
    return value
  }

  /** Reads the varint at `at` into `value`. */
  varint(end: number): void {
    const { bytes } = this
    let byte = bytes[this.at++] ?? 0
    this.high = 0
    this.value = byte & 0x7f
    if (byte < 0x80 && this.at <= end) {
      this.low = this.value
      return
    }
    let low = byte & 0x7f
    let high = 0
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift > 63 || this.at >= end) {
        this.broken = true
        return
      }
      byte = bytes[this.at++] ?? 0
      if (shift < 28) low |= (byte & 0x7f) << shift
      else high += (byte & 0x7f) * 2 ** (shift - 28)
    }
    this.low = low
    this.high = high
    this.value = low + high * 2 ** 28
    if (this.at > end) this.broken = true
  }

  /** The varint without loss of precision. */
  get exact(): number | bigint {
    if (this.value <= Number.MAX_SAFE_INTEGER) return this.value
    return BigInt(this.low) + (BigInt(this.high) << 28n)
  }

  /** The bytes of wire type 2, as a view of the message. */
  view(): Uint8Array {
    const { buffer, byteOffset } = this.bytes
    const length = this.wire === 2 ? this.at - this.start : 0
    return new Uint8Array(buffer, byteOffset + this.start, length)
  }

  /** The bytes of wire type 2 as latin-1 text. Correct for ASCII, such as base58 and digits. */
  text(): string {
    return this.wire === 2 ? this.buffer.toString('latin1', this.start, this.at) : ''
  }

  private stop(): false {
    this.broken = true
    return false
  }
}
