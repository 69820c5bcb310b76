/** When the slots of a run passed. They pass faster or slower than those of a real chain. */
export class MarketTimes {
  readonly #passed: { readonly slot: number; readonly ms: number }[] = []

  /** Notes that the market has reached a slot, at a time in unix milliseconds. */
  note(slot: number, ms: number): void {
    this.#passed.push({ slot, ms })
  }

  /** When a slot was over, in unix milliseconds; infinite if it is not. */
  timeOf(slot: number): number {
    return this.#passed.find((passed) => passed.slot >= slot)?.ms ?? Number.POSITIVE_INFINITY
  }

  /** The newest slot that was over at a time; 0 before the first. */
  slotAt(ms: number): number {
    return this.#passed.findLast((passed) => passed.ms <= ms)?.slot ?? 0
  }
}
