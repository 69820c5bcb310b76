import type { Transaction } from '../domain/transaction.ts'
import type { Move } from './movements.ts'

/**
 * Sets `received` of transfers of `mints` (those of Token-2022), as far as a fee was withheld from them. The instruction does not tell the fee, but the balances do: what an account
 * should hold after all that moved, less what it holds, was withheld (it stays on the account apart from its amount). An account that
 * ended closed held nothing. Source: spl-token-2022 `extension/transfer_fee`: fee = ceil(amount x basis points / 10,000), at most
 * the mint's maximum; what several transfers to one account paid is found from that.
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

/** Splits a fee over transfers: by the one rate that gives it exactly, else in proportion, the last one taking what is left. */
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
