/** Decides which calls are refused while the event loop cannot keep up. */
export interface LoadShedder {
  /**
   * To be called when the server begins to handle a request, whatever it asks for. Returns false if
   * the request should be refused.
   */
  admits(): boolean
}

/**
 * Creates a load shedder (rule D9). The event loop handles every request that is ready in one turn,
 * so the time since the first request of the turn is how long the later ones have waited. While
 * turns have been longer than `limitMs` for half a second, requests beyond `limitMs` in their turn
 * are refused. This state ends with a turn of at most half of `limitMs`, or after half a second
 * without a request.
 *
 * A single stall, such as a long garbage collection, makes one long turn and some shorter ones that
 * catch up, and sheds nothing.
 */
export function createLoadShedder(options: {
  /** Milliseconds; 0: nothing is shed. */
  readonly limitMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number
  /** Runs a function once all requests of this turn have begun. */
  readonly atEndOfTurn?: (end: () => void) => void
}): LoadShedder {
  const { limitMs, now = () => performance.now(), atEndOfTurn = setImmediate } = options
  let turnStart: number | null = null
  let lastEnd = Number.NEGATIVE_INFINITY
  /** The end of the first long turn; null while the event loop keeps up. */
  let overSince: number | null = null

  function endTurn(): void {
    lastEnd = now()
    const tookMs = lastEnd - (turnStart ?? lastEnd)
    turnStart = null
    if (tookMs > limitMs) overSince ??= lastEnd
    else if (tookMs <= limitMs / 2) overSince = null
  }

  return {
    admits() {
      if (limitMs === 0) return true
      const at = now()
      if (turnStart === null) {
        turnStart = at
        if (at - lastEnd > LASTING_MS) overSince = null
        atEndOfTurn(endTurn)
      }
      return overSince === null || at - overSince < LASTING_MS || at - turnStart <= limitMs
    },
  }
}

const LASTING_MS = 500
