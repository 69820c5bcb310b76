import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import { createPatientStore } from '../../store/patient-store.ts'
import type { Store } from '../../store/store.ts'
import type { RollupMetrics } from '../telemetry.ts'
import { Roller } from './roller.ts'

/** The worker that keeps `wallet_days` and `token_hours` (rule I4). */
export interface RollupWorker {
  /** Stops after the statement under way. The next start goes on after the last complete pass. */
  stop(): Promise<void>
}

/** Dependencies of the worker. */
export interface RollupDeps {
  readonly store: Store
  readonly logger: Logger
  readonly metrics: RollupMetrics
  /**
   * Whether this process rolls up. Among several processes, it is the one that has partition 0 of
   * the fold. Two may roll up for a moment.
   */
  readonly isMine: () => boolean
  /** Called with an error that only a bug can cause; the process should end. */
  readonly onBug: (error: unknown) => void
  /** Waits; ends early when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Shortest time between two passes, in milliseconds. */
const EVERY_MS = 10_000
/** A pass is followed by a wait of at least so many times its duration. */
const WAITS = 4

/**
 * Starts the worker. A pass runs at the start, and again ten seconds after the previous one ended,
 * or four times as long as that one took. While the store is down the worker waits.
 */
export function startRollups(deps: RollupDeps): RollupWorker {
  const { metrics, sleep = pause } = deps
  const stopping = new AbortController()
  const store = createPatientStore(deps.store, stopping.signal, deps.logger)
  const isMine = () => !stopping.signal.aborted && deps.isMine()

  async function run(): Promise<void> {
    let roller: Roller | null = null
    while (!stopping.signal.aborted) {
      const startedAt = performance.now()
      if (isMine()) {
        roller ??= new Roller(store, isMine)
        const until = await roller.pass()
        if (until !== null) {
          metrics.completeUntil.set(until)
          metrics.passSeconds.observe((performance.now() - startedAt) / 1000)
        }
      } else roller = null
      const took = performance.now() - startedAt
      await sleep(Math.max(EVERY_MS, WAITS * took), stopping.signal)
    }
  }

  const done = run().catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'closed')) deps.onBug(error)
  })
  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
