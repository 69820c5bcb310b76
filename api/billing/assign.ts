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
  readonly turns: AccountLocks
  readonly now?: () => number
}

/** What an operator decides. */
export interface Assignment {
  readonly signature: string
  readonly account: Address
  /** What it is redeemed for, whichever address was paid. */
  readonly purpose: Purpose
}

/** What came of it: credits that were added, or the plan and until when Pro runs. */
export type Assigned =
  | { readonly purpose: 'credits'; readonly credits: number; readonly balance: number }
  | { readonly purpose: 'pro'; readonly plan: string; readonly expiresAt: number | null }

/**
 * Redeems a deposit for an account by hand, once: neither this nor a check redeems it again. For
 * Pro it buys the dearest plan that it pays for. The decision is stored first, so that the same
 * command finishes what a process left that ended in between; then it is looked once more whether a
 * check that came before has redeemed it. Rejects with `deposit_not_found`, `already_redeemed`,
 * `account_not_found`, and `invalid_argument` for a deposit that is not finalized, pays no plan, or
 * is one of several of the transaction of which none is the account's own.
 */
export async function assignDeposit(deps: AssignDeps, wanted: Assignment): Promise<Assigned> {
  const { store, accounts, turns } = deps
  if (!(await accounts.exists(wanted.account)))
    throw new ServiceError('account_not_found', 'this wallet has no account')
  const meant = await choose(store, wanted)
  // Of the wallet that paid, for its own checks; of the account, whose Pro is extended. In one
  // order, so that two do not wait for each other.
  const [first = '', second = ''] = [meant.wallet, wanted.account].sort()
  const work = async (turn: HeldLock) => {
    const deposit = await choose(store, wanted)
    // A check was faster, and what is left of the transaction now is somebody else's.
    if (redemptionKey(deposit) !== redemptionKey(meant)) throw alreadyRedeemed()
    return redeem(deps, deposit, wanted, turn)
  }
  return turns.withLock(first, (outer) =>
    first === second ? work(outer) : turns.withLock(second, (inner) => work(both(outer, inner))),
  )
}

/**
 * The deposit of the transaction that is meant: one that is left, of the account itself when there
 * are several, else one to the address of the purpose. Where the account paid in it, or was given
 * of it before, that alone is meant, redeemed or not: the same command again does not go on to
 * another wallet's.
 */
async function choose(store: Store, wanted: Assignment): Promise<Deposit> {
  const all = await readCandidates(store, wanted.signature)
  if (all.length === 0)
    throw new ServiceError('deposit_not_found', '--signature: no deposit of this transaction')
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
      '--wallet: several deposits of this transaction are left, and none is of this wallet alone',
    )
  if (deposit.finalized === 0)
    throw new ServiceError('invalid_argument', '--signature: the transaction is not finalized')
  return deposit
}

async function redeem(
  deps: AssignDeps,
  deposit: Deposit,
  wanted: Assignment,
  turn: HeldLock,
): Promise<Assigned> {
  const { store, ledger, prices } = deps
  const now = (deps.now ?? Date.now)()
  const { account, purpose } = wanted
  const plan = purpose === 'pro' ? dearest(prices, deposit.amount) : null
  const { signature } = deposit
  turn.requireHeld()
  await insertAssignment(store, deposit, {
    account,
    redeemed_as: purpose,
    plan: plan?.plan ?? '',
    created_at: dateTime(now),
  })
  const candidates = await readCandidates(store, signature)
  const isSame = (one: Candidate) => redemptionKey(one) === redemptionKey(deposit)
  if (candidates.find(isSame)?.isRedeemed) throw alreadyRedeemed()
  if (plan === null) {
    turn.requireHeld()
    const balance = await ledger.addAll(account, [entryOf(deposit, prices)])
    return { purpose: 'credits', credits: creditsFor(deposit.amount, prices), balance }
  }
  const bought = { key: redemptionKey(deposit), plan, amount: deposit.amount }
  await redeemPlans(store, account, [bought], now, turn)
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
  return new ServiceError('already_redeemed', '--signature: this deposit is redeemed already')
}

function dearest({ plans }: Prices, amount: bigint): Plan {
  const [plan] = plans
    .filter(({ price }) => price <= amount)
    .sort((a, b) => Number(b.price - a.price))
  if (plan === undefined)
    throw new ServiceError('invalid_argument', '--purpose: the deposit is below the cheapest plan')
  return plan
}
