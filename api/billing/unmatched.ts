import type { Purpose } from '../../pipeline/domain/payment.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { REDEMPTION_KEY } from './deposit-rows.ts'
import type { Prices } from './terms.ts'

/** Why a deposit has bought nothing yet. */
export type UnmatchedReason =
  /** Its transaction could not be read. */
  | 'unreadable'
  /** Seen on the stream, not in finalized history: too new, or dropped by a fork. */
  | 'not_finalized'
  /** An operator gave it to an account, and the process ended: assign it again. */
  | 'assignment_unfinished'
  /** Paid for Pro, and no plan costs that. */
  | 'no_plan'
  /** The wallet that paid has no account. */
  | 'no_account'
  /** Its owner has only to ask for a check. */
  | 'not_checked'

export interface UnmatchedDeposit {
  readonly signature: string
  readonly wallet: string
  readonly purpose: Purpose
  /** USDT in raw units. */
  readonly amount: bigint
  readonly slot: number
  /** Unix seconds; 0 where nobody knows. */
  readonly blockTime: number
  readonly reason: UnmatchedReason
}

/** Deposits that are not redeemed, the newest first, 1000 at most. */
export async function readUnmatched(store: Store, { plans }: Prices): Promise<UnmatchedDeposit[]> {
  const rows = await store.query<{
    signature: string
    wallet: string
    purpose: Purpose
    amount: string
    slot: string
    block_time: number
    reason: UnmatchedReason
  }>(
    `SELECT signature, wallet, purpose, amount, slot, block_time,
       multiIf(
         wallet = '', 'unreadable',
         finalized = 0, 'not_finalized',
         (wallet, toString(purpose), signature) IN (SELECT wallet, toString(purpose), signature FROM deposit_assignments), 'assignment_unfinished',
         purpose = 'pro' AND amount NOT IN {prices:Array(UInt64)}, 'no_plan',
         wallet NOT IN (SELECT wallet FROM accounts), 'no_account',
         'not_checked') AS reason
     FROM deposits FINAL
     WHERE ${REDEMPTION_KEY} NOT IN (SELECT idempotency_key FROM ledger_entries WHERE cause = 'deposit')
       AND ${REDEMPTION_KEY} NOT IN (SELECT idempotency_key FROM subscriptions)
     ORDER BY slot DESC, tx_index DESC, signature, wallet LIMIT 1000`,
    { prices: plans.map(({ price }) => Number(price)) },
  )
  return rows.map(({ amount, slot, block_time: blockTime, ...row }) => ({
    ...row,
    amount: BigInt(amount),
    slot: Number(slot),
    blockTime,
  }))
}
