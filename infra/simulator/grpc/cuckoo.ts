import type { CuckooFilter } from '@triton-one/yellowstone-grpc'

/**
 * Returns whether a key is probably in a compressed account filter: the server's side of
 * `CompressedAccountFilterSet`. Layout: buckets of four u16 fingerprints. A key is in the bucket of
 * its hash, or in that bucket xor the hash of its fingerprint. Source: yellowstone-grpc-proto,
 * `cuckoo`.
 */
export function createCuckooMatcher(filter: CuckooFilter): (key: Uint8Array) => boolean {
  const data = Buffer.from(filter.data)
  const buckets = Math.max(1, Math.floor(data.length / 8))
  const mask = buckets - 1
  const hash = createSipHash(BigInt(filter.hashSeed))
  const holds = (bucket: number, fingerprint: number) => {
    for (let entry = 0; entry < 4; entry += 1) {
      const at = bucket * 8 + entry * 2
      if (at + 2 <= data.length && data.readUInt16LE(at) === fingerprint) return true
    }
    return false
  }
  const fingerprintBytes = Buffer.alloc(2)
  // Rust hashes the length of an array before the array.
  const prefixed = Buffer.alloc(40)
  prefixed.writeUInt8(32, 0)
  return (key) => {
    prefixed.set(key, 8)
    const { low, high } = hash(prefixed)
    const fingerprint = (high & 0xffff) === 0 ? 1 : high & 0xffff
    const first = low & mask
    if (holds(first, fingerprint)) return true
    fingerprintBytes.writeUInt16LE(fingerprint)
    const second = (first ^ (hash(fingerprintBytes).low & mask)) >>> 0
    return holds(second, fingerprint)
  }
}

/**
 * SipHash-2-4 with the keys (seed, seed rotated by 32 bits), as two 32-bit halves: BigInt is fifty
 * times slower.
 */
function createSipHash(seed: bigint): (input: Buffer) => { low: number; high: number } {
  const seedLow = Number(seed & 0xffffffffn)
  const seedHigh = Number((seed >> 32n) & 0xffffffffn)
  const keys = [seedLow, seedHigh, seedHigh, seedLow, seedLow, seedHigh, seedHigh, seedLow]
  const initial = INITIAL.map((word, at) => word ^ keys[at]!)
  const v = new Int32Array(8)
  return (input) => {
    v.set(initial)
    const whole = input.length - (input.length % 8)
    for (let at = 0; at < whole; at += 8)
      compress(v, input.readInt32LE(at), input.readInt32LE(at + 4))
    const last = Buffer.alloc(8)
    input.copy(last, 0, whole)
    last[7] = input.length & 0xff
    compress(v, last.readInt32LE(0), last.readInt32LE(4))
    v[4]! ^= 0xff
    for (let i = 0; i < 4; i += 1) round(v)
    return {
      low: (v[0]! ^ v[2]! ^ v[4]! ^ v[6]!) >>> 0,
      high: (v[1]! ^ v[3]! ^ v[5]! ^ v[7]!) >>> 0,
    }
  }
}

/** Initial state v0 to v3 of SipHash, each as its low and high 32 bits. */
const INITIAL = [
  ...[0x70736575, 0x736f6d65, 0x6e646f6d, 0x646f7261],
  ...[0x6e657261, 0x6c796765, 0x79746573, 0x74656462],
]

function compress(v: Int32Array, low: number, high: number): void {
  v[6]! ^= low
  v[7]! ^= high
  round(v)
  round(v)
  v[0]! ^= low
  v[1]! ^= high
}

function round(v: Int32Array): void {
  add(v, 0, 2)
  rotateXor(v, 2, 13, 0)
  swapHalves(v, 0)
  add(v, 4, 6)
  rotateXor(v, 6, 16, 4)
  add(v, 0, 6)
  rotateXor(v, 6, 21, 0)
  add(v, 4, 2)
  rotateXor(v, 2, 17, 4)
  swapHalves(v, 4)
}

function add(v: Int32Array, a: number, b: number): void {
  const low = (v[a]! >>> 0) + (v[b]! >>> 0)
  v[a + 1] = v[a + 1]! + v[b + 1]! + (low > 0xffffffff ? 1 : 0)
  v[a] = low
}

/** Rotates a word to the left by less than 32 bits, then xors it with another. */
function rotateXor(v: Int32Array, a: number, bits: number, b: number): void {
  const [low, high] = [v[a]!, v[a + 1]!]
  v[a] = ((low << bits) | (high >>> (32 - bits))) ^ v[b]!
  v[a + 1] = ((high << bits) | (low >>> (32 - bits))) ^ v[b + 1]!
}

function swapHalves(v: Int32Array, a: number): void {
  const low = v[a]!
  v[a] = v[a + 1]!
  v[a + 1] = low
}
