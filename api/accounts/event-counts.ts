/** Count of an event that unauthenticated clients can cause, by wallet, kind, network and hour. */
export interface CountedEvent {
  readonly wallet: string
  readonly kind: string
  /** `other` stands for all networks after the first `NETWORKS_AN_HOUR`. */
  readonly network: string
  /** When the first event was counted, in unix milliseconds. */
  readonly at: number
  readonly id: number
  count: number
}

interface Entry extends CountedEvent {
  written: number
}

/**
 * Counts in memory of one process. For each wallet, kind and hour there are at most
 * `NETWORKS_AN_HOUR` networks and `other`. There are at most `limit` counts in all.
 */
export class EventCounts {
  readonly #limit: number
  readonly #newId: () => number
  /** By wallet, kind and hour; then by network. */
  readonly #hours = new Map<string, { hour: number; networks: Map<string, Entry> }>()
  #size = 0

  constructor(limit: number, newId: () => number) {
    this.#limit = limit
    this.#newId = newId
  }

  /**
   * Counts one event at `at` (unix milliseconds). Returns false if there is no room for a new
   * count.
   */
  count(wallet: string, kind: string, from: string, at: number): boolean {
    const hour = Math.floor(at / HOUR_MS)
    const key = `${wallet} ${kind} ${hour}`
    const networks = this.#hours.get(key)?.networks ?? new Map<string, Entry>()
    const isNew = !networks.has(from)
    const network = isNew && networks.size >= NETWORKS_AN_HOUR ? 'other' : from
    const entry = networks.get(network)
    if (entry !== undefined) entry.count++
    else {
      if (this.#size >= this.#limit) this.#forgetWritten(hour)
      if (this.#size >= this.#limit) return false
      const id = this.#newId()
      networks.set(network, { wallet, kind, network, at, id, count: 1, written: 0 })
      this.#hours.set(key, { hour, networks })
      this.#size++
    }
    return true
  }

  /** Returns the counts that grew since they were last written. */
  unwritten(): CountedEvent[] {
    return [...this.#hours.values()]
      .flatMap(({ networks }) => [...networks.values()])
      .filter(({ count, written }) => count > written)
      .map(({ written: _, ...event }) => event)
  }

  hasUnwritten(wallet: string): boolean {
    for (const { networks } of this.#hours.values())
      for (const entry of networks.values())
        if (entry.wallet === wallet && entry.count > entry.written) return true
    return false
  }

  /** Marks events of `unwritten` as stored, and forgets stored counts of hours before `now`. */
  wrote(events: readonly CountedEvent[], now: number): void {
    for (const { wallet, kind, network, at, count } of events) {
      const key = `${wallet} ${kind} ${Math.floor(at / HOUR_MS)}`
      const entry = this.#hours.get(key)?.networks.get(network)
      if (entry !== undefined) entry.written = count
    }
    this.#forgetWritten(Math.floor(now / HOUR_MS))
  }

  /** Forgets all counts of these wallets. */
  forget(wallets: ReadonlySet<string>): void {
    for (const [key, { networks }] of this.#hours) {
      const [wallet = ''] = key.split(' ')
      if (wallets.has(wallet)) this.#delete(key, networks.size)
    }
  }

  #forgetWritten(current: number): void {
    for (const [key, { hour, networks }] of this.#hours) {
      const isWritten = [...networks.values()].every(({ count, written }) => count === written)
      if (hour < current && isWritten) this.#delete(key, networks.size)
    }
  }

  #delete(key: string, networks: number): void {
    this.#hours.delete(key)
    this.#size -= networks
  }
}

/**
 * Networks that are counted separately per wallet, kind and hour. Further networks count as
 * `other`.
 */
export const NETWORKS_AN_HOUR = 20
const HOUR_MS = 3600_000
