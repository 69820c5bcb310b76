import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'

/** Reads a file of the configuration again and applies it. It logs a bad file and never rejects. */
export type Reload = () => Promise<void>

/**
 * Creates a reload that calls `apply`. If `apply` rejects, logs message `whenBad` with the reason.
 */
export function reloadFile(logger: Logger, whenBad: string, apply: () => Promise<void>): Reload {
  return async () => {
    try {
      await apply()
    } catch (error) {
      const reason = error instanceof ServiceError ? error.message : String(error)
      logger.error({ reason }, whenBad)
    }
  }
}

/**
 * One reload of all files (rule J5): runs the given reloads in their order. A call during another
 * runs after it.
 */
export function reloadAll(reloads: readonly Reload[]): Reload {
  let running = Promise.resolve()
  return () => {
    for (const reload of reloads) running = running.then(reload)
    return running
  }
}
