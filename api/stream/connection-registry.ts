import type { AccountChannel } from '../channel/account-channel.ts'
import type { Account } from '../credits/meter.ts'
import type { EndReason } from './protocol-handler.ts'

/** A connection that a registry can end. */
export interface EndableConnection {
  end(reason: EndReason): void
}

/**
 * The connections of this process by account. It enforces the limit per account over all processes:
 * the newest connections stay, and older ones are ended as `superseded` (rule F6). Without the
 * account channel each process enforces the limit on its own connections.
 */
export class ConnectionRegistry<Connection extends EndableConnection> {
  readonly #channel: AccountChannel
  readonly #limit: number
  /** Connections that were not ended. */
  readonly #active = new Set<Connection>()
  readonly #activeByAccount = new Map<Account, Set<Connection>>()
  /** Connections whose socket is open, by their id in the channel. */
  readonly #registered = new Map<string, RegisteredConnection<Connection>>()

  /** `limit`: how many connections an account may have. */
  constructor(channel: AccountChannel, limit: number) {
    this.#channel = channel
    this.#limit = limit
  }

  /** The active connections of an account. */
  activeOf(account: Account): Iterable<Connection> {
    return this.#activeByAccount.get(account) ?? []
  }

  /** All active connections. */
  active(): Iterable<Connection> {
    return this.#active
  }

  /** All connections whose socket is open, ended ones included. */
  registered(): Iterable<RegisteredConnection<Connection>> {
    return this.#registered.values()
  }

  /**
   * Adds a connection, announces it to other processes, and ends the oldest ones over the limit of
   * its account.
   */
  add(account: Account, name: string, connection: Connection, limit = this.#limit): void {
    const others = this.#activeByAccount.get(account) ?? new Set()
    this.#activeByAccount.set(account, others)
    others.add(connection)
    this.#active.add(connection)
    const registered = {
      account,
      connection,
      limit,
      openedAt: Date.now(),
      announced: Promise.resolve(),
    }
    this.#registered.set(name, registered)
    this.#announce(name, registered)
    for (const other of others) {
      if (others.size <= limit) break
      other.end('superseded')
    }
  }

  /** Removes a connection that was ended or closed from the active ones. */
  deactivate(account: Account, connection: Connection): void {
    const connections = this.#activeByAccount.get(account)
    connections?.delete(connection)
    this.#active.delete(connection)
    if (connections?.size === 0) this.#activeByAccount.delete(account)
  }

  /**
   * Removes a connection whose socket is closed. Resolves when other processes were told, or could
   * not be told. Never rejects.
   */
  async remove(name: string): Promise<void> {
    const registered = this.#registered.get(name)
    if (registered === undefined) return
    this.#registered.delete(name)
    await registered.announced
      .then(() => this.#channel.closed(registered.account, name))
      .catch(() => {})
  }

  /** Ends all connections of an account. */
  endAll(account: Account, reason: EndReason): void {
    for (const connection of this.activeOf(account)) connection.end(reason)
  }

  /** Ends a connection because a newer one was opened in another process. */
  endSuperseded(name: string): void {
    this.#registered.get(name)?.connection.end('superseded')
  }

  /** Announces all connections again, after the account channel was down. */
  announceAll(): void {
    for (const [name, registered] of this.#registered) this.#announce(name, registered)
  }

  #announce(name: string, registered: RegisteredConnection<Connection>): void {
    registered.announced = registered.announced
      .then(() =>
        this.#channel.opened(registered.account, name, registered.limit, registered.orderKey),
      )
      .then((orderKey) => {
        registered.orderKey = orderKey
      })
      .catch(() => {})
  }
}

/** A connection with its registration. */
interface RegisteredConnection<Connection> {
  readonly account: Account
  readonly connection: Connection
  /** How many connections its account may have. */
  readonly limit: number
  /** Unix milliseconds. */
  readonly openedAt: number
  /**
   * The order key that the channel gave it among the connections of its account. Undefined until it
   * was announced.
   */
  orderKey?: string
  /** Resolves when the last announcement is done. Never rejects. */
  announced: Promise<void>
}
