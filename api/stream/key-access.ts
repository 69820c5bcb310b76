import type { FeedKey } from '../middleware/upgrade.ts'
import type { EndReason } from './protocol-handler.ts'

/** A connection that ends with the key that opened it. */
export interface KeyedConnection {
  readonly key: FeedKey
  end(reason: EndReason): void
}

/**
 * Ends trade connections with their keys: named keys that expire or are deleted (rule L15), and
 * sessions that expire or are revoked (rule L16). The account's own key has no such end.
 */
export class KeyAccess {
  readonly #connections = new Set<KeyedConnection>()

  add(connection: KeyedConnection): void {
    if (connection.key.kind !== 'own') this.#connections.add(connection)
  }

  delete(connection: KeyedConnection): void {
    this.#connections.delete(connection)
  }

  /** Ends connections from the second on in which their key ends. `now`: unix milliseconds. */
  endExpired(now: number): void {
    for (const connection of this.#connections) {
      const { key } = connection
      if (key.kind === 'own' || key.expiresAtMs === null || key.expiresAtMs > now) continue
      connection.end(key.kind === 'session' ? 'token_expired' : 'key_expired')
    }
  }

  /** Ends the connections of a deleted key. */
  endKey(keySha256: string): void {
    for (const connection of this.#connections) {
      const { key } = connection
      if (key.kind === 'named' && key.sha256 === keySha256) connection.end('key_deleted')
    }
  }

  /** Ends the connections of a session whose token was revoked. */
  endSession(tokenId: string): void {
    this.#endSessions((key) => key.tokenId === tokenId)
  }

  /** Ends the connections of all sessions of a wallet from before a generation. */
  endSessionsBefore(wallet: string, generation: number): void {
    this.#endSessions((key) => key.account === wallet && key.generation < generation)
  }

  /**
   * Ends connections of sessions that were revoked without notice. If a check fails, the
   * connection stays open until the next check.
   */
  checkSessions(): void {
    for (const connection of this.#connections) {
      const { key } = connection
      if (key.kind !== 'session') continue
      key.isRevoked().then(
        (isRevoked) => {
          if (isRevoked) connection.end('token_revoked')
        },
        () => {},
      )
    }
  }

  /** The named keys of the connections: account and hash. */
  namedKeys(): { readonly account: string; readonly sha256: string }[] {
    return [...this.#connections].flatMap(({ key }) =>
      key.kind === 'named' ? [{ account: key.account, sha256: key.sha256 }] : [],
    )
  }

  #endSessions(isMeant: (key: Extract<FeedKey, { kind: 'session' }>) => boolean): void {
    for (const connection of this.#connections)
      if (connection.key.kind === 'session' && isMeant(connection.key))
        connection.end('token_revoked')
  }
}
