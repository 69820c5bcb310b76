/** When a standby takes over, in milliseconds. */
export interface LeaderWatchLimits {
  /**
   * The next slot of the chain was received so long ago, and the log has nothing new since. Longer
   * for a leader that is slow: `PATIENCE` times as long as it needed for a slot lately.
   */
  readonly leaderLostMs: number
  /** The same while the leader was not yet seen to append `KNOWN_SLOTS`. */
  readonly leaderUnknownMs: number
  /**
   * The same for any later slot: the leader may be fetching the slots before it. Also the longest
   * time for the next slot.
   */
  readonly leaderStuckMs: number
}

/** The limits in production. A slot takes about 400 ms. */
export const LEADER_WATCH_LIMITS: LeaderWatchLimits = {
  leaderLostMs: 1300,
  leaderUnknownMs: 2000,
  leaderStuckMs: 10_000,
}

/** Slots by which a leader is known, and those whose delays count. */
const KNOWN_SLOTS = 3
const RECENT_SLOTS = 64
const PATIENCE = 3

/**
 * Compares what the log has with what a standby has received, to decide whether the leader is lost
 * (rule K14). It needs no lease: a needless takeover loses nothing, because the former leader is
 * fenced. But it costs a restart, so on a machine with too much work each takeover would lead to
 * the next one, if a slow leader did not get more time. Pure: times are monotonic milliseconds.
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
  /** How long after this process had the newest slots the log had them; slots that it had first. */
  readonly #delays: number[] = []

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
    for (const [received, { at }] of this.#received) {
      if (received > newest) continue
      this.#received.delete(received)
      this.#delays.push(now - at)
    }
    this.#delays.splice(0, this.#delays.length - RECENT_SLOTS)
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
    const { leaderStuckMs } = this.#limits
    const patienceMs = this.#patienceMs()
    for (const { parent, at } of this.#received.values()) {
      const isNext = this.#newest === -1 || parent === this.#newest
      const waited = now - Math.max(at, this.#movedAt)
      if (waited >= (isNext ? patienceMs : leaderStuckMs)) return true
    }
    return false
  }

  /** How long the next slot may wait. An empty log never had a leader. */
  #patienceMs(): number {
    const { leaderLostMs, leaderUnknownMs, leaderStuckMs } = this.#limits
    if (this.#newest === -1) return leaderLostMs
    const least = this.#delays.length < KNOWN_SLOTS ? leaderUnknownMs : leaderLostMs
    return Math.min(leaderStuckMs, Math.max(least, PATIENCE * Math.max(0, ...this.#delays)))
  }
}

/** Slots remembered, at most. Without a leader no more are needed. */
const MAX_RECEIVED = 1000
