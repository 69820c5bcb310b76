import { type ContractTrade, type Customer, type CustomerFeed, until } from './customer.ts'

/** A customer who follows the feed, and resumes after the last message when a connection is cut. */
export class Follower {
  /** Every connection so far; the last one may be open. */
  readonly feeds: CustomerFeed[] = []
  #stopped = false
  readonly #following: Promise<void>

  /**
   * `customers`: the same customer at one API or at several, of which one that refuses is left for
   * the next. `patienceMs` is how long all may refuse connections before the follower gives up;
   * `stop` then rejects.
   */
  constructor(customers: Customer | readonly Customer[], patienceMs = 60_000) {
    this.#following = this.#follow([customers].flat(), patienceMs)
    this.#following.catch(() => {}) // awaited by `stop`
  }

  get connections(): number {
    return this.feeds.length
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.feeds.at(-1)?.close()
    await this.#following
  }

  /** All trades but late ones, in order of arrival. */
  all(): readonly ContractTrade[] {
    return this.feeds.flatMap(({ trades }) => trades)
  }

  /** Late trades, in order of arrival. */
  allLate(): readonly ContractTrade[] {
    return this.feeds.flatMap(({ late }) => late)
  }

  /** The `trade_id`s of all trades, one for each message: two trades may be equal but for it. */
  allIds(): readonly string[] {
    return this.feeds.flatMap(({ ids }) => [...ids.values()])
  }

  /** Whether no message withdrew a trade that `all` or `allLate` returned. */
  stands(): (trade: ContractTrade) => boolean {
    const retracted = new Set(this.feeds.flatMap((feed) => feed.retracted))
    const idOf = (trade: ContractTrade) =>
      this.feeds.map(({ ids }) => ids.get(trade)).find((id) => id !== undefined) ?? ''
    return (trade) => !retracted.has(idOf(trade))
  }

  async #follow(customers: readonly Customer[], patienceMs: number): Promise<void> {
    let position: string | undefined
    let tries = 0
    const next = () => customers[tries++ % customers.length]
    while (!this.#stopped) {
      const feed = await until(
        async () =>
          (await next()
            ?.follow(position)
            .catch(() => null)) ?? null,
        (opened) => opened !== null || this.#stopped,
        patienceMs,
      )
      if (feed === null) return
      this.feeds.push(feed)
      if (this.#stopped) feed.close() // while it was opened
      await feed.closed()
      position = feed.position ?? position
    }
  }
}
