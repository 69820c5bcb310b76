import type { Purpose } from '../../pipeline/domain/payment.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ACCOUNT_WALLETS } from '../accounts/accounts.ts'
import { ENTRY_KEYS } from '../credits/ledger-entries.ts'
import { SUBSCRIPTION_KEYS } from './subscriptions.ts'
import { creditsFor, type Prices } from './terms.ts'

/** A finalized payment of a wallet to a payment address: the sum of one transaction. */
export interface Deposit {
  readonly wallet: string
  readonly purpose: Purpose
  readonly signature: string
  /** USDT in raw units. */
  readonly amount: bigint
}

/** Returns the idempotency key of a deposit's only redemption (rule E5). */
export function redemptionKey({ signature, wallet, purpose }: Deposit): string {
  return `deposit:${signature}:${wallet}:${purpose}`
}

/** Returns the ledger entry that credits a deposit. */
export function entryOf(deposit: Deposit, prices: Prices) {
  const { amount } = deposit
  return {
    key: redemptionKey(deposit),
    credits: creditsFor(amount, prices),
    cause: 'deposit',
    reason: '',
    depositAmount: amount,
  } as const
}

/** The same key as an SQL expression over a row of `deposits`. */
export const REDEMPTION_KEY = `concat('deposit:', signature, ':', wallet, ':', purpose)`

/**
 * Reads the wallet's finalized deposits of one purpose that are neither redeemed nor assigned by an
 * operator: oldest first, at most 1000. `amounts` (raw units) restricts them to these amounts.
 */
export async function readUnredeemed(
  store: Store,
  wallet: string,
  purpose: Purpose,
  amounts: readonly bigint[] | null = null,
): Promise<Deposit[]> {
  const redeemed = purpose === 'credits' ? ENTRY_KEYS : SUBSCRIPTION_KEYS
  const rows = await store.query<{ signature: string; amount: string }>(
    `SELECT signature, amount FROM deposits FINAL
     WHERE wallet = {wallet:String} AND purpose = {purpose:String} AND finalized = 1
       ${amounts === null ? '' : 'AND amount IN {amounts:Array(UInt64)}'}
       AND signature NOT IN (SELECT signature FROM deposit_assignments WHERE wallet = {wallet:String} AND purpose = {purpose:String})
       AND ${REDEMPTION_KEY} NOT IN (
         ${redeemed} WHERE wallet = {wallet:String} AND startsWith(idempotency_key, 'deposit:'))
     ORDER BY slot, tx_index, signature LIMIT 1000`,
    { wallet, purpose, ...(amounts !== null && { amounts: amounts.map(Number) }) },
  )
  return rows.map(({ signature, amount }) => ({
    wallet,
    purpose,
    signature,
    amount: BigInt(amount),
  }))
}

/** A deposit that an operator may assign. */
export interface Candidate extends Deposit {
  readonly finalized: number
  readonly isRedeemed: boolean
  /** The account and purpose that the deposit was assigned to before; null if none. */
  readonly given: { readonly account: string; readonly as: Purpose } | null
}

/** Reads the deposits of a transaction, by wallet and purpose. */
export async function readCandidates(store: Store, signature: string): Promise<Candidate[]> {
  const rows = await store.query<
    Record<'wallet' | 'amount' | 'account', string> &
      Record<'purpose' | 'redeemed_as', Purpose> &
      Record<'finalized' | 'is_redeemed', number>
  >(
    `SELECT d.wallet AS wallet, d.purpose AS purpose, d.amount AS amount, d.finalized AS finalized, d.is_redeemed AS is_redeemed,
       a.account AS account, a.redeemed_as AS redeemed_as
     FROM (
       SELECT wallet, purpose, signature, amount, finalized,
         ${REDEMPTION_KEY} IN (${ENTRY_KEYS} WHERE startsWith(idempotency_key, {prefix:String}))
         OR ${REDEMPTION_KEY} IN (${SUBSCRIPTION_KEYS} WHERE startsWith(idempotency_key, {prefix:String})) AS is_redeemed
       FROM deposits FINAL WHERE signature = {signature:String} AND wallet != ''
     ) AS d
     LEFT JOIN (SELECT * FROM deposit_assignments FINAL WHERE signature = {signature:String}) AS a
       ON a.wallet = d.wallet AND a.purpose = d.purpose
     ORDER BY wallet, purpose`,
    { signature, prefix: `deposit:${signature}:` },
  )
  return rows.map(({ wallet, purpose, amount, finalized, is_redeemed, account, redeemed_as }) => ({
    wallet,
    purpose,
    signature,
    finalized,
    amount: BigInt(amount),
    isRedeemed: is_redeemed === 1,
    given: account === '' ? null : { account, as: redeemed_as },
  }))
}

/** Stores that a deposit is assigned, and how. Doing it again changes nothing. */
export async function insertAssignment(
  store: Store,
  { wallet, purpose, signature }: Deposit,
  assigned: {
    readonly account: string
    readonly redeemed_as: Purpose
    readonly plan: string
    readonly created_at: string
  },
): Promise<void> {
  await store.insert('deposit_assignments', [{ wallet, purpose, signature, ...assigned }])
}

/** Why a deposit has not been redeemed yet. */
export type UnmatchedReason =
  /** The deposit's transaction could not be decoded. */
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
  /** The customer has not requested a payment check since the deposit. */
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
  const rows = await store.query<
    Pick<UnmatchedDeposit, 'signature' | 'wallet' | 'purpose' | 'reason'> &
      Record<'total' | 'amount' | 'slot', string> & { readonly block_time: number }
  >(
    `SELECT signature, wallet, purpose, amount, slot, block_time, reason, total FROM (
     SELECT signature, wallet, purpose, amount, slot, tx_index, block_time, count() OVER () AS total,
       multiIf(
         wallet = '', 'unreadable',
         finalized = 0, 'not_finalized',
         (wallet, toString(purpose), signature) IN (SELECT wallet, toString(purpose), signature FROM deposit_assignments), 'assignment_unfinished',
         purpose = 'pro' AND amount NOT IN {prices:Array(UInt64)}, 'no_plan',
         wallet NOT IN (${ACCOUNT_WALLETS}), 'no_account',
         'not_checked') AS reason
     FROM deposits FINAL
     WHERE ${REDEMPTION_KEY} NOT IN (${ENTRY_KEYS} WHERE cause = 'deposit')
       AND ${REDEMPTION_KEY} NOT IN (${SUBSCRIPTION_KEYS})
       AND NOT (wallet = '' AND concat('operator:', signature) IN (${ENTRY_KEYS} WHERE cause = 'adjustment'))
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
