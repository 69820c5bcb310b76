import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * For long work in one process: lets the event loop turn now and then, so that sockets, timers and
 * heartbeats wait no longer than `maxMs`.
 */
export class Turns {
  readonly #maxMs: number
  #since = performance.now()

  constructor(maxMs = 20) {
    this.#maxMs = maxMs
  }

  /** Whether it is time for `take`. */
  get isDue(): boolean {
    return performance.now() - this.#since >= this.#maxMs
  }

  async take(): Promise<void> {
    await nextTurn()
    this.#since = performance.now()
  }
}
