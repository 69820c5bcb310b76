import type { Logger } from '../../pipeline/runtime/logger.ts'

/** A failed request, as it is logged. */
export interface RequestFailure {
  readonly requestId: string
  readonly resource: string | undefined
  readonly code: string
  readonly reason: string | undefined
}

/** Lines of one code within a second; further failures are counted. */
const LINES_PER_SECOND = 5
const SECOND_MS = 1000

/**
 * Returns a function that logs a failed request. Requests of strangers must not fill a disk: of
 * each code the first failures of a second are logged, then one line with the number of the others.
 */
export function createFailureLog(logger: Logger) {
  /** Failures of the current second by code. */
  const counts = new Map<string, number>()
  return (level: 'warn' | 'error', failure: RequestFailure): void => {
    const { code } = failure
    const count = (counts.get(code) ?? 0) + 1
    counts.set(code, count)
    if (count === 1) setTimeout(endSecond, SECOND_MS, level, code).unref()
    if (count <= LINES_PER_SECOND) logger[level](failure, 'request failed')
  }

  function endSecond(level: 'warn' | 'error', code: string): void {
    const suppressed = (counts.get(code) ?? 0) - LINES_PER_SECOND
    counts.delete(code)
    if (suppressed > 0) logger[level]({ code, suppressed }, 'more requests failed')
  }
}
