import { AccountEvents, type OwnEventKind } from '../../api/accounts/account-events.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** Stores a security event of an account that an operator caused; its network is `operator`. */
export async function storeOperatorEvent(
  store: Store,
  wallet: string,
  kind: OwnEventKind,
): Promise<void> {
  const logger = createLogger('silent')
  const events = new AccountEvents({ store, logger, now: Date.now, onDropped: () => {} })
  events.add(wallet, kind, 'operator')
  await events.stop()
}
