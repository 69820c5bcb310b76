import { type Customer, type Feed, type TradeItem, until } from './customer.ts'

/** A customer who follows the feed and comes back after the last message when it was cut. */
export class Follower {
  readonly trades: TradeItem[] = []
  readonly late: TradeItem[] = []
  /** Every connection so far. */
  readonly feeds: Feed[] = []
  #feed: Feed | null = null
  #stopped = false
  readonly #following: Promise<void>

  constructor(customer: Customer) {
    this.#following = this.#follow(customer)
  }

  get connections(): number {
    return this.feeds.length
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#feed?.close()
    await this.#following
  }

  /** Everything that came, in order of arrival. */
  all(): readonly TradeItem[] {
    return [...this.trades, ...(this.#feed?.trades ?? [])]
  }

  async #follow(customer: Customer): Promise<void> {
    let position: string | undefined
    while (!this.#stopped) {
      const feed = await until(
        () => customer.follow(position).catch(() => null),
        (opened) => opened !== null || this.#stopped,
      )
      if (feed === null) return
      this.#feed = feed
      this.feeds.push(feed)
      await feed.closed()
      position = feed.position ?? position
      this.#feed = null
      this.trades.push(...feed.trades)
      this.late.push(...feed.late)
    }
  }
}
