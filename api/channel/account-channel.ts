import type { Account } from '../credits/meter.ts'

/** What happens to an account in another process. */
export interface AccountNews {
  /** A newer connection took the place of this one (rule F6). */
  onSuperseded(account: Account, connection: string): void
  /** The key with this hash is no longer valid: whoever came with it has to go. */
  onRotated(account: Account, keySha256: string): void
  /** The dashboard token with this id was taken back (rule E1). */
  onLoggedOut(tokenId: string): void
  /** Every dashboard token of the wallet before this generation was revoked. */
  onLoggedOutEverywhere(wallet: string, generation: number): void
  /** News were lost since `sinceMs` (unix milliseconds), and come again from now on. */
  onBack(sinceMs: number): void
}

/**
 * What the processes of the API tell each other about accounts: Redis when there are several (`redis.ts`), memory in one (`createMemoryChannel`). Nothing depends on it for
 * long: without it a revoked key is looked up in the store at each use, and connections of one key are counted by each process alone.
 */
export interface AccountChannel {
  /** Whether what others tell arrives. */
  readonly isUp: boolean
  listen(news: AccountNews): void
  /**
   * Makes a connection known and gives its place in time; the oldest beyond `limit` are superseded, wherever they are. `place`: of a connection that was known before. Rejects with
   * `unavailable`.
   */
  opened(account: Account, connection: string, limit: number, place?: string): Promise<string>
  closed(account: Account, connection: string): Promise<void>
  /** Tells every process, this one first, that a key was revoked. Rejects with `unavailable` when the others may not have heard of it. */
  rotated(account: Account, keySha256: string): Promise<void>
  /** Tells every process, this one first, that a dashboard token was taken back. Rejects with `unavailable` when the others may not have heard of it. */
  loggedOut(tokenId: string): Promise<void>
  /**
   * Tells every process, this one first, that every dashboard token of a wallet before a generation
   * was revoked. Rejects with `unavailable` when others may not have heard.
   */
  loggedOutEverywhere(wallet: string, generation: number): Promise<void>
  close(): Promise<void>
}

/** The channel of one process, which counts its own connections itself. */
export function createMemoryChannel(): AccountChannel {
  const listeners: AccountNews[] = []
  return {
    isUp: true,
    listen: (news) => void listeners.push(news),
    opened: async (_account, _connection, _limit, place = '0') => place,
    closed: async () => {},
    async rotated(account, keySha256) {
      for (const news of listeners) news.onRotated(account, keySha256)
    },
    async loggedOut(tokenId) {
      for (const news of listeners) news.onLoggedOut(tokenId)
    },
    async loggedOutEverywhere(wallet, generation) {
      for (const news of listeners) news.onLoggedOutEverywhere(wallet, generation)
    },
    close: async () => {},
  }
}
