/** When a standby takes over, in milliseconds. */
export interface LeaderWatchLimits {
  /** The next slot of the chain was received so long ago, and the log has nothing new since. */
  readonly leaderLostMs: number
  /** The same for any later slot: the leader may be fetching the slots before it. */
  readonly leaderStuckMs: number
}

/** The limits in production. A slot takes about 400 ms. */
export const LEADER_WATCH_LIMITS: LeaderWatchLimits = { leaderLostMs: 1300, leaderStuckMs: 10_000 }

/**
 * Compares what the log has with what a standby has received, to decide whether the leader is lost
 * (rule K14). It needs no lease: a needless takeover does no harm, because the former leader is
 * fenced. Pure: times are monotonic milliseconds.
 */
export class LeaderWatch {
  readonly #limits: LeaderWatchLimits
  /** By partition: the newest marker; -1 for none. */
  readonly #markers: number[]
  /** Slots that were received and are not on the log. */
  readonly #received = new Map<number, { readonly parent: number; readonly at: number }>()
  /** When the log last had something new, as far as this process could have seen it. */
  #movedAt: number
  #newest = -1

  constructor(partitions: number, limits: LeaderWatchLimits, now: number) {
    this.#markers = Array.from({ length: partitions }, () => -1)
    this.#limits = limits
    this.#movedAt = now
  }

  /** The newest slot whose marker is on every partition; -1 for none. */
  get newest(): number {
    return this.#newest
  }

  /** Notes a marker on the log. */
  onMarker(partition: number, slot: number, now: number): void {
    if (slot <= (this.#markers[partition] ?? slot)) return
    this.#markers[partition] = slot
    const newest = Math.min(...this.#markers)
    if (newest === this.#newest) return
    this.#newest = newest
    this.#movedAt = now
    for (const received of this.#received.keys())
      if (received <= newest) this.#received.delete(received)
  }

  /** Notes a slot with its block meta and its confirmation. */
  onReceived(slot: number, parent: number, now: number): void {
    if (slot <= this.#newest) return
    this.#received.set(slot, { parent, at: now })
    if (this.#received.size <= MAX_RECEIVED) return
    const [oldest] = this.#received.keys()
    this.#received.delete(oldest ?? slot)
  }

  /** Starts to wait anew: this process was suspended, or Kafka did not answer. */
  restart(now: number): void {
    this.#movedAt = now
  }

  /** Whether the leader appends nothing although it should. */
  isLeaderLost(now: number): boolean {
    const { leaderLostMs, leaderStuckMs } = this.#limits
    for (const { parent, at } of this.#received.values()) {
      const isNext = this.#newest === -1 || parent === this.#newest
      const waited = now - Math.max(at, this.#movedAt)
      if (waited >= (isNext ? leaderLostMs : leaderStuckMs)) return true
    }
    return false
  }
}

/** Slots remembered, at most. Without a leader no more are needed. */
const MAX_RECEIVED = 1000
