import type { ClockOptions } from './clock.ts'
import type { CompressedSlots } from './compressed-shape.ts'

/** Kinds of injected faults, each with a separate switch. All are deterministic by the seed. */
export interface Trouble {
  /** A slot's transactions come in any order. */
  readonly shuffle: boolean
  /** Updates come twice, also after their slot was complete. */
  readonly duplicates: boolean
  /** The block meta comes before some of the block's transactions. */
  readonly metaFirst: boolean
  /** Connections break in the middle of a slot. */
  readonly cuts: boolean
  /** Slots die with their fork after their transactions were sent. */
  readonly forks: boolean
  /** Some slots have no block. */
  readonly skippedSlots: boolean
  /** Some transactions come several slots after theirs was confirmed. */
  readonly late: boolean
  /** Additional transactions come that cannot be decoded. */
  readonly garbage: boolean
  /** Occasionally the server loses all updates that it could replay, and closes its connections. */
  readonly lostReplay: boolean
  /** RPC responses are slow. */
  readonly slowRpc: boolean
  /** Some RPC responses are 429 with Retry-After. */
  readonly rateLimitedRpc: boolean
  /** The stream never sends some transactions. */
  readonly omittedSingly: boolean
  /** Of several transactions of a tracked wallet in one slot, the stream never sends one. */
  readonly omittedTwins: boolean
  /** For some slots the stream sends no transaction that names one of the tracked wallets. */
  readonly omittedWallets: boolean
  /** The finalized chain has other blocks in the slots of some confirmed ones. */
  readonly replacedBlocks: boolean
  /** The finalized chain has no block in the slots of some confirmed ones. Implies `forks`. */
  readonly vanishedBlocks: boolean
}

/** Trouble in which the stream lacks transactions that RPC has, and nothing else tells so. */
export const OMISSIONS = ['omittedSingly', 'omittedTwins', 'omittedWallets'] as const
/** One of `OMISSIONS`. */
export type Omission = (typeof OMISSIONS)[number]

/** Trouble that breaks a confirmation, which shows only on the finalized chain. */
export const REVERSALS = ['replacedBlocks', 'vanishedBlocks'] as const
/** One of `REVERSALS`. */
export type Reversal = (typeof REVERSALS)[number]

/** All trouble off. */
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
  omittedSingly: false,
  omittedTwins: false,
  omittedWallets: false,
  replacedBlocks: false,
  vanishedBlocks: false,
}

const APART: readonly string[] = [...OMISSIONS, ...REVERSALS]

/**
 * All trouble that shows on the stream or in RPC responses at `confirmed`: everything but omissions
 * and reversals.
 */
export const ALL_TROUBLE = Object.fromEntries(
  Object.keys(NO_TROUBLE).map((name) => [name, !APART.includes(name)]),
) as unknown as Trouble // it has the same keys

/** Whether a kind of trouble affects a stream in a slot. */
export type TroubleAt = (trouble: keyof Trouble, slot: number) => boolean

/** Recorded blocks to play instead of the market. */
export interface RecordedOptions {
  /**
   * JSON-lines files, `.gz` or plain. A line is a transaction as RPC's `getTransaction` answers it
   * with encoding `json`.
   */
  readonly files: readonly string[]
  /** Number of slots that each block is cut into and renumbered; 1 by default. */
  readonly split?: number
  /**
   * Number of empty slots between the first subscription and the first recorded block; 0 by
   * default.
   */
  readonly leadIn?: number
}

/** Copies of the market's wallets, which trade too (`copied-chain.ts`). */
export interface CopiesOptions {
  /** How many there are of each wallet, itself included. */
  readonly count: number
  /** How many of these trade in a slot. The answer for a slot must never change. */
  at(slot: number): number
}

/** Settings of a simulator; each has a default. */
export interface SimulatorOptions {
  /** Address on which both servers listen; 127.0.0.1 by default. */
  readonly host?: string
  /** Port of the gRPC server; 0, the default, is any free port. */
  readonly port?: number
  readonly rpcPort?: number
  /**
   * Whether the gRPC server knows cuckoo filters, as since yellowstone-grpc-geyser 15.1; true by
   * default. An older server ignores these fields.
   */
  readonly knowsCuckoo?: boolean
  /** RPC requests that are answered in a second; further ones get 429. By default all are. */
  readonly rpcPerSecond?: number
  /** Token that clients must send as `x-token`. */
  readonly xToken?: string
  readonly seed?: number
  /**
   * Number of tracked wallets; 25 by default. With `historyHours`, the sizes of the market have
   * other defaults (`market/sizes.ts`).
   */
  readonly wallets?: number
  /** Number of coins; 200 by default. */
  readonly coins?: number
  /** Transactions of tracked wallets a slot, on average; 1.5 by default. */
  readonly trackedPerSlot?: number
  /** Transactions a slot that touch no tracked wallet; 6 by default. */
  readonly othersPerSlot?: number
  /**
   * By default there is one of each wallet. Has no effect on recorded blocks; not together with
   * skipped slots or forks.
   */
  readonly copies?: CopiesOptions
  readonly recorded?: RecordedOptions
  readonly clock?: ClockOptions
  /** Slots that `from_slot` can go back; 1,000 by default. */
  readonly replaySlots?: number
  /**
   * Slots that RPC can go back; 9,000 by default. With `historyHours`: slots before the start that
   * are not compressed, 3,000 by default.
   */
  readonly historySlots?: number
  /**
   * Hours of compressed history before the start, which RPC serves; 0, the default, is none. Has no
   * effect on recorded blocks.
   */
  readonly historyHours?: number
  /** Updates that a client may be behind before it is dropped; 100,000 by default. */
  readonly maxQueuedUpdates?: number
  readonly trouble?: Partial<Trouble>
  /**
   * First and last slot in which a stream has trouble; every slot by default. Late transactions of
   * these slots still come after them. Forks and skipped slots are everywhere.
   */
  readonly troubleSlots?: { readonly from: number; readonly to: number }
  /**
   * Compressed slots other than those before the start, for a chain with one block a minute from
   * the start on; `before` is a multiple of 150. `historyHours` has no effect then.
   */
  readonly compressed?: CompressedSlots
  /**
   * The first slot that ever had a block of the market. By default, as far back as RPC goes at the
   * start. Has no effect with `historyHours` or `compressed`.
   */
  readonly firstSlot?: number
}
