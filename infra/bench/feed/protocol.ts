/** Accounts that the connections of the bench are spread over. */
export const ACCOUNTS = Array.from({ length: 10 }, (_, n) => `bench-${n}`)

/** Send so many slots of so many trades, one each `everyMs`, or with 0 as soon as everybody has taken the one before. */
export type ToServer =
  | {
      readonly kind: 'send'
      readonly slots: number
      readonly trades: number
      readonly everyMs: number
    }
  | { readonly kind: 'memory' }

export type FromServer =
  | { readonly kind: 'ready'; readonly port: number }
  /** `times`: microseconds of the machine's clock at which each slot was handed over, from `firstSlot` on. */
  | {
      readonly kind: 'sent'
      readonly seconds: number
      readonly cpuSeconds: number
      readonly firstSlot: number
      readonly times: readonly number[]
    }
  | { readonly kind: 'memory'; readonly rss: number; readonly connections: number }

/** Connect so many sockets and subscribe. */
export type ToClients =
  | { readonly kind: 'connect'; readonly port: number; readonly sockets: number }
  /** Tell when so many messages have come since the last time. */
  | { readonly kind: 'expect'; readonly messages: number }

export type FromClients =
  | { readonly kind: 'connected'; readonly seconds: number }
  /** `arrivals`: of the first socket, by slot, the microsecond at which its last trade had come. */
  | { readonly kind: 'received'; readonly arrivals: readonly (readonly [number, number])[] }
