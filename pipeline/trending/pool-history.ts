import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import { HOUR_SECONDS, isPriced } from './figures.ts'

/** Snapshots of a token's pools: those of the last hour, and the newest before it. */
export class PoolHistory {
  /** By time. */
  #snapshots: PoolSnapshot[] = []

  /** Adds a snapshot; of two with the same `at` the later counts. */
  add(snapshot: PoolSnapshot): void {
    const newest = this.#snapshots.at(-1)
    if (newest !== undefined && newest.at >= snapshot.at)
      this.#snapshots = this.#snapshots.filter(({ at }) => at !== snapshot.at)
    this.#snapshots.push(snapshot)
    this.#snapshots.sort((a, b) => a.at - b.at)
  }

  /** Drops snapshots that no figure from tick `at` on needs. */
  moveTo(at: number): void {
    while ((this.#snapshots[1]?.at ?? Number.POSITIVE_INFINITY) <= at - HOUR_SECONDS)
      this.#snapshots.shift()
  }

  /**
   * The newest snapshot at a time; null if it is not of `pool`, has no usable price, or is older
   * than the token's entry (rule G6).
   */
  newest(time: number, enteredAt: number, pool: string): PoolSnapshot | null {
    const snapshot = this.#snapshots.findLast(({ at }) => at <= time)
    if (snapshot === undefined || snapshot.at < enteredAt || snapshot.pool !== pool) return null
    return isPriced(snapshot) ? snapshot : null
  }

  /** The times at which a snapshot begins to count, now or as the figure of one hour ago. */
  changeTimes(): number[] {
    return this.#snapshots.flatMap(({ at }) => [at, at + HOUR_SECONDS])
  }
}
