import { setTimeout as pause } from 'node:timers/promises'
import type { Withdrawal } from '../../pipeline/domain/slot.ts'
import type { LateMark } from '../../pipeline/log/late-order.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { WithdrawnSwap } from '../../pipeline/store/tables/withdrawn-swaps.ts'
import type { TradeHistory } from './trade-history.ts'

/** How long a partition of the log waits until storage has a withdrawal too. */
const WAIT_MS = 10_000
const EVERY_MS = 100

/**
 * Returns the swaps of a withdrawal that are no longer in memory, from storage, once storage has
 * the withdrawal. If storage fails or takes too long, it returns null: connected clients are then
 * not told, and the log says so.
 */
export async function findWithdrawn(
  { slot }: Withdrawal,
  mark: LateMark,
  deps: { readonly history: Pick<TradeHistory, 'withdrawnAt'>; readonly logger: Logger },
): Promise<readonly WithdrawnSwap[] | null> {
  const until = performance.now() + WAIT_MS
  do {
    const found = await deps.history.withdrawnAt(slot, mark).catch(() => null)
    if (found !== null) return found
    await pause(EVERY_MS)
  } while (performance.now() < until)
  deps.logger.warn('storage does not have a withdrawal; connected clients are not told of it')
  return null
}
