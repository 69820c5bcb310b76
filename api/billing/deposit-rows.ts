import type { Purpose } from '../../pipeline/domain/payment.ts'
import type { Store } from '../../pipeline/store/store.ts'
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
  const redeemed = purpose === 'credits' ? 'ledger_entries' : 'subscriptions'
  const rows = await store.query<{ signature: string; amount: string }>(
    `SELECT signature, amount FROM deposits FINAL
     WHERE wallet = {wallet:String} AND purpose = {purpose:String} AND finalized = 1
       ${amounts === null ? '' : 'AND amount IN {amounts:Array(UInt64)}'}
       AND signature NOT IN (SELECT signature FROM deposit_assignments WHERE wallet = {wallet:String} AND purpose = {purpose:String})
       AND ${REDEMPTION_KEY} NOT IN (
         SELECT idempotency_key FROM ${redeemed} WHERE wallet = {wallet:String} AND startsWith(idempotency_key, 'deposit:'))
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
