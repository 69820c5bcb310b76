import type { Address } from '../../pipeline/domain/address.ts'
import type { Purpose } from '../../pipeline/domain/payment.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { AccountLocks, HeldLock } from '../account-locks.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Ledger } from '../credits/ledger.ts'
import {
  type Candidate,
  type Deposit,
  entryOf,
  insertAssignment,
  readCandidates,
  redemptionKey,
} from './deposit-rows.ts'
import { readPro, redeemPlans } from './subscriptions.ts'
import { creditsFor, type Plan, type Prices } from './terms.ts'

export interface AssignDeps {
  readonly store: Store
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly prices: Prices
  readonly locks: AccountLocks
  readonly now?: () => number
}

/** An operator's decision. */
export interface Assignment {
  readonly signature: string
  readonly account: Address
  /** What the deposit buys. It may differ from the purpose of the address that was paid. */
  readonly purpose: Purpose
  /** Name of the plan for Pro, whatever its price; left out: the dearest that is paid for. */
  readonly plan?: string | undefined
}

/** What a deposit buys. */
export type Purchase =
  | { readonly purpose: 'credits'; readonly credits: number }
  | { readonly purpose: 'pro'; readonly plan: Plan }

/** What an assignment would do. `amount` is in raw units of USDT. */
export type Preview = Purchase & { readonly amount: bigint }

/** The result: credits that were added, or the plan and until when Pro runs. */
export type Assigned =
  | { readonly purpose: 'credits'; readonly credits: number; readonly balance: number }
  | { readonly purpose: 'pro'; readonly plan: string; readonly expiresAt: number | null }

/**
 * Redeems a deposit for an account by hand, once: later commands and checks do not redeem it again.
 * For Pro it buys the given plan, else the most expensive one that it pays for.
 *
 * The decision is stored first, so that the same command finishes the work after a crash. Then a
 * last read makes sure that no check has redeemed the deposit in the meantime. Rejects with
 * `deposit_not_found`, `already_redeemed`, `account_not_found`, and with `invalid_argument` if the
 * deposit is not finalized, pays for no plan, or is one of several in the transaction of which none
 * belongs to the account, and if there is no plan of that name.
 */
export async function assignDeposit(deps: AssignDeps, wanted: Assignment): Promise<Assigned> {
  const { store, locks } = deps
  const { deposit: meant } = await find(deps, wanted)
  // Locks the wallet that paid, whose checks redeem it, and the account, whose Pro is extended.
  // Sorted, so that two commands cannot deadlock.
  const [first = '', second = ''] = [meant.wallet, wanted.account].sort()
  const work = async (lock: HeldLock) => {
    const deposit = await choose(store, wanted)
    // A check redeemed the deposit first. What is left of the transaction belongs to another
    // wallet.
    if (redemptionKey(deposit) !== redemptionKey(meant)) throw alreadyRedeemed()
    return redeem(deps, deposit, wanted, lock)
  }
  return locks.withLock(first, (outer) =>
    first === second ? work(outer) : locks.withLock(second, (inner) => work(both(outer, inner))),
  )
}

/** What `assignDeposit` would do. Rejects as it does. */
export async function previewAssignment(
  deps: Pick<AssignDeps, 'store' | 'accounts' | 'prices'>,
  wanted: Assignment,
): Promise<Preview> {
  const { deposit, purchase } = await find(deps, wanted)
  return { ...purchase, amount: deposit.amount }
}

async function find(
  { store, accounts, prices }: Pick<AssignDeps, 'store' | 'accounts' | 'prices'>,
  wanted: Assignment,
) {
  await accounts.get(wanted.account)
  const deposit = await choose(store, wanted)
  return { deposit, purchase: purchaseOf(deposit, wanted, prices) }
}

function purchaseOf({ amount }: Deposit, { purpose, plan }: Assignment, prices: Prices): Purchase {
  if (purpose === 'credits') return { purpose, credits: creditsFor(amount, prices) }
  return { purpose, plan: plan === undefined ? dearest(prices, amount) : named(prices, plan) }
}

/**
 * Chooses the deposit of the transaction: one not redeemed yet; of several, the account's own; else
 * one to the address of the purpose. If the account paid in this transaction, or was assigned a
 * deposit of it before, only those deposits are considered, redeemed or not. So a repeated command
 * never takes another wallet's deposit.
 */
async function choose(store: Store, wanted: Assignment): Promise<Deposit> {
  const all = await readCandidates(store, wanted.signature)
  if (all.length === 0)
    throw new ServiceError('deposit_not_found', '--signature: this transaction has no deposit')
  const { account, purpose } = wanted
  const isGiven = ({ given }: Candidate) => given?.account === account && given.as === purpose
  const has = all.filter(({ wallet, given }) => wallet === account || given?.account === account)
  const hasForIt = has.filter(
    (deposit) => isGiven(deposit) || (deposit.wallet === account && deposit.purpose === purpose),
  )
  const meant = [hasForIt, has].find(({ length }) => length > 0) ?? all
  const left = meant.filter(
    (deposit) => !deposit.isRedeemed && (deposit.given === null || isGiven(deposit)),
  )
  if (left.length === 0) throw alreadyRedeemed()
  const narrowed = [
    left,
    left.filter(({ wallet }) => wallet === account),
    left.filter((deposit) => deposit.purpose === purpose),
  ].find(({ length }) => length === 1)
  const [deposit] = narrowed ?? []
  if (deposit === undefined)
    throw new ServiceError(
      'invalid_argument',
      '--wallet: several deposits of this transaction are not redeemed, and not exactly one is from this wallet',
    )
  if (deposit.finalized === 0)
    throw new ServiceError('invalid_argument', '--signature: the transaction is not finalized')
  return deposit
}

async function redeem(
  deps: AssignDeps,
  deposit: Deposit,
  wanted: Assignment,
  lock: HeldLock,
): Promise<Assigned> {
  const { store, ledger, prices } = deps
  const now = (deps.now ?? Date.now)()
  const { account, purpose } = wanted
  const purchase = purchaseOf(deposit, wanted, prices)
  const { signature } = deposit
  lock.requireHeld()
  await insertAssignment(store, deposit, {
    account,
    redeemed_as: purpose,
    plan: purchase.purpose === 'pro' ? purchase.plan.plan : '',
    created_at: dateTime(now),
  })
  const candidates = await readCandidates(store, signature)
  const isSame = (one: Candidate) => redemptionKey(one) === redemptionKey(deposit)
  if (candidates.find(isSame)?.isRedeemed) throw alreadyRedeemed()
  if (purchase.purpose === 'credits') {
    lock.requireHeld()
    const balance = await ledger.addAll(account, [entryOf(deposit, prices)])
    return { ...purchase, balance }
  }
  const { plan } = purchase
  const bought = { key: redemptionKey(deposit), plan, amount: deposit.amount }
  await redeemPlans(store, account, [bought], now, lock)
  const { expiresAt } = await readPro(store, account, now)
  return { purpose: 'pro', plan: plan.plan, expiresAt }
}

function both(one: HeldLock, other: HeldLock): HeldLock {
  return {
    requireHeld() {
      one.requireHeld()
      other.requireHeld()
    },
  }
}

function alreadyRedeemed(): ServiceError {
  return new ServiceError('already_redeemed', '--signature: this deposit is already redeemed')
}

function named({ plans }: Prices, name: string): Plan {
  const plan = plans.find((one) => one.plan === name)
  if (plan !== undefined) return plan
  const names = plans.map((one) => one.plan).join(', ')
  throw new ServiceError('invalid_argument', `--plan: there is no such plan, only ${names}`)
}

function dearest({ plans }: Prices, amount: bigint): Plan {
  const [plan] = plans
    .filter(({ price }) => price <= amount)
    .sort((a, b) => Number(b.price - a.price))
  if (plan === undefined)
    throw new ServiceError('invalid_argument', '--purpose: the deposit is below the cheapest plan')
  return plan
}
