import { setImmediate as nextIteration } from 'node:timers/promises'

/**
 * Decides when long synchronous work yields to the event loop, so that sockets, timers and
 * heartbeats wait at most `maxMs` milliseconds. Use: `if (loopYield.isDue) await loopYield.wait()`.
 * The check apart from the wait saves a promise per item.
 */
export class EventLoopYield {
  readonly #maxMs: number
  #since = performance.now()

  constructor(maxMs = 20) {
    this.#maxMs = maxMs
  }

  /** Whether the work has run for `maxMs` since it last yielded. */
  get isDue(): boolean {
    return performance.now() - this.#since >= this.#maxMs
  }

  /** Lets the event loop run one iteration. */
  async wait(): Promise<void> {
    await nextIteration()
    this.#since = performance.now()
  }
}
