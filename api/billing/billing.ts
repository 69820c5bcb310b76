import type { Address } from '../../pipeline/domain/address.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { inTime } from '../../pipeline/store/timely-store.ts'
import type { AccountLocks } from '../account-locks.ts'
import type { Credits } from '../credits/credits.ts'
import type { Ledger } from '../credits/ledger.ts'
import { readTopUps, type TopUp } from '../credits/ledger-entries.ts'
import { entryOf, readUnredeemed, redemptionKey } from './deposit-rows.ts'
import { type ProStatus, readPro, redeemPlans } from './subscriptions.ts'
import type { BillingTerms } from './terms.ts'

/** What a check of credits found. */
export interface CreditCheck {
  /** Credits that this check added. */
  readonly credited: number
  /** What is left now. */
  readonly balance: number
}

export interface BillingDeps {
  readonly store: Store
  readonly ledger: Ledger
  readonly credits: Pick<Credits, 'left'>
  readonly terms: BillingTerms
  /**
   * Resolves when every deposit that is finalized by now is in the store, with a number that is
   * another whenever there may be more of them than before; rejects with `unavailable` when that
   * cannot be told.
   */
  readonly catchUp: () => Promise<number>
  /** Makes the wallet's account when there is none (rule E3). */
  readonly ensureAccount: (wallet: Address) => Promise<void>
  readonly turns: AccountLocks
  readonly now?: () => number
  /** How long a check waits for the chain. */
  readonly patienceMs?: number
}

/**
 * Redeems deposits (rules E5, E6). A check first has the chain's finalized history read up to now,
 * then redeems what the wallet has not redeemed yet, once for each signature, wallet and purpose,
 * whatever happens in between: facts are in `deposits`, redemptions in the ledger and
 * `subscriptions`, under the key that follows from the fact. Rejects with `unavailable` when RPC,
 * store or meter do not answer; then nothing is lost, and the next check goes on.
 */
export class Billing {
  readonly #deps: BillingDeps
  readonly #now: () => number
  /**
   * Wallets of which nothing was left to redeem, by purpose, and of which deposits that was said.
   */
  readonly #settled = { pro: new Map<string, number>(), credits: new Map<string, number>() }

  constructor(deps: BillingDeps) {
    this.#deps = deps
    this.#now = deps.now ?? Date.now
  }

  get terms(): BillingTerms {
    return this.#deps.terms
  }

  /** Credits the wallet's deposits; of several checks at once one adds them. */
  async checkCredits(wallet: Address): Promise<CreditCheck> {
    const { store, ledger, credits, turns, terms } = this.#deps
    const revision = await this.#prepare(wallet)
    const isSettled = () => this.#settled.credits.get(wallet) === revision
    if (isSettled()) return { credited: 0, balance: await credits.left(wallet) }
    return turns.withLock(wallet, async (turn) => {
      let credited = 0
      // The one before may have seen to it.
      if (isSettled()) return { credited, balance: await credits.left(wallet) }
      for (;;) {
        const deposits = await readUnredeemed(store, wallet, 'credits')
        if (deposits.length === 0) {
          // An earlier check may have written what the meter was never told.
          if (credited === 0) await ledger.load(wallet)
          settle(this.#settled.credits, wallet, revision)
          return { credited, balance: await credits.left(wallet) }
        }
        const entries = deposits.map((deposit) => entryOf(deposit, terms))
        turn.requireHeld()
        await ledger.addAll(wallet, entries)
        credited += entries.reduce((sum, entry) => sum + entry.credits, 0)
      }
    })
  }

  /** Redeems the wallet's payments that equal a plan's price, oldest first. */
  async checkPro(wallet: Address): Promise<ProStatus> {
    const { store, turns, terms } = this.#deps
    const revision = await this.#prepare(wallet)
    const isSettled = () => this.#settled.pro.get(wallet) === revision
    if (isSettled()) return this.pro(wallet)
    return turns.withLock(wallet, async (turn) => {
      if (isSettled()) return this.pro(wallet)
      const prices = terms.plans.map(({ price }) => price)
      const deposits = await readUnredeemed(store, wallet, 'pro', prices)
      const bought = deposits.flatMap((deposit) => {
        const plan = terms.plans.find(({ price }) => price === deposit.amount)
        return plan === undefined ? [] : [{ key: redemptionKey(deposit), plan, ...deposit }]
      })
      await redeemPlans(store, wallet, bought, this.#now(), turn)
      if (bought.length === 0) settle(this.#settled.pro, wallet, revision)
      return this.pro(wallet)
    })
  }

  /** Whether the wallet has Pro now, and until when; expired at the very second. */
  pro(wallet: string): Promise<ProStatus> {
    return inTime(readPro(this.#deps.store, wallet, this.#now()), READ_MS)
  }

  /** What the wallet's account topped up, newest first. */
  async topUps(wallet: Address): Promise<TopUp[]> {
    await this.#deps.ensureAccount(wallet)
    return readTopUps(this.#deps.store, wallet)
  }

  async #prepare(wallet: Address): Promise<number> {
    const { catchUp, ensureAccount, patienceMs = 10_000 } = this.#deps
    const revision = await inTime(catchUp(), patienceMs)
    await ensureAccount(wallet)
    return revision
  }
}

function settle(settled: Map<string, number>, wallet: string, revision: number): void {
  if (settled.size >= MOST_SETTLED) settled.clear()
  settled.set(wallet, revision)
}

const MOST_SETTLED = 10_000
/** How long a request waits for the store. */
const READ_MS = 10_000
