import type { Address } from '../../pipeline/domain/address.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { inTime } from '../../pipeline/store/timely-store.ts'
import type { AccountLocks } from '../account-locks.ts'
import type { Credits } from '../credits/credits.ts'
import type { Ledger } from '../credits/ledger.ts'
import { readTopUps, type TopUp } from '../credits/ledger-entries.ts'
import { entryOf, readUnredeemed, redemptionKey } from './deposit-rows.ts'
import {
  type ProPayment,
  type ProStatus,
  readPro,
  readProPayments,
  redeemPlans,
} from './subscriptions.ts'
import type { BillingTerms } from './terms.ts'

/** Result of a check of credits. */
export interface CreditCheck {
  /** Credits that this check added. */
  readonly credited: number
  /** The balance after the check. */
  readonly balance: number
}

export interface BillingDeps {
  readonly store: Store
  readonly ledger: Ledger
  readonly credits: Pick<Credits, 'left'>
  readonly terms: BillingTerms
  /**
   * Resolves when every deposit that is finalized now is in the store. The number changes whenever
   * there may be more deposits than before. Rejects with `unavailable` when this is unknown.
   */
  readonly catchUp: () => Promise<number>
  /** Creates the wallet's account if it has none (rule E3). */
  readonly ensureAccount: (wallet: Address) => Promise<void>
  readonly locks: AccountLocks
  readonly now?: () => number
  /** How long a check waits for RPC, in milliseconds. */
  readonly patienceMs?: number
}

/**
 * Redeems deposits (rules E5, E6). A check first reads the finalized history of the chain up to
 * now. Then it redeems what the wallet has not redeemed yet, once for each signature, wallet and
 * purpose.
 *
 * Crashes are harmless: `deposits` has the facts; the ledger and `subscriptions` have the
 * redemptions, under an idempotency key derived from the fact. Rejects with `unavailable` when RPC,
 * store or meter do not answer. Nothing is lost then, and the next check continues.
 */
export class Billing {
  readonly #deps: BillingDeps
  readonly #now: () => number
  /**
   * For each purpose, wallets that had nothing left to redeem, with the revision of the deposits
   * for which that was found.
   */
  readonly #settled = { pro: new Map<string, number>(), credits: new Map<string, number>() }

  constructor(deps: BillingDeps) {
    this.#deps = deps
    this.#now = deps.now ?? Date.now
  }

  get terms(): BillingTerms {
    return this.#deps.terms
  }

  /** Credits the wallet's deposits. Of concurrent checks, one adds them. */
  async checkCredits(wallet: Address): Promise<CreditCheck> {
    const { store, ledger, credits, locks, terms } = this.#deps
    const revision = await this.#prepare(wallet)
    const isSettled = () => this.#settled.credits.get(wallet) === revision
    if (isSettled()) return { credited: 0, balance: await credits.left(wallet) }
    return locks.withLock(wallet, async (lock) => {
      let credited = 0
      // The previous holder of the lock may have redeemed everything.
      if (isSettled()) return { credited, balance: await credits.left(wallet) }
      for (;;) {
        const deposits = await readUnredeemed(store, wallet, 'credits')
        if (deposits.length === 0) {
          // An earlier check may have stored entries without telling the meter.
          if (credited === 0) await ledger.load(wallet)
          settle(this.#settled.credits, wallet, revision)
          return { credited, balance: await credits.left(wallet) }
        }
        const entries = deposits.map((deposit) => entryOf(deposit, terms))
        lock.requireHeld()
        await ledger.addAll(wallet, entries)
        credited += entries.reduce((sum, entry) => sum + entry.credits, 0)
      }
    })
  }

  /** Redeems the wallet's payments that equal a plan's price, oldest first. */
  async checkPro(wallet: Address): Promise<ProStatus> {
    const { store, locks, terms } = this.#deps
    const revision = await this.#prepare(wallet)
    const isSettled = () => this.#settled.pro.get(wallet) === revision
    if (isSettled()) return this.pro(wallet)
    return locks.withLock(wallet, async (lock) => {
      if (isSettled()) return this.pro(wallet)
      const prices = terms.plans.map(({ price }) => price)
      const deposits = await readUnredeemed(store, wallet, 'pro', prices)
      const bought = deposits.flatMap((deposit) => {
        const plan = terms.plans.find(({ price }) => price === deposit.amount)
        return plan === undefined ? [] : [{ key: redemptionKey(deposit), plan, ...deposit }]
      })
      await redeemPlans(store, wallet, bought, this.#now(), lock)
      if (bought.length === 0) settle(this.#settled.pro, wallet, revision)
      return this.pro(wallet)
    })
  }

  /** Whether the wallet has Pro now, and until when. Pro ends exactly at `expiresAt`. */
  pro(wallet: string): Promise<ProStatus> {
    return inTime(readPro(this.#deps.store, wallet, this.#now()), READ_MS)
  }

  /** Returns the top-ups of the wallet's account, newest first. */
  async topUps(wallet: Address): Promise<TopUp[]> {
    await this.#deps.ensureAccount(wallet)
    return readTopUps(this.#deps.store, wallet)
  }

  /** Returns the payments that bought Pro for the wallet, newest first. */
  async proPayments(wallet: Address): Promise<ProPayment[]> {
    await this.#deps.ensureAccount(wallet)
    return readProPayments(this.#deps.store, wallet)
  }

  async #prepare(wallet: Address): Promise<number> {
    const { catchUp, ensureAccount, patienceMs = 10_000 } = this.#deps
    const revision = await inTime(catchUp(), patienceMs, 'the RPC server')
    await ensureAccount(wallet)
    return revision
  }
}

function settle(settled: Map<string, number>, wallet: string, revision: number): void {
  if (settled.size >= MOST_SETTLED) settled.clear()
  settled.set(wallet, revision)
}

const MOST_SETTLED = 10_000
/** How long a request waits for the store, in milliseconds. */
const READ_MS = 10_000
