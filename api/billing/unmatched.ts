import type { Purpose } from '../../pipeline/domain/payment.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { REDEMPTION_KEY } from './deposit-rows.ts'
import type { Prices } from './terms.ts'

/** Why a deposit has not been redeemed yet. */
export type UnmatchedReason =
  /** Its transaction could not be decoded. */
  | 'unreadable'
  /** Seen on the stream, but not in finalized history: too recent, or dropped by a fork. */
  | 'not_finalized'
  /**
   * An operator assigned it to an account, and the process ended before redeeming: assign it again.
   */
  | 'assignment_unfinished'
  /** Paid to the address of Pro, and no plan has this price. */
  | 'no_plan'
  /** The wallet that paid has no account. */
  | 'no_account'
  /** The customer has not asked for a check since. */
  | 'not_checked'

export interface UnmatchedDeposit {
  readonly signature: string
  readonly wallet: string
  readonly purpose: Purpose
  /** USDT in raw units. */
  readonly amount: bigint
  readonly slot: number
  /** Unix seconds; 0 if unknown. */
  readonly blockTime: number
  readonly reason: UnmatchedReason
}

/**
 * Restricts the list to deposits of earlier slots, and to those of at least an amount (raw units).
 * Deposits of unknown amount are always listed.
 */
export interface UnmatchedFilter {
  readonly before?: number | undefined
  readonly minAmount?: bigint | undefined
}

/**
 * Reads deposits that are not redeemed, newest first: the first 1000, and the rest of the last
 * slot, so that the next page is `before` that slot. Also returns how many match the filter. An
 * unreadable deposit is listed until an operator credits an account under the key of its signature.
 */
export async function readUnmatched(
  store: Store,
  { plans }: Prices,
  { before, minAmount = 0n }: UnmatchedFilter = {},
): Promise<{ readonly total: number; readonly items: readonly UnmatchedDeposit[] }> {
  const rows = await store.query<{
    total: string
    signature: string
    wallet: string
    purpose: Purpose
    amount: string
    slot: string
    block_time: number
    reason: UnmatchedReason
  }>(
    `SELECT signature, wallet, purpose, amount, slot, block_time, reason, total FROM (
     SELECT signature, wallet, purpose, amount, slot, tx_index, block_time, count() OVER () AS total,
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
       AND NOT (wallet = '' AND concat('operator:', signature) IN (SELECT idempotency_key FROM ledger_entries WHERE cause = 'adjustment'))
       AND (amount >= {min:UInt64} OR wallet = '')
       ${before === undefined ? '' : 'AND slot < {before:UInt64}'}
     ORDER BY slot DESC LIMIT 1000 WITH TIES)
     ORDER BY slot DESC, tx_index DESC, signature, wallet`,
    {
      prices: plans.map(({ price }) => Number(price)),
      min: minAmount.toString(),
      ...(before !== undefined && { before }),
    },
  )
  return {
    total: Number(rows[0]?.total ?? 0),
    items: rows.map(({ amount, slot, block_time: blockTime, total: _, ...row }) => ({
      ...row,
      amount: BigInt(amount),
      slot: Number(slot),
      blockTime,
    })),
  }
}
