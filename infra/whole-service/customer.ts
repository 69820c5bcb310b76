import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import WebSocket from 'ws'

/** A trade as the contract shows it (section 2.2), compared as a whole. */
export type ContractTrade = Readonly<Record<string, unknown>>

/** A response of the API. */
export interface CustomerAnswer<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

/** A customer's program: calls the API with its key and follows the feed, as the README shows. */
export class Customer {
  readonly url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.url = url
    this.#key = key
  }

  async get<Body = unknown>(path: string): Promise<CustomerAnswer<Body>> {
    const response = await fetch(`${this.url}${path}`, {
      headers: { authorization: `Bearer ${this.#key}` },
    })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Body, // the API answers JSON alone
    }
  }

  /**
   * Walks `GET /trades`, newest first, to its end or to the first trade older than `since` (unix
   * seconds).
   */
  async walkTrades(limit = 100, since = 0): Promise<{ trades: ContractTrade[]; calls: number }> {
    const trades: ContractTrade[] = []
    let cursor: string | null = null
    let calls = 0
    do {
      const {
        status,
        body,
      }: CustomerAnswer<{ items: ContractTrade[]; next_cursor: string | null }> = await this.get(
        `/trades?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`,
      )
      if (status !== 200) throw new Error(`GET /trades: ${status} ${JSON.stringify(body)}`)
      const found = body.items.filter((item) => Number(item.block_time) >= since)
      trades.push(...found.map(contractFields))
      cursor = found.length < body.items.length ? null : body.next_cursor
      calls++
    } while (cursor !== null)
    return { trades, calls }
  }

  /**
   * Opens the feed and subscribes to all trades, after the position `after` if given. Resolves when
   * the subscription is confirmed.
   */
  async follow(after?: string): Promise<CustomerFeed> {
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${this.#key}` },
    })
    const feed = new CustomerFeed(socket, after)
    await once(socket, 'open')
    socket.send(JSON.stringify({ action: 'subscribe', channels: ['trades'], after }))
    await feed.notice('subscribed')
    return feed
  }
}

interface FeedMessage {
  readonly type?: string
  readonly channel?: string
  readonly id?: string
  readonly trade_id?: string
  readonly cursor?: string
  readonly late?: boolean
  readonly data?: ContractTrade
}

/** The fields of a trade that its transaction alone decides. The others may be filled in later. */
export function contractFields(trade: ContractTrade): ContractTrade {
  const { sol_value, price_sol, symbol, ...rest } = trade
  return rest
}

/** The messages of one socket, in order of arrival. */
export class CustomerFeed {
  readonly trades: ContractTrade[] = []
  readonly late: ContractTrade[] = []
  /** The trades of both lists by their `trade_id`s. */
  readonly ids = new Map<ContractTrade, string>()
  /** The `trade_id`s of withdrawn trades. */
  readonly retracted: string[] = []
  readonly notices: FeedMessage[] = []
  readonly #socket: WebSocket
  readonly #changed = new EventTarget()
  #position: string | undefined

  /**
   * `after` is the position that the connection resumes from. The first announced position may be
   * later than the first message.
   */
  constructor(socket: WebSocket, after?: string) {
    this.#socket = socket
    this.#position = after
    socket.on('message', (text) => {
      const message = JSON.parse(String(text)) as FeedMessage // the server's own JSON
      this.#position = message.id ?? this.#position ?? message.cursor
      if (message.type === 'retracted') this.retracted.push(message.trade_id ?? '')
      else if (message.channel !== 'trades') this.notices.push(message)
      else {
        const { trade_id: id = '', late = false } = message
        const trade = contractFields(message.data ?? {})
        ;(late ? this.late : this.trades).push(trade)
        this.ids.set(trade, id)
      }
      this.#changed.dispatchEvent(new Event('changed'))
    })
    socket.on('close', () => this.#changed.dispatchEvent(new Event('changed')))
    socket.on('error', () => {}) // a cut connection shows as `closed`
  }

  /** Resolves with the first notice of a type; rejects when the socket closes before. */
  async notice(type: string): Promise<FeedMessage> {
    return this.#until(() => this.notices.find((notice) => notice.type === type), `a ${type}`)
  }

  /** Resolves when `count` trades have come. */
  async received(count: number): Promise<void> {
    await this.#until(() => this.trades.length >= count || undefined, `${count} trades`)
  }

  /** The position to resume from; undefined before the first message. */
  get position(): string | undefined {
    return this.#position
  }

  /** Resolves when the connection has ended. */
  async closed(): Promise<void> {
    if (this.#socket.readyState !== WebSocket.CLOSED) await once(this.#socket, 'close')
  }

  close(): void {
    this.#socket.close()
  }

  async #until<T>(read: () => T | undefined, what: string): Promise<T> {
    for (;;) {
      const value = read()
      if (value !== undefined) return value
      if (this.#socket.readyState === WebSocket.CLOSED) {
        throw new Error(`the feed closed before ${what} came: ${this.trades.length} trades so far`)
      }
      await once(this.#changed, 'changed')
    }
  }
}

/** Polls until the result satisfies; for states that show only by polling, such as `/status`. */
export async function until<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  timeoutMs = 180_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (satisfies(answer)) return answer
    if (Date.now() > deadline)
      throw new Error(`still ${JSON.stringify(answer)} after ${timeoutMs} ms`)
    await pause(25)
  }
}
