import { type Cipher, createCipheriv, timingSafeEqual } from 'node:crypto'

/**
 * AES-SIV (RFC 5297) with a 64-byte key and one string of associated data, for plain texts of at
 * least 16 bytes. It uses Node's AES, because every message of the feed carries a sealed position
 * and AES in JavaScript is an order of magnitude slower.
 */
export class AesSiv {
  readonly #mac: Cipher
  readonly #stream: Cipher
  /** CMAC subkeys for a complete last block and for a padded one (RFC 4493 2.3). */
  readonly #whole: Buffer
  readonly #padded: Buffer
  /** The part of S2V that depends only on the key and the associated data. */
  readonly #start: Buffer

  constructor(key: Uint8Array, associated: Uint8Array) {
    this.#mac = createCipheriv('aes-256-ecb', key.subarray(0, 32), null)
    this.#stream = createCipheriv('aes-256-ecb', key.subarray(32, 64), null)
    this.#whole = double(this.#mac.update(Buffer.alloc(16)))
    this.#padded = double(this.#whole)
    this.#start = double(this.#cmac(Buffer.alloc(16)))
    xorInto(this.#start, this.#cmac(associated))
  }

  /** Returns the tag and then the cipher text: 16 bytes more than the plain text. */
  seal(plain: Uint8Array): Buffer {
    const tag = this.#s2v(plain)
    return Buffer.concat([tag, this.#ctr(tag, plain)])
  }

  /** Returns the plain text, or null for bytes that `seal` did not return. */
  open(sealed: Uint8Array): Buffer | null {
    if (sealed.length < 32) return null
    const tag = sealed.subarray(0, 16)
    const plain = this.#ctr(tag, sealed.subarray(16))
    return timingSafeEqual(this.#s2v(plain), tag) ? plain : null
  }

  #s2v(plain: Uint8Array): Buffer {
    const mixed = Buffer.from(plain)
    xorInto(mixed.subarray(mixed.length - 16), this.#start)
    return this.#cmac(mixed)
  }

  #cmac(bytes: Uint8Array): Buffer {
    const block = Buffer.alloc(16)
    let at = 0
    for (; at + 16 < bytes.length; at += 16) {
      xorInto(block, bytes.subarray(at, at + 16))
      block.set(this.#mac.update(block))
    }
    const rest = bytes.subarray(at)
    xorInto(block, rest)
    if (rest.length < 16) block[rest.length] = (block[rest.length] ?? 0) ^ 0x80
    xorInto(block, rest.length === 16 ? this.#whole : this.#padded)
    return this.#mac.update(block)
  }

  /** CTR mode with the tag as counter; two cleared bits keep its last 32 bits from overflowing. */
  #ctr(tag: Uint8Array, bytes: Uint8Array): Buffer {
    const blocks = Math.ceil(bytes.length / 16)
    const counters = Buffer.alloc(16 * blocks)
    for (let block = 0; block < blocks; block++) {
      counters.set(tag, 16 * block)
      counters[16 * block + 8] = (tag[8] ?? 0) & 0x7f
      counters[16 * block + 12] = (tag[12] ?? 0) & 0x7f
      counters.writeUInt32BE(counters.readUInt32BE(16 * block + 12) + block, 16 * block + 12)
    }
    const out = Buffer.from(bytes)
    xorInto(out, this.#stream.update(counters).subarray(0, bytes.length))
    return out
  }
}

function xorInto(target: Uint8Array, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at++) target[at] = (target[at] ?? 0) ^ (bytes[at] ?? 0)
}

/** Multiplies by x in GF(2^128), as CMAC and S2V define it. */
function double(block: Uint8Array): Buffer {
  const out = Buffer.alloc(16)
  for (let at = 0; at < 16; at++) out[at] = ((block[at] ?? 0) << 1) | ((block[at + 1] ?? 0) >>> 7)
  if ((block[0] ?? 0) & 0x80) out[15] = (out[15] ?? 0) ^ 0x87
  return out
}
