/** Slots of a market. Each trade is of the wallet of one webhook, in turn. */
export interface SlotSchedule {
  readonly firstSlot: number
  readonly slots: number
  readonly slotMs: number
  readonly perSlot: number
  /** How many webhooks there are; webhook `n`, from 0, has the trades of wallet `n + 1`. */
  readonly hooks: number
}

/** Messages of the bench to a process of the service. */
export type ToService =
  /** Makes accounts with credits and their webhooks, one for each port. */
  | { readonly kind: 'prepare'; readonly ports: readonly number[] }
  /** Starts role webhooks; answers when all of so many webhooks run. */
  | { readonly kind: 'deliver'; readonly hooks: number }
  | ({ readonly kind: 'publish' } & SlotSchedule)
  /** Starts a CPU profile. */
  | { readonly kind: 'profile' }
  /** Ends the CPU profile and writes it to a file. */
  | { readonly kind: 'write-profile'; readonly file: string }

/** Messages of a process of the service. */
export type FromService =
  | { readonly kind: 'ready' | 'prepared' | 'delivering' | 'profiling' | 'written' }
  /** Microseconds of the monotonic clock at which each slot was handed to the log. */
  | { readonly kind: 'published'; readonly times: readonly number[] }

/** A trade that has come: webhook, slot, and microseconds of the monotonic clock. */
export type TradeArrival = readonly [hook: number, slot: number, at: number]

/** Messages of the bench to the process of the receivers. */
export type ToReceivers =
  | { readonly kind: 'listen'; readonly receivers: number }
  /** Never answers requests for these webhooks from now on, and does not report them. */
  | { readonly kind: 'hold'; readonly hooks: readonly number[] }
  /** Reports when so many trades have come since the last report, or none comes any more. */
  | { readonly kind: 'expect'; readonly trades: number }

/** Messages of the process of the receivers. */
export type FromReceivers =
  | { readonly kind: 'listening'; readonly ports: readonly number[] }
  | { readonly kind: 'holding' }
  | {
      readonly kind: 'received'
      readonly deliveries: number
      readonly arrivals: readonly TradeArrival[]
    }
