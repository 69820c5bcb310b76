import type { StoragePosition, StoredSlot } from './storage-position.ts'

/** Bounds of a `MarkerCache`. */
export interface MarkerCacheOptions<V> {
  /**
   * The largest total weight; the oldest values are evicted first. Values of the previous marker
   * take as much again, because new values are derived from them.
   */
  readonly maxWeight: number
  readonly weigh: (value: V) => number
  /**
   * Values expire after this time, because a backfill changes rows without moving the marker;
   * default 5000.
   */
  readonly maxAgeMs?: number
  readonly now?: () => number
}

/**
 * A cache of values derived from storage. All values expire when the storage marker moves, so no
 * value is older than one marker. Concurrent requests for one key share one computation, and
 * failures are not cached. `make` receives the value of the previous marker, so that it can return
 * the same object if nothing changed.
 */
export class MarkerCache<V> {
  readonly #position: Pick<StoragePosition, 'stored'>
  readonly #options: Required<MarkerCacheOptions<V>>
  #entries = new Map<string, Entry<V>>()
  /** Values of the previous marker. */
  #before: ReadonlyMap<string, Entry<V>> = new Map()
  #stored: StoredSlot | null = null
  #weight = 0

  constructor(position: Pick<StoragePosition, 'stored'>, options: MarkerCacheOptions<V>) {
    this.#position = position
    this.#options = { maxAgeMs: 5000, now: Date.now, ...options }
  }

  /** Returns the value of a key as of the newest marker; `make` reads storage as of `stored`. */
  get(key: string, make: (stored: StoredSlot | null, before?: V) => Promise<V>): Promise<V> {
    const stored = this.#position.stored()
    if (stored !== this.#stored) this.#move(stored)
    const now = this.#options.now()
    const known = this.#entries.get(key)
    if (known !== undefined && now - known.madeAt < this.#options.maxAgeMs) return known.value
    const before = known ?? this.#before.get(key)
    const entry: Entry<V> = {
      value: make(stored, before?.made),
      made: undefined,
      weight: 0,
      madeAt: now,
    }
    if (known !== undefined) this.#drop(key, known)
    this.#entries.set(key, entry)
    entry.value.then(
      (value) => this.#weighIn(key, entry, value),
      () => this.#drop(key, entry),
    )
    return entry.value
  }

  /**
   * Computes every value requested since the marker last moved, as of the next marker. The returned
   * function puts the values in force; call it when the marker moves.
   */
  async prepare(
    next: StoredSlot,
    make: (key: string, before?: V) => Promise<V>,
  ): Promise<() => void> {
    const keys = [...this.#entries.keys()]
    const values = await Promise.all(keys.map((key) => make(key, this.#entries.get(key)?.made)))
    return () => {
      this.#move(next)
      for (const [index, key] of keys.entries()) {
        const value = values[index] as V // one for each key
        const madeAt = this.#options.now()
        const entry: Entry<V> = {
          value: Promise.resolve(value),
          made: undefined,
          weight: 0,
          madeAt,
        }
        this.#entries.set(key, entry)
        this.#weighIn(key, entry, value)
      }
    }
  }

  #move(stored: StoredSlot | null): void {
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
    for (const [oldest, other] of this.#entries) {
      if (this.#weight <= this.#options.maxWeight) break
      this.#drop(oldest, other)
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
  readonly madeAt: number
  /** 0 until the value is computed. */
  weight: number
}
