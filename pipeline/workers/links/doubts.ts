import { chainText, type Stretch } from '../../store/tables/links.ts'

/** A stretch of a chain to look at, and when (milliseconds of the wall clock). */
export interface Doubt {
  readonly stretch: Stretch
  /** When it was first seen. */
  readonly seenAt: number
  readonly dueAt: number
}

/** A break opens this long after it was seen: what is missing may only be late (rule K8). */
export const OPENS_AFTER_MS = 10_000
const MAX_DOUBTS = 20_000

/**
 * Stretches of chains to look at, one for each account. Bounded: accounts beyond the bound are left
 * to a check of their whole wallet.
 */
export class Doubts {
  readonly #doubts = new Map<string, Doubt>()

  /** Adds a stretch to that of its account. Returns false if there are too many accounts. */
  add(stretch: Stretch, seenAt: number, dueAt: number): boolean {
    const key = chainText(stretch)
    const known = this.#doubts.get(key)
    if (known === undefined && this.#doubts.size >= MAX_DOUBTS) return false
    this.#doubts.set(key, {
      stretch: known === undefined ? stretch : union(known.stretch, stretch),
      seenAt: Math.min(known?.seenAt ?? seenAt, seenAt),
      dueAt: Math.min(known?.dueAt ?? dueAt, dueAt),
    })
    return true
  }

  /** Removes and returns those that are due, the oldest first. */
  take(now: number, limit: number): Doubt[] {
    const due = [...this.#doubts.values()]
      .filter(({ dueAt }) => dueAt <= now)
      .sort((a, b) => a.seenAt - b.seenAt)
      .slice(0, limit)
    for (const { stretch } of due) this.#doubts.delete(chainText(stretch))
    return due
  }

  /** The lowest slot of all stretches; infinite when there is none. */
  get lowestSlot(): number {
    let lowest = Number.POSITIVE_INFINITY
    for (const { stretch } of this.#doubts.values()) lowest = Math.min(lowest, stretch.fromSlot)
    return lowest
  }

  clear(): void {
    this.#doubts.clear()
  }
}

function union(a: Stretch, b: Stretch): Stretch {
  return {
    ...a,
    fromSlot: Math.min(a.fromSlot, b.fromSlot),
    toSlot: Math.max(a.toSlot, b.toSlot),
  }
}
