/** URL of the feed, and the credential to connect with. */
export interface FeedEndpoint {
  /** URL of `GET /ws`, with scheme `ws` or `wss`. */
  readonly url: string
  /** API key or dashboard token. */
  readonly bearer: string
}

/** What a connection to the feed tells its owner. */
export interface FollowerSocketEvents {
  opened(): void
  received(text: string): void
  /** The connection is over; `status` is that of a refused handshake, else null. */
  ended(status: number | null): void
}

/** A connection to the feed, in Node or in a browser. */
export interface FollowerSocket {
  send(text: string): void
  /** Reads no more for now; where that cannot be done, the connection ends instead. */
  pause(): void
  resume(): void
  close(): void
  /** Ends the connection without waiting for the service. */
  terminate(): void
}
