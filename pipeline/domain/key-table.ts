/**
 * Numbers by 32-byte keys: one probe over flat memory, so that asking costs the same for two hundred keys and for a million,
 * and allocates nothing. Numbers are 1 or more; a key that was not put gives 0.
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

  function find(key: Uint8Array): number {
    let at = hash(key) & mask
    for (;;) {
      const entry = slots[at]!
      if (entry === 0 || same(flat, (entry - 1) * KEY_BYTES, key)) return at
      at = (at + 1) & mask
    }
  }

  keys.forEach((key, i) => {
    if (key.length !== KEY_BYTES) throw new RangeError(`a key has 32 bytes, not ${key.length}`)
    flat.set(key, i * KEY_BYTES)
    const at = find(key)
    if (slots[at] === 0) slots[at] = i + 1
  })

  return {
    get(key) {
      if (key.length !== KEY_BYTES) return 0
      const entry = slots[find(key)]!
      return entry === 0 ? 0 : values[entry - 1]!
    },
  }
}

const KEY_BYTES = 32

/** Keys are points or hashes: any four bytes spread well, but the first are often chosen for their looks. */
function hash(key: Uint8Array): number {
  const word = key[20]! | (key[21]! << 8) | (key[22]! << 16) | (key[23]! << 24)
  return Math.imul(word ^ (word >>> 15), 0x2c1b3c6d) >>> 8
}

function same(flat: Uint8Array, from: number, key: Uint8Array): boolean {
  for (let i = 0; i < KEY_BYTES; i++) if (flat[from + i] !== key[i]) return false
  return true
}
