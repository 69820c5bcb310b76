import type { BackoffLimits } from '../stream/backoff.ts'
import type { SessionLimits } from '../stream/stream-session.ts'

/**
 * Limits of a pool watch. The backoff between streams starts again at `backoffMs` once a stream has
 * brought all accounts up to date.
 */
export interface PoolWatchLimits extends BackoffLimits, SessionLimits {
  /** Maximum number of watched pools. */
  readonly pools: number
  /** How long after the stream's last confirmed slot states are still returned. */
  readonly staleMs: number
}

/** The limits in production. */
export const DEFAULT_POOL_WATCH_LIMITS: PoolWatchLimits = {
  pools: 500,
  idleMs: 10_000,
  pingMs: 10_000,
  backoffMs: 100,
  maxBackoffMs: 10_000,
  staleMs: 30_000,
}
