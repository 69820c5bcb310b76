/** Messages of the bench to the process of the API. */
export type ToApi =
  /** Reports memory and use. `snapshot`: a file for a snapshot of the heap, or none. */
  | { readonly kind: 'measure'; readonly snapshot: string }
  /** Publishes a slot of one trade of W1, every second. */
  | { readonly kind: 'publish'; readonly slots: number }

/** What a process has used since its start. */
export interface Used {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
  /** Seconds of CPU. */
  readonly cpu: number
  readonly connections: number
  /** The longest that the event loop stood still since the last report, in milliseconds. */
  readonly blockedMs: number
  /** Commands that Redis has executed, those of scripts among them, and its CPU in seconds. */
  readonly redisCommands: number
  readonly redisCpu: number
}

/** Messages of the process of the API. */
export type FromApi =
  | { readonly kind: 'ready'; readonly port: number }
  | ({ readonly kind: 'measured' } & Used)
  /** `times`: unix milliseconds at which each slot was published. */
  | { readonly kind: 'published'; readonly times: readonly number[] }

/** Connects a socket for each line of a file of keys, and subscribes it to some wallets. */
export type ToSockets =
  | { readonly kind: 'connect'; readonly port: number; readonly keysFile: string }
  /** Reports when this many trades have come since the last report. */
  | { readonly kind: 'expect'; readonly trades: number }

/** Messages of the process of the clients. */
export type FromSockets =
  | { readonly kind: 'connected'; readonly seconds: number; readonly refused: number }
  /** Unix milliseconds at which the first and the last socket had each slot. */
  | {
      readonly kind: 'received'
      readonly times: readonly { readonly slot: number; first: number; last: number }[]
    }
