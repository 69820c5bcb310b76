import type { Transaction } from '../domain/transaction.ts'
import type { Move } from './move.ts'

/**
 * Sets `received` of the transfers of `mints` (mints of Token-2022) from which a fee was withheld.
 *
 * Most transfer instructions do not state the fee, but balances show it. The fee is what an account
 * should hold after all moves, less what it holds: a withheld fee stays on the account, outside its
 * amount. An account that was closed holds nothing.
 *
 * Source: spl-token-2022 `extension/transfer_fee`: fee = ceil(amount x basis points / 10,000), at
 * most the mint's maximum. Several transfers to one account are told apart by this formula.
 */
export function settleTransferFees(
  tx: Transaction,
  moves: readonly Move[],
  mints: readonly number[],
): void {
  const expected = new Map<number, bigint>()
  const incoming = new Map<number, Move[]>()
  for (const { accountIndex, amount } of tx.preTokenBalances) expected.set(accountIndex, amount)
  for (const move of moves) {
    if (!mints.includes(move.mint)) continue
    add(expected, move.source, -move.sent)
    add(expected, move.destination, move.received)
    if (move.kind !== 'token' || move.sent !== move.received) continue
    const list = incoming.get(move.destination)
    if (list === undefined) incoming.set(move.destination, [move])
    else list.push(move)
  }
  const held = new Map(tx.postTokenBalances.map((b) => [b.accountIndex, b.amount]))
  for (const [account, transfers] of incoming) {
    const fee = (expected.get(account) ?? 0n) - (held.get(account) ?? 0n)
    const total = transfers.reduce((sum, move) => sum + move.sent, 0n)
    if (fee > 0n && fee <= total) withhold(transfers, total, fee)
  }
}

/**
 * Splits a fee over transfers by the one rate that gives it exactly. Without such a rate, splits it
 * in proportion, and the last transfer takes the remainder.
 */
function withhold(transfers: readonly Move[], total: bigint, fee: bigint): void {
  const rate = transfers.length === 1 ? null : findRate(transfers, fee)
  let left = fee
  transfers.forEach((move, i) => {
    const last = i === transfers.length - 1
    const part = last ? left : rate === null ? (fee * move.sent) / total : feeAt(rate, move.sent)
    move.received = move.sent - part
    left -= part
  })
}

function findRate(transfers: readonly Move[], fee: bigint): bigint | null {
  let [low, high] = [1n, 10_000n]
  while (low < high) {
    const middle = (low + high) / 2n
    if (sumAt(middle) < fee) low = middle + 1n
    else high = middle
  }
  return sumAt(low) === fee ? low : null

  function sumAt(rate: bigint): bigint {
    return transfers.reduce((sum, move) => sum + feeAt(rate, move.sent), 0n)
  }
}

function feeAt(rate: bigint, amount: bigint): bigint {
  return (amount * rate + 9_999n) / 10_000n
}

function add(sums: Map<number, bigint>, account: number, amount: bigint): void {
  if (account >= 0) sums.set(account, (sums.get(account) ?? 0n) + amount)
}
