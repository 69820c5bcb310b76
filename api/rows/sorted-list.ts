import { setImmediate as nextTurn } from 'node:timers/promises'

/** A sorted list of distinct items. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number
  #items: T[] = []

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get items(): readonly T[] {
    return this.#items
  }

  /**
   * Replaces the items, given in any order. Many items are sorted in steps, so that the event loop
   * is not blocked.
   */
  async fill(items: readonly T[]): Promise<void> {
    let runs: T[][] = []
    for (let at = 0; at < items.length; at += SORTED_AT_ONCE) {
      runs.push(items.slice(at, at + SORTED_AT_ONCE).sort(this.#compare))
      await nextTurn()
    }
    while (runs.length > 1) {
      const longer: T[][] = []
      for (let at = 0; at < runs.length; at += 2) {
        longer.push(merged(runs[at] ?? [], runs[at + 1] ?? [], this.#compare))
        await nextTurn()
      }
      runs = longer
    }
    this.#items = runs[0] ?? []
  }

  /** Removes items and adds others. */
  change(removed: readonly T[], added: readonly T[]): void {
    if (removed.length + added.length <= MOVES_AT_ONCE) {
      for (const item of removed) this.#items.splice(this.#indexOf(item), 1)
      for (const item of added) this.#items.splice(this.#indexOf(item), 0, item)
      return
    }
    const gone = new Set(removed)
    const kept = gone.size === 0 ? this.#items : this.#items.filter((item) => !gone.has(item))
    this.#items = merged(kept, [...added].sort(this.#compare), this.#compare)
  }

  /** Removes all but the last `count` items. */
  keepLast(count: number): void {
    this.#items = count === 0 ? [] : this.#items.slice(-count)
  }

  /**
   * Number of items before the first for which `isBehind` is true; it must be true for all later
   * ones too.
   */
  countBefore(isBehind: (item: T) => boolean): number {
    let low = 0
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const item = this.#items[middle]
      if (item !== undefined && isBehind(item)) high = middle
      else low = middle + 1
    }
    return low
  }

  /** Index at which the item is or would be. */
  #indexOf(item: T): number {
    return this.countBefore((other) => this.#compare(other, item) >= 0)
  }
}

const SORTED_AT_ONCE = 5000

/** Above this number of changes, one pass over all items is faster than splices. */
const MOVES_AT_ONCE = 40

function merged<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): T[] {
  const all: T[] = []
  let at = 0
  for (const item of a) {
    for (let next = b[at]; next !== undefined && compare(next, item) < 0; next = b[at]) {
      all.push(next)
      at++
    }
    all.push(item)
  }
  for (; at < b.length; at++) all.push(b[at] as T) // within bounds
  return all
}
