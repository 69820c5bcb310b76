/** Messages of the bench to the process of the simulator. Each is answered in its kind. */
export type ToMarket =
  /** Which slot is confirmed? */
  | { readonly kind: 'slot' }
  /** How long did the event loop stand still since the last report? */
  | { readonly kind: 'stalls' }
  /** Has every copy of the wallets trade for so many slots, a few slots from now. */
  | { readonly kind: 'burst'; readonly slots: number }

/** Messages of the process of the simulator. */
export type FromMarket =
  | {
      readonly kind: 'ready'
      readonly endpoint: string
      readonly rpcUrl: string
      readonly solPricePool: string
    }
  | { readonly kind: 'slot'; readonly confirmed: number }
  /** Milliseconds. */
  | { readonly kind: 'stalls'; readonly p99: number; readonly max: number }
  /** `from`: the first slot of the burst; `to`: the first slot after it. */
  | { readonly kind: 'burst'; readonly from: number; readonly to: number }

/** Messages of the bench to the process with the sockets. */
export type ToFollowers =
  /** Connects sockets: the first ones take every trade, each other one those of 100 wallets. */
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly keys: readonly string[]
      readonly sockets: number
      readonly unfiltered: number
      readonly wallets: number
    }
  /** Asks what came on the sockets since the last report. */
  | { readonly kind: 'report' }

/** Messages of the process with the sockets. */
export type FromFollowers =
  | { readonly kind: 'connected'; readonly seconds: number; readonly refused: number }
  | ({ readonly kind: 'report' } & FeedFigures)

/**
 * What came on the sockets. Latencies are in milliseconds, of the sockets that take every trade,
 * one for each socket and second of block time: from when the last slot of that second was due to
 * be confirmed, to its last trade. Null without trades.
 */
export interface FeedFigures {
  readonly p50: number | null
  readonly p99: number | null
  readonly max: number | null
  /** Trades on all sockets. */
  readonly trades: number
  /** Bytes of the frames of these trades. */
  readonly bytes: number
  /** Sockets that the service has closed. */
  readonly closed: number
}
