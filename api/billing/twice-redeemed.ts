import type { Store } from '../../pipeline/store/store.ts'

/**
 * A deposit that bought something more than once: a fault of ours, or of who wrote to the store.
 */
export interface TwiceRedeemed {
  /** Its idempotency key, `deposit:<signature>:<wallet that paid>:<pro|credits>`. */
  readonly key: string
  /** Accounts that it was redeemed for, one for each time, in ASCII order. */
  readonly accounts: readonly string[]
}

/**
 * Deposits that were redeemed more than once, for several accounts or for credits and Pro; 1000 at
 * most. There are none while account locks hold (`../account-locks.ts`).
 */
export async function readTwiceRedeemed(store: Store): Promise<readonly TwiceRedeemed[]> {
  return store.query<TwiceRedeemed>(
    `SELECT any(idempotency_key) AS key, arraySort(groupArray(wallet)) AS accounts FROM (
       SELECT idempotency_key, wallet FROM ledger_entries FINAL WHERE cause = 'deposit'
       UNION ALL SELECT idempotency_key, wallet FROM subscriptions FINAL)
     GROUP BY sipHash128(idempotency_key) HAVING count() > 1 ORDER BY key LIMIT 1000`,
  )
}
