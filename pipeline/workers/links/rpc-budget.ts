/** A budget of calls per hour. Unused calls of an hour are kept, at most one hour's. */
export class CallBudget {
  readonly #perHour: number
  readonly #now: () => number
  #left: number
  #countedAt: number

  /** `now`: milliseconds of the wall clock. */
  constructor(perHour: number, now: () => number) {
    this.#perHour = perHour
    this.#now = now
    this.#left = perHour
    this.#countedAt = now()
  }

  /** Counts a call. The budget may become negative: calls of a begun repair are not refused. */
  spend(): void {
    this.#left = this.#available() - 1
  }

  /** Whether calls are left. */
  get isLeft(): boolean {
    return this.#available() >= 1
  }

  #available(): number {
    const now = this.#now()
    const earned = ((now - this.#countedAt) / 3_600_000) * this.#perHour
    this.#countedAt = now
    this.#left = Math.min(this.#perHour, this.#left + earned)
    return this.#left
  }
}
