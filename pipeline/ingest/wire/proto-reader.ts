/**
 * Reads the fields of a protobuf message one after the other, without making anything. `next` puts the reader on a field; what it stands on is
 * in `field`, `wire`, `value` and `start`.
 */
export class ProtoReader {
  readonly bytes: Uint8Array
  /** Where the next field begins. */
  at = 0
  /** Number of the field. */
  field = 0
  /** 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
  wire = 0
  /** A varint, exact below 2^53 (else see `exact`); the length of wire type 2. */
  value = 0
  /** Where the bytes of wire type 2 begin; they end where `at` is. */
  start = 0
  /** Whether the bytes turned out to be no message. */
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

  /** Goes to the next field before `end`; false at the end, or when the bytes are no message. */
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

  /** Reads the message that the reader stands on (wire type 2), up to `end`, and leaves the reader behind it. */
  within<T>(read: (reader: this, end: number) => T): T {
    const end = this.at
    this.at = this.wire === 2 ? this.start : end
    const value = read(this, end)
    this.at = end
    return value
  }

  /** Reads a varint at `at` into `value`. */
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

  /** The varint in full. */
  get exact(): number | bigint {
    if (this.value <= Number.MAX_SAFE_INTEGER) return this.value
    return BigInt(this.low) + (BigInt(this.high) << 28n)
  }

  /** The bytes of wire type 2, a view. */
  view(): Uint8Array {
    const { buffer, byteOffset } = this.bytes
    const length = this.wire === 2 ? this.at - this.start : 0
    return new Uint8Array(buffer, byteOffset + this.start, length)
  }

  /** The bytes of wire type 2 as one character a byte: base58 and digits are such text. */
  text(): string {
    return this.wire === 2 ? this.buffer.toString('latin1', this.start, this.at) : ''
  }

  private stop(): false {
    this.broken = true
    return false
  }
}
