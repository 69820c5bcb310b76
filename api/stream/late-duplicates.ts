import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { FeedMetrics } from './telemetry.ts'
import type { LateSwap, TradeHistory } from './trade-history.ts'

/** Dependencies of the lookup of late duplicates. */
export interface LateDuplicatesDeps {
  readonly history: Pick<TradeHistory, 'cameBefore'>
  readonly metrics: Pick<FeedMetrics, 'repeated'>
  readonly logger: Logger
}

/**
 * Looks up in storage which late swaps were published before; returns their event keys. It is used
 * for slots that are no longer in memory. If storage fails or takes too long, it returns none: a
 * swap that is on the log twice is rarer than a late one.
 */
export async function findLateDuplicates(
  late: readonly LateSwap[],
  { history, metrics, logger }: LateDuplicatesDeps,
): Promise<ReadonlySet<string>> {
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LOOKUP_TIMEOUT_MS)
  })
  try {
    const duplicates = await Promise.race([history.cameBefore(late), overdue])
    if (duplicates !== null) {
      metrics.repeated.inc(duplicates.size)
      return duplicates
    }
    logger.warn({ swaps: late.length }, 'lookup of late swaps in storage timed out')
  } catch {
    logger.warn({ swaps: late.length }, 'lookup of late swaps in storage failed')
  } finally {
    clearTimeout(timer)
  }
  return new Set()
}

/** How long a partition of the log waits for the lookup. */
const LOOKUP_TIMEOUT_MS = 2000
