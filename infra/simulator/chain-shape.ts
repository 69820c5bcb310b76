import { hash32 } from './random.ts'

/**
 * Whether a slot has a block on the chain (`produced`), none because its leader missed it
 * (`skipped`), or a block on an abandoned fork (`dead`).
 */
export type SlotKind = 'produced' | 'skipped' | 'dead'

/** Which slots of a chain have blocks. The same settings always give the same result. */
export interface ChainShape {
  kind(slot: number): SlotKind
  /** The newest produced slot before this one. */
  parent(slot: number): number
  /** The first produced slot at or after this one. */
  atOrAfter(slot: number): number
  /** Number of blocks on the chain up to this produced slot, included. */
  height(slot: number): number
}

const WINDOW = 16

/**
 * A chain on which one of every 16 slots is skipped and one is dead, each only if its trouble is
 * on.
 */
export function createChainShape(
  seed: number,
  trouble: { readonly skippedSlots: boolean; readonly forks: boolean },
): ChainShape {
  const skippedIn = (window: number) =>
    trouble.skippedSlots ? hash32(seed, 'skipped', window) % WINDOW : -1
  const deadIn = (window: number) => {
    if (!trouble.forks) return -1
    const index = hash32(seed, 'dead', window) % WINDOW
    return index === skippedIn(window) ? (index + 1) % WINDOW : index
  }
  const kind = (slot: number): SlotKind => {
    const window = Math.floor(slot / WINDOW)
    const index = slot - window * WINDOW
    if (index === skippedIn(window)) return 'skipped'
    return index === deadIn(window) ? 'dead' : 'produced'
  }
  const missingPerWindow = Number(trouble.skippedSlots) + Number(trouble.forks)
  return {
    kind,
    parent(slot) {
      let candidate = slot - 1
      while (kind(candidate) !== 'produced') candidate -= 1
      return candidate
    },
    atOrAfter(slot) {
      let candidate = slot
      while (kind(candidate) !== 'produced') candidate += 1
      return candidate
    },
    height(slot) {
      const window = Math.floor(slot / WINDOW)
      const index = slot - window * WINDOW
      const missingHere =
        Number(within(skippedIn(window), index)) + Number(within(deadIn(window), index))
      return slot - window * missingPerWindow - missingHere
    },
  }
}

function within(missing: number, index: number): boolean {
  return missing >= 0 && missing < index
}
