import type { TokenBalance } from '../domain/transaction.ts'
import { QUOTES, SOL } from './mint-table.ts'
import { type Flows, netFlows } from './net-flows.ts'
import type { TransactionFacts } from './transaction-facts.ts'

/**
 * Balance changes of a wallet by mint number over the whole transaction, in raw units: the post
 * balances of accounts it owns after, less the pre balances of accounts it owned before. Escrows of
 * its orders count as its own (rules B2, B2a). The entry of SOL is zero: see `solChange`.
 */
export function balanceChanges(facts: TransactionFacts, wallet: number): Flows {
  const { tx } = facts
  const { mints, owners } = facts.movements
  const changes: Flows = new Array(mints.addresses.length).fill(0n)
  const count = (balances: typeof tx.preTokenBalances, sign: bigint) => {
    for (const balance of balances) {
      if (owners.of(balance) !== wallet) continue
      const number = mints.numberOf(balance.mint)
      if (number !== SOL) changes[number] = changes[number]! + sign * balance.amount
    }
  }
  count(tx.preTokenBalances, -1n)
  count(tx.postTokenBalances, 1n)
  return changes
}

/**
 * The SOL change of a wallet over the whole transaction, in lamports. The system account and the
 * WSOL accounts count together.
 */
export interface SolChange {
  /** Lamports after, less lamports before. */
  readonly change: bigint
  /** Network fee that the wallet paid. */
  readonly fee: bigint
  /** Tips that the wallet paid. */
  readonly tips: bigint
  /** Rent that the wallet put on accounts, less rent that came back. */
  readonly rent: bigint
  /** Net of everything that instructions moved, and of credits that venues stated. */
  readonly flows: bigint
  /**
   * Lamports that programs credited or debited without an instruction that shows it: `change + fee
   * + tips + rent - flows`.
   */
  readonly direct: bigint
}

/** Breaks down the SOL change of a wallet (rule B3). */
export function solChange(facts: TransactionFacts, wallet: number): SolChange {
  const { tx, named } = facts
  const { mints, owners, moves } = facts.movements
  let change = 0n
  for (let i = 0; i < tx.accountKeys.length; i++) {
    if (named.atKey[i] === wallet) change += tx.lamportsAfter(i) - tx.lamportsBefore(i)
  }
  const isOwnWsol = (balance: TokenBalance) =>
    mints.numberOf(balance.mint) === SOL && owners.of(balance) === wallet
  for (const balance of tx.preTokenBalances) {
    if (isOwnWsol(balance)) change -= tx.lamportsBefore(balance.accountIndex)
  }
  for (const balance of tx.postTokenBalances) {
    if (isOwnWsol(balance)) change += tx.lamportsAfter(balance.accountIndex)
  }
  let tips = 0n
  let rent = 0n
  for (const { kind, from, to, sent } of moves) {
    if (kind !== 'rent' && kind !== 'tip') continue
    const paid = (from === wallet ? sent : 0n) - (to === wallet ? sent : 0n)
    if (kind === 'rent') rent += paid
    else tips += paid
  }
  const fee = named.atKey[0] === wallet ? tx.fee : 0n
  const flows = netFlows(facts, wallet, { first: 0, end: tx.instructions.length })[SOL]!
  return { change, fee, tips, rent, flows, direct: change + fee + tips + rent - flows }
}

/**
 * The flows of a wallet over the whole transaction: balance changes without the network fee, tips
 * and rent. Rent of accounts that programs closed without an instruction is left out too (rules B3,
 * B10).
 */
export function wholeFlows(facts: TransactionFacts, wallet: number, changes: Flows): Flows {
  const { flows, direct } = solChange(facts, wallet)
  const returned = direct > 0n ? least(direct, facts.movements.closedByPrograms()) : 0n
  const whole = [...changes]
  whole[SOL] = flows + direct - returned
  return whole
}

/**
 * Sets the amount of credits that the venue did not state. They share what the SOL balance shows
 * beyond everything else that moved SOL, by their weights; the last one takes the remainder (rule
 * B5).
 */
export function settleUnstatedCredits(facts: TransactionFacts, wallet: number): void {
  const credits = facts.movements.unstatedCredits.filter(({ move }) => move.to === wallet)
  if (credits.length === 0) return
  const { direct } = solChange(facts, wallet)
  let left = direct - least(facts.movements.closedByPrograms(), direct)
  if (left <= 0n) return
  const total = left
  const weights = credits.reduce((sum, { weight }) => sum + weight, 0n)
  credits.forEach(({ move, weight }, i) => {
    const last = i === credits.length - 1 || weights === 0n
    const part = last ? left : (total * weight) / weights
    move.received = part
    left -= part
  })
}

/**
 * Whether exactly one unit of a mint without decimals moved. That is an NFT, which is neither
 * swapped nor transferred (rule B8a).
 */
export function isNft(facts: TransactionFacts, mint: number, amount: bigint): boolean {
  return (
    mint >= QUOTES &&
    (amount === 1n || amount === -1n) &&
    facts.movements.mints.decimalsOf(mint) === 0
  )
}

/** Returns the flows with those of NFTs set to zero. */
export function withoutNfts(facts: TransactionFacts, flows: Flows): Flows {
  return flows.map((flow, mint) => (isNft(facts, mint, flow) ? 0n : flow))
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
