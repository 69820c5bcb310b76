/** A stream of numbers that depends on its seed alone. */
export interface Random {
  /** 0 to 2^32 - 1. */
  uint32(): number
  /** 0 up to, but not including, 1. */
  float(): number
  /** 0 up to, but not including, `n`. */
  below(n: number): number
  /** `low` up to, but not including, `high`. */
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: T[]): T[]
}

/**
 * Mixes integers and texts into one 32-bit number. A change of any part changes all bits (murmur3's
 * finaliser).
 */
export function hash32(...parts: readonly (number | string)[]): number {
  let state = 0x9e3779b9
  for (const part of parts) {
    if (typeof part === 'number') {
      state = mix(state ^ (part | 0))
      const high = Math.floor(part / 0x100000000)
      if (high !== 0) state = mix(state ^ high)
    } else {
      for (let i = 0; i < part.length; i += 1) {
        state = Math.imul(state ^ part.charCodeAt(i), 0x01000193)
      }
      state = mix(state)
    }
  }
  return state >>> 0
}

function mix(value: number): number {
  let h = value
  h ^= h >>> 16
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  h ^= h >>> 16
  return (h + 0x7f4a7c15) | 0
}

/**
 * A stream of numbers for one purpose, such as `createRandom(seed, 'plan', desk, episode)`.
 * Generator: sfc32.
 */
export function createRandom(...parts: readonly (number | string)[]): Random {
  let a = hash32(...parts, 1)
  let b = hash32(...parts, 2)
  let c = hash32(...parts, 3)
  let counter = 1
  const uint32 = (): number => {
    const t = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }
  for (let i = 0; i < 8; i += 1) uint32()
  const float = () => uint32() / 0x100000000
  const below = (n: number) => Math.floor(float() * n)
  return {
    uint32,
    float,
    below,
    between: (low, high) => low + float() * (high - low),
    chance: (probability) => float() < probability,
    pick: (items) => items[below(items.length)]!,
    shuffle(items) {
      for (let i = items.length - 1; i > 0; i -= 1) {
        const j = below(i + 1)
        const held = items[i]!
        items[i] = items[j]!
        items[j] = held
      }
      return items
    },
  }
}
