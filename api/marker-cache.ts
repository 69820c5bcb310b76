import type { StoredSlot } from './state-reader.ts'
import type { StoragePosition } from './storage-position.ts'

/** Bounds of a `MarkerCache`. */
export interface MarkerCacheOptions<V> {
  /**
   * The largest total weight; the least recently used value is evicted first. Values of the
   * previous marker take as much again, because new values are derived from them.
   */
  readonly maxWeight: number
  readonly weigh: (value: V) => number
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

/**
 * Facts about tokens and prices of pools come without a marker. So values are derived again while
 * the marker stands still.
 */
const MAX_AGE_MS = 5000

/**
 * A cache of values derived from storage. All values expire when the storage marker moves, so no
 * value is older than one marker, or five seconds. Concurrent requests for one key share one
 * computation, and failures are not cached. `make` receives the value of the previous marker, so
 * that it can return the same object if nothing changed.
 */
export class MarkerCache<V> {
  readonly #position: Pick<StoragePosition, 'stored'>
  readonly #options: MarkerCacheOptions<V>
  readonly #now: () => number
  #entries = new Map<string, Entry<V>>()
  /** Values of the previous marker. */
  #before: ReadonlyMap<string, Entry<V>> = new Map()
  #stored: StoredSlot | null = null
  /** When values expire that the marker has not moved from. */
  #until = 0
  #weight = 0

  constructor(position: Pick<StoragePosition, 'stored'>, options: MarkerCacheOptions<V>) {
    this.#position = position
    this.#options = options
    this.#now = options.now ?? performance.now.bind(performance)
  }

  /** Returns the value of a key as of the newest marker; `make` reads storage as of `stored`. */
  get(key: string, make: (stored: StoredSlot | null, before?: V) => Promise<V>): Promise<V> {
    const stored = this.#position.stored()
    const time = this.#now()
    if (stored !== this.#stored || time >= this.#until) {
      this.#expire(stored)
      this.#until = time + MAX_AGE_MS
    }
    const known = this.#entries.get(key)
    if (known !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, known) // the most recently used is the last
      return known.value
    }
    const entry: Entry<V> = {
      value: make(stored, this.#before.get(key)?.made),
      made: undefined,
      weight: 0,
    }
    this.#entries.set(key, entry)
    entry.value.then(
      (value) => this.#weighIn(key, entry, value),
      () => this.#drop(key, entry),
    )
    return entry.value
  }

  #expire(stored: StoredSlot | null): void {
    this.#stored = stored
    this.#before = this.#entries
    this.#entries = new Map()
    this.#weight = 0
  }

  #weighIn(key: string, entry: Entry<V>, value: V): void {
    if (this.#entries.get(key) !== entry) return
    entry.made = value
    entry.weight = this.#options.weigh(value)
    this.#weight += entry.weight
    for (const [leastUsed, other] of this.#entries) {
      if (this.#weight <= this.#options.maxWeight) break
      this.#drop(leastUsed, other)
    }
  }

  #drop(key: string, entry: Entry<V>): void {
    if (this.#entries.get(key) !== entry) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }
}

interface Entry<V> {
  readonly value: Promise<V>
  /** The cached value; undefined until it is computed. */
  made: V | undefined
  /** 0 until the value is computed. */
  weight: number
}
