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
function createSipHash(seed: bigint): (input: Uint8Array) => { low: number; high: number } {
  const seedLow = Number(seed & 0xffffffffn) | 0
  const seedHigh = Number((seed >> 32n) & 0xffffffffn) | 0
  // The state v0 to v3, as low and high halves.
  const v = new Int32Array(8)
  const add = (a: number, b: number) => {
    const low = (v[a]! >>> 0) + (v[b]! >>> 0)
    v[a + 1] = (v[a + 1]! + v[b + 1]! + (low > 0xffffffff ? 1 : 0)) | 0
    v[a] = low | 0
  }
  const rotateXor = (a: number, bits: number, b: number) => {
    const low = v[a]!
    const high = v[a + 1]!
    const [from, over, shift] = bits < 32 ? [low, high, bits] : [high, low, bits - 32]
    v[a] = (shift === 0 ? from : (from << shift) | (over >>> (32 - shift))) ^ v[b]!
    v[a + 1] = (shift === 0 ? over : (over << shift) | (from >>> (32 - shift))) ^ v[b + 1]!
  }
  const swapHalves = (a: number) => {
    const low = v[a]!
    v[a] = v[a + 1]!
    v[a + 1] = low
  }
  const round = () => {
    add(0, 2)
    rotateXor(2, 13, 0)
    swapHalves(0)
    add(4, 6)
    rotateXor(6, 16, 4)
    add(0, 6)
    rotateXor(6, 21, 0)
    add(4, 2)
    rotateXor(2, 17, 4)
    swapHalves(4)
  }
  const compress = (low: number, high: number) => {
    v[6]! ^= low
    v[7]! ^= high
    round()
    round()
    v[0]! ^= low
    v[1]! ^= high
  }
  return (input) => {
    const k = [seedLow, seedHigh, seedHigh, seedLow] as const
    v[0] = k[0] ^ 0x70736575
    v[1] = k[1] ^ 0x736f6d65
    v[2] = k[2] ^ 0x6e646f6d
    v[3] = k[3] ^ 0x646f7261
    v[4] = k[0] ^ 0x6e657261
    v[5] = k[1] ^ 0x6c796765
    v[6] = k[2] ^ 0x79746573
    v[7] = k[3] ^ 0x74656462
    const view = Buffer.from(input.buffer, input.byteOffset, input.byteLength)
    const whole = view.length - (view.length % 8)
    for (let at = 0; at < whole; at += 8) compress(view.readInt32LE(at), view.readInt32LE(at + 4))
    const last = Buffer.alloc(8)
    view.copy(last, 0, whole)
    last[7] = view.length & 0xff
    compress(last.readInt32LE(0), last.readInt32LE(4))
    v[4]! ^= 0xff
    for (let i = 0; i < 4; i += 1) round()
    return {
      low: (v[0]! ^ v[2]! ^ v[4]! ^ v[6]!) >>> 0,
      high: (v[1]! ^ v[3]! ^ v[5]! ^ v[7]!) >>> 0,
    }
  }
}
