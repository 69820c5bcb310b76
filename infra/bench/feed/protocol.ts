/** Number of accounts over which the connections of the bench are spread. */
export const ACCOUNTS = Array.from({ length: 10 }, (_, n) => `bench-${n}`)

/**
 * Sends `slots` slots of `trades` trades, one slot every `everyMs`; with 0, as soon as every socket
 * has received the previous slot.
 */
export type ToServer =
  | {
      readonly kind: 'send'
      readonly slots: number
      readonly trades: number
      readonly everyMs: number
    }
  | { readonly kind: 'memory' }

/** Messages of the server process to the bench. */
export type FromServer =
  | { readonly kind: 'ready'; readonly port: number }
  /**
   * `times`: microseconds of the machine's clock at which each slot was published, from `firstSlot`
   * on.
   */
  | {
      readonly kind: 'sent'
      readonly seconds: number
      readonly cpuSeconds: number
      readonly firstSlot: number
      readonly times: readonly number[]
    }
  | { readonly kind: 'memory'; readonly rss: number; readonly connections: number }

/** Connects `sockets` sockets and subscribes them. */
export type ToClients =
  | { readonly kind: 'connect'; readonly port: number; readonly sockets: number }
  /** Reports when `messages` messages have arrived since the last report. */
  | { readonly kind: 'expect'; readonly messages: number }

/** Messages of the client process to the bench. */
export type FromClients =
  | { readonly kind: 'connected'; readonly seconds: number }
  /** `arrivals`: by slot, the microsecond at which its last trade reached the first socket. */
  | { readonly kind: 'received'; readonly arrivals: readonly (readonly [number, number])[] }
