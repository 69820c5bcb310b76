/**
 * Numbers by 32-byte keys, for asking about many keys of which hardly any is there: one look at a bit table small enough for the processor's cache, so that it costs
 * the same for two hundred keys and for a million, and allocates nothing. Numbers are 1 or more; a key that was not put gives 0.
 */
export interface KeyTable {
  get(key: Uint8Array): number
}

/** Makes the table; `numbers[i]` (default `i + 1`) belongs to `keys[i]`. Of equal keys the first wins. Every key has 32 bytes. */
export function createKeyTable(keys: readonly Uint8Array[], numbers?: readonly number[]): KeyTable {
  let capacity = 16
  while (capacity < keys.length * 2) capacity *= 2
  const mask = capacity - 1
  const slots = new Uint32Array(capacity) // position in `flat` plus one; 0 is empty
  const flat = new Uint8Array(keys.length * KEY_BYTES)
  const values = Uint32Array.from(numbers ?? keys.map((_, i) => i + 1))
  const presence = new Presence(keys.length)

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
 * Whether something with a hash of 32 bits may have been put in: never wrong when it says no, wrong in about one of fifteen when it says yes. Two bytes an entry.
 */
export class Presence {
  private readonly bits: Uint32Array
  private readonly mask: number

  constructor(count: number) {
    let words = 16
    while (words * 2 < count) words *= 2
    this.bits = new Uint32Array(words)
    this.mask = words - 1
  }

  add(hash: number): void {
    this.bits[(hash >>> 5) & this.mask]! |= 1 << (hash & 31)
  }

  mayHave(hash: number): boolean {
    return (this.bits[(hash >>> 5) & this.mask]! & (1 << (hash & 31))) !== 0
  }
}

const KEY_BYTES = 32

/** Keys are points or hashes: any four bytes spread well, but the first are often chosen for their looks. */
function hashOf(key: Uint8Array): number {
  return mix(key[20]! | (key[21]! << 8) | (key[22]! << 16) | (key[23]! << 24))
}

/** Spreads what differs in a few bits of a word over all of them: the last step of MurmurHash3. */
export function mix(word: number): number {
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

function same(flat: Uint8Array, from: number, key: Uint8Array): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (flat[from + i] !== key[i]) return false
  return true
}
