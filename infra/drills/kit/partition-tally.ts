/**
 * Compares what a reader receives of one partition with what was appended to it. Entries are known
 * by their index: 0 for the first one that was appended.
 */
export class PartitionTally {
  /** Entries that came again after their first time. */
  repeated = 0
  /** Entries that came for the first time after a later one. */
  disordered = 0
  #next = 0
  readonly #missing = new Set<number>()

  /** Counts an entry as it is read. */
  read(index: number): void {
    if (index < this.#next) {
      if (this.#missing.delete(index)) this.disordered++
      else this.repeated++
      return
    }
    for (; this.#next < index; this.#next++) this.#missing.add(this.#next)
    this.#next++
  }

  /** How many of the first `appended` entries have not come. */
  lost(appended: number): number {
    return this.#missing.size + Math.max(0, appended - this.#next)
  }

  /** Whether an entry with this index or a later one has come. */
  hasReached(index: number): boolean {
    return this.#next > index
  }
}
