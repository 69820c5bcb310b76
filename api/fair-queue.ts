/**
 * A fair-share queue: runs at most `atOnce` tasks at a time, and at most `perAccount` of one
 * account. The next task is that of the waiting account with the least service time in the last
 * seconds, so that the backlog of one account does not delay the others.
 */
export class FairQueue {
  readonly #perAccount: number
  readonly #now: () => number
  #free: number
  readonly #running = new Map<string, number>()
  /**
   * Tasks by account. Accounts are in the order of their last arrival or service; no list is empty.
   */
  readonly #waiting = new Map<string, Task[]>()
  /** Milliseconds of service, which decay with a half-life of `HALF_LIFE_MS`. */
  readonly #served = new Map<string, { ms: number; at: number }>()
  #isServeScheduled = false

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
   * Runs `work` when the account is next. If the work is stale by then, it does not run, and the
   * result is null. Stale work takes no slot, and leaves the queue when its account adds more work.
   */
  run<T>(account: string, work: () => Promise<T>, isStale?: () => boolean): Promise<T | null> {
    return this.enter([account], work, isStale).done
  }

  /**
   * Runs work that several accounts wait for, when the first of them is next. `join` adds an
   * account that waits for the same work.
   */
  enter<T>(
    accounts: Iterable<string>,
    work: () => Promise<T>,
    isStale: () => boolean = () => false,
  ): { readonly done: Promise<T | null>; join(account: string): void } {
    let hasBegun = false
    let begin: Task['begin'] = async () => {}
    const done = new Promise<T | null>((resolve, reject) => {
      begin = async () => {
        if (hasBegun) return
        hasBegun = true
        if (isStale()) resolve(null)
        else await work().then(resolve, reject)
      }
    })
    const task: Task = { isOver: () => hasBegun || isStale(), begin }
    for (const account of accounts) this.#add(account, task)
    this.#serve()
    return {
      done,
      join: (account) => {
        if (hasBegun) return
        this.#add(account, task)
        this.#serve()
      },
    }
  }

  #add(account: string, task: Task): void {
    const before = this.#waiting.get(account) ?? []
    for (const other of before) if (other.isOver()) void other.begin()
    this.#waiting.set(account, [...before.filter((other) => !other.isOver()), task])
  }

  #serve(): void {
    while (this.#free > 0 && !this.#isServeScheduled) {
      const account = this.#next()
      if (account === null) return
      const [task, ...rest] = this.#waiting.get(account) ?? []
      this.#waiting.delete(account)
      if (rest.length > 0) this.#waiting.set(account, rest)
      if (task?.isOver()) void task.begin()
      else if (task !== undefined) void this.#begin(account, task)
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

  async #begin(account: string, task: Task): Promise<void> {
    const began = this.#now()
    this.#free--
    this.#running.set(account, (this.#running.get(account) ?? 0) + 1)
    await task.begin()
    this.#free++
    const others = (this.#running.get(account) ?? 1) - 1
    if (others === 0) this.#running.delete(account)
    else this.#running.set(account, others)
    const ms = this.#servedOf(account) + this.#now() - began
    this.#served.set(account, { ms, at: this.#now() })
    if (this.#served.size > MAX_TRACKED_ACCOUNTS) this.#forgetIdle()
    this.#scheduleServe()
  }

  /**
   * Serves the queue after the promises of the finished work have run. An account whose next read
   * follows from a short one can then add it first, and does not wait for another account.
   */
  #scheduleServe(): void {
    if (this.#isServeScheduled) return
    this.#isServeScheduled = true
    setImmediate(() => {
      this.#isServeScheduled = false
      this.#serve()
    })
  }

  #servedOf(account: string): number {
    const served = this.#served.get(account)
    return served === undefined ? 0 : served.ms * 0.5 ** ((this.#now() - served.at) / HALF_LIFE_MS)
  }

  #forgetIdle(): void {
    for (const account of this.#served.keys())
      if (this.#servedOf(account) < 1) this.#served.delete(account)
  }
}

interface Task {
  /** Whether the work needs no slot: it is stale, or was already started for another account. */
  isOver(): boolean
  /** Runs the work, once. Never rejects. */
  begin(): Promise<void>
}

const HALF_LIFE_MS = 5000
const MAX_TRACKED_ACCOUNTS = 1000
