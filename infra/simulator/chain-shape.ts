import { hash32 } from './random.ts'

/** What became of a slot: a block on the chain, nothing (its leader missed it), or a block on a fork that was given up. */
export type SlotKind = 'produced' | 'skipped' | 'dead'

/** Which slots of a chain have blocks; the same for ever for the same settings. */
export interface ChainShape {
  kind(slot: number): SlotKind
  /** The newest produced slot before this one. */
  parent(slot: number): number
  /** This slot, or the first produced one after it. */
  atOrAfter(slot: number): number
  /** Blocks on the chain up to and including this produced slot. */
  height(slot: number): number
}

const WINDOW = 16

/** A chain on which of every 16 slots one is skipped and one dies with its fork, as far as asked for. */
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
