import type { Address } from '../../domain/address.ts'
import { type PaymentAddresses, PURPOSES, type Purpose } from '../../domain/payment.ts'
import { associatedAccounts } from '../../ingest/rpc/associated-accounts.ts'
import { type AccountHistory, type DepositPosition, UNREAD_HISTORY } from './deposit-history.ts'

/** An account whose history is read for deposits. */
export interface DepositAccount {
  readonly address: Address
  readonly purpose: Purpose
  history: AccountHistory
  /** The position as stored; null when it is not. */
  stored: DepositPosition | null
}

interface Followed extends DepositAccount {
  /** A payment address or an associated token account of one: where people pay. */
  readonly isUsual: boolean
  /** Balance in raw units when the account was last listed; null before that. */
  amount: bigint | null
  /** The newest slot by which it may have received something. */
  touchedAt: number
}

/**
 * Decides which token accounts have to be read. Anybody can create any number of token accounts for
 * a payment address at almost no cost. So the usual ones are read each time. Another one is read
 * when it is new, its amount changed, or a transaction named it, until its history is read beyond
 * that.
 *
 * Tokens that came and left again between two listings show nowhere. For their sake all accounts
 * are read in rotation. At most 1000 accounts are followed besides the usual ones: those that hold
 * most.
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

  /** Returns at most `most` accounts, the usual ones first. */
  addresses(most: number): Address[] {
    const all = [...this.#accounts.values()]
    const usual = all.filter(({ isUsual }) => isUsual)
    const others = all.filter(({ isUsual }) => !isUsual)
    return [...usual, ...others].slice(0, most).map(({ address }) => address)
  }

  /** Follows an account that an earlier process read up to `position`. */
  restore(address: Address, purpose: Purpose, position: DepositPosition): void {
    const account = this.#follow(address, purpose)
    if (account === undefined) return
    account.history = { ...UNREAD_HISTORY, position }
    account.stored = position
  }

  /**
   * Takes what all token accounts of a purpose hold at a slot. An account that is missing holds
   * nothing.
   */
  setAmounts(purpose: Purpose, amounts: ReadonlyMap<Address, bigint>, slot: number): void {
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

  /** Marks an account that a transaction names as possibly changed at `slot`. */
  touch(address: Address, purpose: Purpose, slot: number): void {
    const account = this.#follow(address, purpose)
    if (account !== undefined) account.touchedAt = Math.max(account.touchedAt, slot)
  }

  /**
   * Returns the accounts to read next, without those in `read`: the usual ones, and those that may
   * have received something, least recently read first, until `most` are read.
   */
  due(most: number, read: ReadonlySet<DepositAccount>): DepositAccount[] {
    const unread = [...this.#accounts.values()].filter((account) => !read.has(account))
    const usual = unread.filter(({ isUsual }) => isUsual)
    const touched = unread.filter(
      ({ isUsual, history, touchedAt }) => !isUsual && history.position.slot < touchedAt,
    )
    return [...usual, ...touched.sort(byPosition).slice(0, Math.max(0, most - read.size))]
  }

  /** Returns the accounts, except the usual ones, that were read the longest ago. */
  stalest(most: number): DepositAccount[] {
    const others = [...this.#accounts.values()].filter(({ isUsual }) => !isUsual)
    return others.sort(byPosition).slice(0, most)
  }

  /**
   * Returns the account; undefined when there is no room for it. `amount`: what it holds, in raw
   * units.
   */
  #follow(address: Address, purpose: Purpose, amount = 1n): Followed | undefined {
    const known = this.#accounts.get(address)
    if (known !== undefined) return known
    const isUsual = this.#associated.has(address)
    if (!isUsual && this.#accounts.size >= MOST_FOLLOWED && !this.#makeRoom(amount))
      return undefined
    return this.#add(address, purpose, isUsual)
  }

  /**
   * Evicts the fully read account that holds least, if that is less than `amount`. Returns whether
   * it did.
   */
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
      history: UNREAD_HISTORY,
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

/** Besides the usual ones. Creating an account costs 0.002 SOL, which its creator can get back. */
const MOST_FOLLOWED = 1000
