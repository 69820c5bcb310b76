import type { ClockOptions } from './clock.ts'

/** What can go wrong, each on its own; all deterministic by the seed. */
export interface Trouble {
  /** Transactions of a slot in any order. */
  readonly shuffle: boolean
  /** Updates sent twice, also after their slot was complete. */
  readonly duplicates: boolean
  /** The block meta before some of its transactions. */
  readonly metaFirst: boolean
  /** Connections cut in the middle of a slot. */
  readonly cuts: boolean
  /** Slots that die with their fork after their transactions were sent. */
  readonly forks: boolean
  /** Slots without a block. */
  readonly skippedSlots: boolean
  /** Transactions sent some slots after theirs was confirmed. */
  readonly late: boolean
  /** Transactions that cannot be decoded, in addition to the real ones. */
  readonly garbage: boolean
  /** Now and then the server forgets all it could replay, and cuts its connections. */
  readonly lostReplay: boolean
  /** RPC answers take long. */
  readonly slowRpc: boolean
  /** RPC answers 429 with Retry-After. */
  readonly rateLimitedRpc: boolean
}

/** No trouble at all. */
export const NO_TROUBLE: Trouble = {
  shuffle: false,
  duplicates: false,
  metaFirst: false,
  cuts: false,
  forks: false,
  skippedSlots: false,
  late: false,
  garbage: false,
  lostReplay: false,
  slowRpc: false,
  rateLimitedRpc: false,
}

/** Everything at once. */
export const ALL_TROUBLE: Trouble = {
  shuffle: true,
  duplicates: true,
  metaFirst: true,
  cuts: true,
  forks: true,
  skippedSlots: true,
  late: true,
  garbage: true,
  lostReplay: true,
  slowRpc: true,
  rateLimitedRpc: true,
}

/** Whether a trouble strikes a stream in a slot. */
export type TroubleAt = (trouble: keyof Trouble, slot: number) => boolean

/** Recorded blocks to play instead of the market. */
export interface RecordedOptions {
  /** JSON-lines files, `.gz` or plain: a transaction a line in the shape of RPC's `getTransaction`, encoding `json`. */
  readonly files: readonly string[]
  /** Numbers the slots anew from here; not given, they keep their numbers. */
  readonly renumberFrom?: number
  /** Cuts each block into so many slots, numbered anew: 1. */
  readonly split?: number
  /** Unix seconds of the first slot, the others 0.4 s apart; not given, blocks keep their times. */
  readonly timeFrom?: number
  /** Empty slots between the first subscription and the first recorded block: 0. */
  readonly leadIn?: number
  /** How many fee payers of successful trades are tracked: 100. */
  readonly wallets?: number
}

/** Settings of a simulator; each has a default. */
export interface SimulatorOptions {
  readonly host?: string
  /** Of the gRPC server; 0, the default, is any free port. */
  readonly port?: number
  readonly rpcPort?: number
  /** Clients must send it as `x-token`. */
  readonly xToken?: string
  readonly seed?: number
  /** Tracked wallets of the market: 25. What is not given is another number with `historyHours` (`market/sizes.ts`). */
  readonly wallets?: number
  /** Coins of the market: 200. */
  readonly coins?: number
  /** Transactions of tracked wallets a slot, on average: 1.5. */
  readonly trackedPerSlot?: number
  /** Transactions a slot that touch no tracked wallet: 6. */
  readonly othersPerSlot?: number
  readonly recorded?: RecordedOptions
  readonly clock?: ClockOptions
  /** How many slots after its own a block is confirmed: 1. */
  readonly confirmDelaySlots?: number
  /** How many slots `from_slot` can go back: 1,000. */
  readonly replaySlots?: number
  /** How many slots RPC can go back: 9,000. With `historyHours`: how many before the start are not compressed, 3,000. */
  readonly historySlots?: number
  /** Hours of compressed history before the start, to which RPC goes back; 0, the default: none. Not with recorded blocks. */
  readonly historyHours?: number
  /** Updates that a client may be behind before it is dropped: 100,000. */
  readonly maxQueuedUpdates?: number
  /** How often the server pings its clients, in ms: 15,000. */
  readonly pingMs?: number
  readonly trouble?: Partial<Trouble>
  /** The slots in which a stream's trouble strikes, both included; what is late then still comes later. Every slot. Forks and skipped slots are everywhere. */
  readonly troubleSlots?: { readonly from: number; readonly to: number }
  /** The first slot that ever had a block of the market: by default as far back as RPC goes at the start. Not with `historyHours`. */
  readonly firstSlot?: number
}
