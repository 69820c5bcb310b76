import type { StoragePosition, StoredSlot } from './storage-position.ts'

export interface MarkerCacheOptions<V> {
  /** The cache holds values of at most this weight in all, the oldest made are dropped first; and as much again of the marker before, to make new ones of. */
  readonly maxWeight: number
  readonly weigh: (value: V) => number
  /** Values also end after this time, for changes that move no marker, as of a backfill; default 5000. */
  readonly maxAgeMs?: number
  readonly now?: () => number
}

/**
 * What was made of storage, until storage moves on: when the marker moves, everything made before is forgotten, so that nothing is ever served
 * older than one marker. A value that several ask for at once is made once; one that could not be made is not kept. Whoever makes a value sees the one of the
 * marker before, where there is one, so that what has not changed can stay in its place.
 */
export class MarkerCache<V> {
  readonly #position: Pick<StoragePosition, 'stored'>
  readonly #options: Required<MarkerCacheOptions<V>>
  #entries = new Map<string, Entry<V>>()
  /** As of the marker before. */
  #before: ReadonlyMap<string, Entry<V>> = new Map()
  #stored: StoredSlot | null = null
  #weight = 0

  constructor(position: Pick<StoragePosition, 'stored'>, options: MarkerCacheOptions<V>) {
    this.#position = position
    this.#options = { maxAgeMs: 5000, now: Date.now, ...options }
  }

  /** The value of the key as of the newest marker; `make` reads storage as of `stored`. */
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

  /** Makes what was asked for since the last move anew, as of a slot that is about to be the newest; in force when what it gives is called. */
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
  /** The value, once it is made. */
  made: V | undefined
  readonly madeAt: number
  /** 0 while it is being made. */
  weight: number
}
