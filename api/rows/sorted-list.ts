import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * A sorted list of distinct items, in chunks, so that a change moves few items in a list of any
 * length.
 */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number
  /** None is empty. */
  #chunks: T[][] = []
  #size = 0

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
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
    const sorted = runs[0] ?? []
    this.#chunks = []
    for (let at = 0; at < sorted.length; at += CHUNK / 2)
      this.#chunks.push(sorted.slice(at, at + CHUNK / 2))
    this.#size = sorted.length
  }

  /** Adds an item that is not in the list. */
  add(item: T): void {
    this.#size += 1
    const at = Math.min(this.#chunkOf(item), this.#chunks.length - 1)
    const chunk = this.#chunks[at]
    if (chunk === undefined) {
      this.#chunks.push([item])
      return
    }
    chunk.splice(this.#indexIn(chunk, item), 0, item)
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2))
  }

  /** Removes an item of the list. */
  remove(item: T): void {
    const at = this.#chunkOf(item)
    const chunk = this.#chunks[at]
    const index = chunk === undefined ? -1 : this.#indexIn(chunk, item)
    if (chunk === undefined || chunk[index] === undefined) return
    if (this.#compare(chunk[index], item) !== 0) return
    this.#size -= 1
    chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** Removes all but the last `count` items. */
  keepLast(count: number): void {
    for (let more = this.#size - count; more > 0; more = this.#size - count) {
      const [first] = this.#chunks
      if (first === undefined) return
      this.#size -= first.splice(0, more).length
      if (first.length === 0) this.#chunks.shift()
    }
  }

  /** Item at an index; undefined beyond the end. */
  at(index: number): T | undefined {
    let left = index
    for (const chunk of this.#chunks) {
      if (left < chunk.length) return chunk[left]
      left -= chunk.length
    }
    return undefined
  }

  /** Items from `from` on, in order. */
  *from(from: number): Generator<T> {
    let skip = from
    for (const chunk of this.#chunks) {
      if (skip < chunk.length)
        // Within bounds.
        for (let at = Math.max(0, skip); at < chunk.length; at++) yield chunk[at] as T
      skip -= chunk.length
    }
  }

  slice(from: number, to: number): T[] {
    const items: T[] = []
    if (to <= from) return items
    for (const item of this.from(from)) {
      items.push(item)
      if (items.length >= to - from) break
    }
    return items
  }

  /**
   * Number of items before the first for which `isBehind` is true; it must be true for all later
   * ones too.
   */
  countBefore(isBehind: (item: T) => boolean): number {
    // No chunk is empty.
    const at = firstWhere(this.#chunks, (chunk) => isBehind(chunk[chunk.length - 1] as T))
    let count = 0
    for (let before = 0; before < at; before++) count += this.#chunks[before]?.length ?? 0
    return count + firstWhere(this.#chunks[at] ?? [], isBehind)
  }

  /** Index of the chunk that has the item, or would have it; beyond the last, their number. */
  #chunkOf(item: T): number {
    return firstWhere(
      this.#chunks,
      (chunk) => this.#compare(chunk[chunk.length - 1] as T, item) >= 0,
    )
  }

  #indexIn(chunk: readonly T[], item: T): number {
    return firstWhere(chunk, (other) => this.#compare(other, item) >= 0)
  }
}

const SORTED_AT_ONCE = 5000
/** Most items of a chunk. */
const CHUNK = 1024

/** Index of the first item for which `isSo` is true, as for all later ones. */
function firstWhere<T>(items: readonly T[], isSo: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(items[middle] as T))
      high = middle // within bounds
    else low = middle + 1
  }
  return low
}

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
