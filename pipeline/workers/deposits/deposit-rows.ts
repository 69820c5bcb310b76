import { readDeposits } from '../../decode/deposits.ts'
import { type Address, addressFromBytes } from '../../domain/address.ts'
import { encodeBase58 } from '../../domain/base58.ts'
import { type PaymentAddresses, PURPOSES, type Purpose } from '../../domain/payment.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { Row } from '../../store/store.ts'

/** A row of table `deposits` without `seen_at`. `amount` is in raw units of the payment mint. */
export interface DepositRow extends Row {
  readonly wallet: string
  readonly purpose: Purpose
  readonly signature: string
  readonly slot: number
  readonly tx_index: number
  readonly block_time: number
  readonly amount: bigint | string
  readonly finalized: 0 | 1
}

/**
 * Returns what a transaction paid, by wallet and purpose. Returns null when that is unknown: the
 * RPC node has no inner instructions of the transaction, and the outer ones do not account for the
 * change in what a payment address holds.
 */
export function depositRows(
  transaction: Transaction,
  payments: PaymentAddresses,
  blockTime: number,
  finalized: 0 | 1,
): DepositRow[] | null {
  const { slot, index, tokenOwners, innerKept, failed } = transaction
  const paid = PURPOSES.filter((purpose) => tokenOwners.includes(payments[purpose]))
  if (paid.length === 0) return []
  const owners = PURPOSES.map((purpose) => payments[purpose])
  const deposits = readDeposits(transaction, { mint: payments.mint, owners })
  const isExplained = (purpose: Purpose) => {
    const found = deposits.filter(({ owner }) => owner === payments[purpose])
    const sum = found.reduce((sum, { amount }) => sum + amount, 0n)
    return sum === changeOf(transaction, payments[purpose], payments.mint)
  }
  if (!innerKept && !failed && !paid.every(isExplained)) return null
  const signature = encodeBase58(transaction.signature)
  const depositFields = { signature, slot, tx_index: index, block_time: blockTime, finalized }
  return deposits.flatMap(({ owner, wallet, amount }) => {
    const purpose = paid.find((purpose) => payments[purpose] === owner)
    return purpose === undefined ? [] : [{ wallet, purpose, amount, ...depositFields }]
  })
}

/**
 * Returns the token accounts of payment addresses that a transaction names, also those that it
 * closes.
 */
export function accountsPaid(
  transaction: Transaction,
  payments: PaymentAddresses,
): { readonly address: Address; readonly purpose: Purpose }[] {
  const { preTokenBalances, postTokenBalances, accountKeys, tokenOwners } = transaction
  if (!PURPOSES.some((purpose) => tokenOwners.includes(payments[purpose]))) return []
  return [...preTokenBalances, ...postTokenBalances].flatMap(({ owner, mint, accountIndex }) => {
    const purpose = PURPOSES.find((purpose) => payments[purpose] === owner)
    const key = accountKeys[accountIndex]
    if (purpose === undefined || mint !== payments.mint || key === undefined) return []
    return [{ address: addressFromBytes(key), purpose }]
  })
}

/** Returns by how much an owner's holdings of a mint changed, in raw units. */
function changeOf(transaction: Transaction, owner: Address, mint: Address): bigint {
  const { preTokenBalances, postTokenBalances } = transaction
  const sumOf = (balances: Transaction['preTokenBalances']) =>
    balances
      .filter((balance) => balance.owner === owner && balance.mint === mint)
      .reduce((sum, { amount }) => sum + amount, 0n)
  return sumOf(postTokenBalances) - sumOf(preTokenBalances)
}
