/**
 * Runs work of accounts: at most `atOnce` at a time over all, at most `perAccount` at a time for
 * one account. Of the accounts that wait the one that was served least in the last seconds is next,
 * so that the backlog of one delays no other.
 */
export class FairQueue {
  readonly #perAccount: number
  readonly #now: () => number
  #free: number
  readonly #running = new Map<string, number>()
  /** The account that came or was served longest ago comes first; no list is empty. */
  readonly #waiting = new Map<string, Turn[]>()
  /** Milliseconds of service, which lose half of their weight in each `HALF_LIFE_MS`. */
  readonly #served = new Map<string, { ms: number; at: number }>()
  #isServingSoon = false

  constructor(bounds: {
    readonly atOnce: number
    readonly perAccount: number
    readonly now?: () => number
  }) {
    this.#free = bounds.atOnce
    this.#perAccount = bounds.perAccount
    this.#now = bounds.now ?? performance.now.bind(performance)
  }

  /**
   * Runs `work` when it is the account's turn. Resolves with null, without running it, when it is
   * stale by then. Stale work takes no place and leaves the queue when more work of its account
   * comes.
   */
  run<T>(account: string, work: () => Promise<T>, isStale?: () => boolean): Promise<T | null> {
    return this.enter([account], work, isStale).done
  }

  /** The same for work that several accounts wait for: the first of their turns runs it. */
  enter<T>(
    accounts: Iterable<string>,
    work: () => Promise<T>,
    isStale: () => boolean = () => false,
  ): { readonly done: Promise<T | null>; join(account: string): void } {
    let hasBegun = false
    let begin: Turn['begin'] = async () => {}
    const done = new Promise<T | null>((resolve, reject) => {
      begin = async () => {
        if (hasBegun) return
        hasBegun = true
        if (isStale()) resolve(null)
        else await work().then(resolve, reject)
      }
    })
    const turn: Turn = { isOver: () => hasBegun || isStale(), begin }
    for (const account of accounts) this.#add(account, turn)
    this.#serve()
    return {
      done,
      join: (account) => {
        if (hasBegun) return
        this.#add(account, turn)
        this.#serve()
      },
    }
  }

  #add(account: string, turn: Turn): void {
    const before = this.#waiting.get(account) ?? []
    for (const other of before) if (other.isOver()) void other.begin()
    this.#waiting.set(account, [...before.filter((other) => !other.isOver()), turn])
  }

  #serve(): void {
    while (this.#free > 0 && !this.#isServingSoon) {
      const account = this.#next()
      if (account === null) return
      const [turn, ...rest] = this.#waiting.get(account) ?? []
      this.#waiting.delete(account)
      if (rest.length > 0) this.#waiting.set(account, rest)
      if (turn?.isOver()) void turn.begin()
      else if (turn !== undefined) void this.#begin(account, turn)
    }
  }

  #next(): string | null {
    let next: string | null = null
    let least = Number.POSITIVE_INFINITY
    for (const account of this.#waiting.keys()) {
      const ms = this.#servedOf(account)
      if (ms >= least || (this.#running.get(account) ?? 0) >= this.#perAccount) continue
      next = account
      least = ms
    }
    return next
  }

  async #begin(account: string, turn: Turn): Promise<void> {
    const began = this.#now()
    this.#free--
    this.#running.set(account, (this.#running.get(account) ?? 0) + 1)
    await turn.begin()
    this.#free++
    const others = (this.#running.get(account) ?? 1) - 1
    if (others === 0) this.#running.delete(account)
    else this.#running.set(account, others)
    const ms = this.#servedOf(account) + this.#now() - began
    this.#served.set(account, { ms, at: this.#now() })
    if (this.#served.size > MOST_REMEMBERED) this.#forgetLittle()
    this.#serveSoon()
  }

  /**
   * Runs after the account that was served may have asked for more: the read that follows a
   * short one waits for no other account.
   */
  #serveSoon(): void {
    if (this.#isServingSoon) return
    this.#isServingSoon = true
    setImmediate(() => {
      this.#isServingSoon = false
      this.#serve()
    })
  }

  #servedOf(account: string): number {
    const served = this.#served.get(account)
    return served === undefined ? 0 : served.ms * 0.5 ** ((this.#now() - served.at) / HALF_LIFE_MS)
  }

  #forgetLittle(): void {
    for (const account of this.#served.keys())
      if (this.#servedOf(account) < 1) this.#served.delete(account)
  }
}

interface Turn {
  /** Whether it needs no place: it is stale, or has begun in the turn of another account. */
  isOver(): boolean
  /** Runs the work, once. Never rejects. */
  begin(): Promise<void>
}

const HALF_LIFE_MS = 5000
const MOST_REMEMBERED = 1000
