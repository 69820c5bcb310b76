import type { Address } from '../../domain/address.ts'
import { type PaymentAddresses, PURPOSES, type Purpose } from '../../domain/payment.ts'
import { associatedAccounts } from '../../ingest/rpc/associated-accounts.ts'
import { type DepositPosition, type ReadHistory, UNREAD } from './deposit-history.ts'

/** An account whose history is read for deposits. */
export interface DepositAccount {
  readonly address: Address
  readonly purpose: Purpose
  history: ReadHistory
  /** The position as it is stored; null: it is not. */
  stored: DepositPosition | null
}

interface Followed extends DepositAccount {
  /** A payment address, or an associated account of one: where people pay. */
  readonly isUsual: boolean
  /** What it held when that was listed last, in raw units. */
  amount: bigint | null
  /** The newest slot by which something may have come. */
  touchedAt: number
}

/**
 * Which accounts may have got something. Anybody can give a payment address any number of accounts, for next to nothing. So the usual ones are read each time, another one
 * only when it is new, holds another amount or was named by a transaction, until its history was read beyond that. What is left: tokens that came to an account and left it
 * again in between without the payment address being named. For those all are read in turn. Of too many, those are followed that hold the most.
 */
export class DepositAccounts {
  readonly #accounts = new Map<Address, Followed>()
  readonly #associated: ReadonlySet<Address>

  constructor(payments: PaymentAddresses) {
    const { mint } = payments
    const ofOwner = (purpose: Purpose) => associatedAccounts(payments[purpose], mint)
    this.#associated = new Set(PURPOSES.flatMap(ofOwner))
    for (const purpose of PURPOSES) this.#add(payments[purpose], purpose, true)
  }

  /** The usual accounts first, as many as there may be. */
  addresses(most: number): Address[] {
    const all = [...this.#accounts.values()]
    const usual = all.filter(({ isUsual }) => isUsual)
    const others = all.filter(({ isUsual }) => !isUsual)
    return [...usual, ...others].slice(0, most).map(({ address }) => address)
  }

  /** An account that a process before followed, and how far it read. */
  restore(address: Address, purpose: Purpose, position: DepositPosition): void {
    const account = this.#follow(address, purpose)
    if (account === undefined) return
    account.history = { ...UNREAD, position }
    account.stored = position
  }

  /** What the accounts of a payment address hold at a slot, all of them: one that is not listed holds nothing. */
  listed(purpose: Purpose, amounts: ReadonlyMap<Address, bigint>, slot: number): void {
    const unknown = [...amounts].filter(([address]) => !this.#accounts.has(address))
    let isFull = false
    for (const [address, amount] of unknown.sort(([, a], [, b]) => Number(b - a)))
      if (!isFull || this.#associated.has(address))
        isFull = this.#follow(address, purpose, amount) === undefined
    for (const account of this.#accounts.values()) {
      const amount = amounts.get(account.address) ?? 0n
      if (account.purpose !== purpose || account.amount === amount) continue
      account.amount = amount
      account.touchedAt = Math.max(account.touchedAt, slot)
    }
  }

  /** A transaction that was seen by a slot names the account. */
  touch(address: Address, purpose: Purpose, slot: number): void {
    const account = this.#follow(address, purpose)
    if (account !== undefined) account.touchedAt = Math.max(account.touchedAt, slot)
  }

  /**
   * Accounts to be read now, of those that were not `read` yet: the usual ones, and of those that may have got something the ones that were read the longest ago, until
   * `most` are read.
   */
  due(most: number, read: ReadonlySet<DepositAccount>): DepositAccount[] {
    const unread = [...this.#accounts.values()].filter((account) => !read.has(account))
    const usual = unread.filter(({ isUsual }) => isUsual)
    const touched = unread.filter(
      ({ isUsual, history, touchedAt }) => !isUsual && history.position.slot < touchedAt,
    )
    return [...usual, ...touched.sort(byPosition).slice(0, Math.max(0, most - read.size))]
  }

  /** The accounts, but for the usual ones, that were read the longest ago. */
  stalest(most: number): DepositAccount[] {
    const others = [...this.#accounts.values()].filter(({ isUsual }) => !isUsual)
    return others.sort(byPosition).slice(0, most)
  }

  /** `amount`: what it holds; by default it is taken for more than nothing. */
  #follow(address: Address, purpose: Purpose, amount = 1n): Followed | undefined {
    const known = this.#accounts.get(address)
    if (known !== undefined) return known
    const isUsual = this.#associated.has(address)
    if (!isUsual && this.#accounts.size >= MOST_FOLLOWED && !this.#makeRoom(amount))
      return undefined
    return this.#add(address, purpose, isUsual)
  }

  /** Forgets the account that holds the least, less than `amount`, of those that were read to the end. */
  #makeRoom(amount: bigint): boolean {
    let poorest: Followed | undefined
    for (const account of this.#accounts.values()) {
      const { isUsual, amount, history, touchedAt } = account
      if (isUsual || amount === null || history.position.slot < touchedAt) continue
      if (poorest === undefined || amount < (poorest.amount ?? 0n)) poorest = account
    }
    if (poorest === undefined || (poorest.amount ?? 0n) >= amount) return false
    this.#accounts.delete(poorest.address)
    return true
  }

  #add(address: Address, purpose: Purpose, isUsual: boolean): Followed {
    const account: Followed = {
      address,
      purpose,
      isUsual,
      history: UNREAD,
      stored: null,
      amount: null,
      touchedAt: 0,
    }
    this.#accounts.set(address, account)
    return account
  }
}

function byPosition(a: DepositAccount, b: DepositAccount): number {
  return a.history.position.slot - b.history.position.slot
}

/** Opening one costs its maker 0.002 SOL, which he can get back. The usual ones come on top. */
const MOST_FOLLOWED = 1000
