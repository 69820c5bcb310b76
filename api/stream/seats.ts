import type { AccountChannel } from '../channel/account-channel.ts'
import type { Account } from '../credits/meter.ts'
import type { EndReason } from './conversation.ts'

/** A connection as seats know it. */
export interface Seated {
  end(reason: EndReason): void
}

/**
 * Who is connected, by account: the newest connections keep their seats, wherever they are, older ones are superseded (rule F6). Other processes are told over the
 * channel; while they cannot be told, each process counts its own.
 */
export class Seats<Connection extends Seated> {
  readonly #channel: AccountChannel
  readonly #limit: number
  readonly #connections = new Map<Account, Set<Connection>>()
  readonly #all = new Set<Connection>()
  /** By the name that other processes know it by. */
  readonly #seats = new Map<string, Seat<Connection>>()

  /** `limit`: how many connections one account may have. */
  constructor(channel: AccountChannel, limit: number) {
    this.#channel = channel
    this.#limit = limit
  }

  /** Those of an account that were not told to end. */
  of(account: Account): Iterable<Connection> {
    return this.#connections.get(account) ?? []
  }

  /** Those that were not told to end. */
  all(): Iterable<Connection> {
    return this.#all
  }

  /** All whose sockets are open. */
  seated(): Iterable<Seat<Connection>> {
    return this.#seats.values()
  }

  take(account: Account, name: string, connection: Connection): void {
    const others = this.#connections.get(account) ?? new Set()
    this.#connections.set(account, others)
    others.add(connection)
    this.#all.add(connection)
    const seat = { account, connection, openedAt: Date.now(), announced: Promise.resolve() }
    this.#seats.set(name, seat)
    this.#announce(name, seat)
    for (const other of others) {
      if (others.size <= this.#limit) break
      other.end('superseded')
    }
  }

  /** It was told to end, or is gone: it takes nobody's place. */
  forget(account: Account, connection: Connection): void {
    const connections = this.#connections.get(account)
    connections?.delete(connection)
    this.#all.delete(connection)
    if (connections?.size === 0) this.#connections.delete(account)
  }

  /** Its socket is closed; resolves when other processes know, or cannot. */
  async leave(name: string): Promise<void> {
    const seat = this.#seats.get(name)
    if (seat === undefined) return
    this.#seats.delete(name)
    await seat.announced.then(() => this.#channel.closed(seat.account, name)).catch(() => {})
  }

  endAll(account: Account, reason: EndReason): void {
    for (const connection of this.of(account)) connection.end(reason)
  }

  /** A newer one took its place in another process. */
  onSuperseded(name: string): void {
    this.#seats.get(name)?.connection.end('superseded')
  }

  /** Other processes hear of this one again. */
  comeBack(): void {
    for (const [name, seat] of this.#seats) this.#announce(name, seat)
  }

  #announce(name: string, seat: Seat<Connection>): void {
    seat.announced = seat.announced
      .then(() => this.#channel.opened(seat.account, name, this.#limit, seat.place))
      .then((place) => {
        seat.place = place
      })
      .catch(() => {})
  }
}

/** A connection as other processes know it. */
interface Seat<Connection> {
  readonly account: Account
  readonly connection: Connection
  /** Unix milliseconds. */
  readonly openedAt: number
  /** Its place in time among those of its account; undefined until it is known to others. */
  place?: string
  announced: Promise<void>
}
