import type { Account } from '../credits/meter.ts'

/** Callbacks for events of accounts in any process. */
export interface AccountListener {
  /** The connection is over the limit because of a newer one (rule F6). */
  onSuperseded(account: Account, connection: string): void
  /** The key with this hash was replaced: its connections must end. */
  onRotated(account: Account, keySha256: string): void
  /** The named key with this hash was deleted: its connections must end. */
  onKeyDeleted(account: Account, keySha256: string): void
  /** The account was disabled, or enabled again (rule E3). */
  onAccessChanged(account: Account, isDisabled: boolean): void
  /** The dashboard token with this id was revoked (rule E1). */
  onLoggedOut(tokenId: string): void
  /** All dashboard tokens of the wallet from before this generation were revoked. */
  onLoggedOutEverywhere(wallet: string, generation: number): void
  /** The channel is back. Events since `sinceMs` (unix milliseconds) may have been lost. */
  onBack(sinceMs: number): void
}

/**
 * Broadcasts events of accounts between the processes of the API: over Redis (`redis.ts`), or in
 * memory with one process (`createMemoryChannel`). The API works without it: each use of a key is
 * then looked up in the store, and each process limits its own connections. Every method rejects
 * with a retriable ServiceError `unavailable` when other processes may not have received the event.
 */
export interface AccountChannel {
  /** Whether events of other processes arrive. */
  readonly isUp: boolean
  /** Adds a listener; there is no way to remove it. */
  listen(listener: AccountListener): void
  /**
   * Registers a connection and returns its order key: the time of its first registration. The
   * oldest connections of the account over `limit` are superseded, in any process. A connection
   * that was registered before gives its `orderKey`.
   */
  opened(account: Account, connection: string, limit: number, orderKey?: string): Promise<string>
  /** Removes a connection. */
  closed(account: Account, connection: string): Promise<void>
  /** Tells every process, this one first, that a key was replaced. */
  rotated(account: Account, keySha256: string): Promise<void>
  /** Tells every process, this one first, that a named key was deleted. */
  keyDeleted(account: Account, keySha256: string): Promise<void>
  /** Tells every process, this one first, that an account was disabled, or enabled again. */
  accessChanged(account: Account, isDisabled: boolean): Promise<void>
  /** Tells every process, this one first, that a dashboard token was revoked. */
  loggedOut(tokenId: string): Promise<void>
  /**
   * Tells every process, this one first, that all dashboard tokens of a wallet from before a
   * generation were revoked.
   */
  loggedOutEverywhere(wallet: string, generation: number): Promise<void>
  close(): Promise<void>
}

/** Creates the channel of a single process; the process limits its connections itself. */
export function createMemoryChannel(): AccountChannel {
  const listeners: AccountListener[] = []
  return {
    isUp: true,
    listen: (listener) => void listeners.push(listener),
    opened: async (_account, _connection, _limit, orderKey = '0') => orderKey,
    closed: async () => {},
    async rotated(account, keySha256) {
      for (const listener of listeners) listener.onRotated(account, keySha256)
    },
    async keyDeleted(account, keySha256) {
      for (const listener of listeners) listener.onKeyDeleted(account, keySha256)
    },
    async accessChanged(account, isDisabled) {
      for (const listener of listeners) listener.onAccessChanged(account, isDisabled)
    },
    async loggedOut(tokenId) {
      for (const listener of listeners) listener.onLoggedOut(tokenId)
    },
    async loggedOutEverywhere(wallet, generation) {
      for (const listener of listeners) listener.onLoggedOutEverywhere(wallet, generation)
    },
    close: async () => {},
  }
}
