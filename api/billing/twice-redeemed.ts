import type { Store } from '../../pipeline/store/store.ts'
import { REDEEMED_FOR_CREDITS } from '../credits/ledger-entries.ts'
import { REDEEMED_FOR_PRO } from './subscriptions.ts'

/**
 * A deposit that was redeemed more than once: a bug of this service, or of another writer of the
 * store.
 */
export interface TwiceRedeemed {
  /** Idempotency key of the redemption, `deposit:<signature>:<wallet that paid>:<pro|credits>`. */
  readonly key: string
  /** Accounts that the deposit was redeemed for, one per redemption, in ASCII order. */
  readonly accounts: readonly string[]
}

/**
 * Reads the deposits that were redeemed more than once, for several accounts or for credits and
 * Pro: at most 1000. While account locks work (`../account-locks.ts`) there are none.
 */
export async function readTwiceRedeemed(store: Store): Promise<readonly TwiceRedeemed[]> {
  return store.query<TwiceRedeemed>(
    `SELECT any(idempotency_key) AS key, arraySort(groupArray(wallet)) AS accounts FROM (
       ${REDEEMED_FOR_CREDITS} UNION ALL ${REDEEMED_FOR_PRO})
     GROUP BY sipHash128(idempotency_key) HAVING count() > 1 ORDER BY key LIMIT 1000`,
  )
}
