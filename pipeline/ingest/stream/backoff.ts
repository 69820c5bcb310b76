/** Pauses between attempts that double up to a limit. */
export interface Backoff {
  /**
   * The next pause in milliseconds: between half and all of the current step, at random. The jitter
   * keeps many clients of one server from reconnecting together.
   */
  next(): number
  /** Returns to the first step. */
  reset(): void
}

/** The first and the largest step of a backoff, in milliseconds. */
export interface BackoffLimits {
  readonly backoffMs: number
  readonly maxBackoffMs: number
}

/** A backoff at its first step. `random` returns numbers from 0 up to, but not including, 1. */
export function createBackoff(
  { backoffMs, maxBackoffMs }: BackoffLimits,
  random: () => number = Math.random,
): Backoff {
  let stepMs = backoffMs
  return {
    next() {
      const pauseMs = stepMs * (0.5 + random() / 2)
      stepMs = Math.min(stepMs * 2, maxBackoffMs)
      return pauseMs
    },
    reset() {
      stepMs = backoffMs
    },
  }
}
