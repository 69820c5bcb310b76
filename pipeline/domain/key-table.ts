/**
 * A read-only hash table from 32-byte keys to numbers, made for lookups that rarely hit. A Bloom
 * filter small enough for the processor's cache answers most of them. A lookup allocates nothing
 * and costs the same for 200 keys as for a million. Numbers are 1 or more; an unknown key gives 0.
 */
export interface KeyTable {
  get(key: Uint8Array): number
}

/**
 * Returns a table in which `keys[i]` has number `numbers[i]` (default `i + 1`). If keys are equal,
 * the first one counts. Throws a RangeError for a key of another length than 32.
 */
export function createKeyTable(keys: readonly Uint8Array[], numbers?: readonly number[]): KeyTable {
  let capacity = 16
  while (capacity < keys.length * 2) capacity *= 2
  const mask = capacity - 1
  const slots = new Uint32Array(capacity) // index in `flat` plus one; 0 is empty
  const flat = new Uint8Array(keys.length * KEY_BYTES)
  const values = Uint32Array.from(numbers ?? keys.map((_, i) => i + 1))
  const presence = new BloomFilter(keys.length)

  function find(key: Uint8Array, hash: number): number {
    let at = hash & mask
    for (;;) {
      const entry = slots[at]!
      if (entry === 0 || same(flat, (entry - 1) * KEY_BYTES, key)) return at
      at = (at + 1) & mask
    }
  }

  keys.forEach((key, i) => {
    if (key.length !== KEY_BYTES) throw new RangeError(`a key has 32 bytes, not ${key.length}`)
    flat.set(key, i * KEY_BYTES)
    const hash = hashOf(key)
    presence.add(hash)
    const at = find(key, hash)
    if (slots[at] === 0) slots[at] = i + 1
  })

  return {
    get(key) {
      const hash = hashOf(key)
      if (!presence.mayHave(hash) || key.length !== KEY_BYTES) return 0
      const entry = slots[find(key, hash)]!
      return entry === 0 ? 0 : values[entry - 1]!
    },
  }
}

/**
 * A Bloom filter with one 32-bit hash: a "no" is always right, a "yes" is wrong for about one in 15
 * absent keys. Takes two bytes per entry.
 */
export class BloomFilter {
  private readonly bits: Uint32Array
  private readonly mask: number

  constructor(count: number) {
    let words = 16
    while (words * 2 < count) words *= 2
    this.bits = new Uint32Array(words)
    this.mask = words - 1
  }

  /** Adds a hash. */
  add(hash: number): void {
    this.bits[(hash >>> 5) & this.mask]! |= 1 << (hash & 31)
  }

  /** Whether the hash may have been added. */
  mayHave(hash: number): boolean {
    return (this.bits[(hash >>> 5) & this.mask]! & (1 << (hash & 31))) !== 0
  }
}

const KEY_BYTES = 32

/**
 * Hash of a key. Keys are curve points or hashes, so any four bytes are random, except the first,
 * which vanity addresses choose.
 */
function hashOf(key: Uint8Array): number {
  return mixBits(key[20]! | (key[21]! << 8) | (key[22]! << 16) | (key[23]! << 24))
}

/** Spreads the entropy of a word over all of its bits: the final step of MurmurHash3. */
export function mixBits(word: number): number {
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function same(flat: Uint8Array, from: number, key: Uint8Array): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (flat[from + i] !== key[i]) return false
  return true
}
