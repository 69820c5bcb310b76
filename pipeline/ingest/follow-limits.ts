import type { FinalityLimits } from './finality/finality-follower.ts'
import type { BackoffLimits } from './stream/backoff.ts'
import type { SessionLimits } from './stream/stream-session.ts'

/**
 * Limits of a chain follower. The backoff between streams starts again at `backoffMs` once a stream
 * has sealed a slot.
 */
export interface FollowLimits extends BackoffLimits, SessionLimits, FinalityLimits {
  /** See `SlotSealerOptions`. */
  readonly patienceMs: number
  /**
   * Bytes of transactions above which the stream is closed. Applies to unsealed slots, and to
   * sealed slots that the consumer has not taken.
   */
  readonly maxPendingBytes: number
  /** Number of sealed slots that the consumer has not taken above which the stream is closed. */
  readonly maxWaitingSlots: number
  /** The longest gap that is fetched over RPC (rule K2), in slots. */
  readonly maxGapSlots: number
  /** How many slots before a cut are compared with `getBlock` (rule K2). */
  readonly recheckSlots: number
  /**
   * The same after a restart. More slots, because a process that stopped may not have finished the
   * comparison after an earlier cut.
   */
  readonly restartRecheckSlots: number
  /** How long RPC may refuse a needed block or mint before it is given up (rule K10). */
  readonly refusalMs: number
}

/** The limits in production. */
export const DEFAULT_FOLLOW_LIMITS: FollowLimits = {
  idleMs: 10_000,
  finalityIdleMs: 20_000,
  finalityPatienceMs: 5000,
  replacementMs: 5000,
  pingMs: 10_000,
  backoffMs: 100,
  maxBackoffMs: 10_000,
  patienceMs: 10_000,
  maxPendingBytes: 256 * 1024 * 1024,
  maxWaitingSlots: 256,
  maxGapSlots: 3000,
  recheckSlots: 64,
  restartRecheckSlots: 512,
  refusalMs: 60_000,
}
