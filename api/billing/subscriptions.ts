import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { HeldLock } from '../account-locks.ts'
import type { Plan } from './terms.ts'

/** Subquery: the keys of payments that were redeemed for Pro. */
export const SUBSCRIPTION_KEYS = 'SELECT idempotency_key FROM subscriptions'

/** Subquery: key and wallet of each payment that was redeemed for Pro. */
export const REDEEMED_FOR_PRO = 'SELECT idempotency_key, wallet FROM subscriptions FINAL'

/** Whether a wallet has Pro (rule E6). */
export type ProStatus =
  | {
      readonly active: true
      readonly plan: string
      /** Unix seconds; in that second it is over. */
      readonly expiresAt: number
      readonly secondsLeft: number
    }
  | {
      readonly active: false
      readonly plan: null
      readonly expiresAt: null
      readonly secondsLeft: 0
    }

/** Reads it as of `nowMs`. */
export async function readPro(store: Store, wallet: string, nowMs: number): Promise<ProStatus> {
  const now = Math.floor(nowMs / 1000)
  const newest = await readNewest(store, wallet)
  if (newest === null || newest.expiresAt <= now)
    return { active: false, plan: null, expiresAt: null, secondsLeft: 0 }
  const { plan, expiresAt } = newest
  return { active: true, plan, expiresAt, secondsLeft: expiresAt - now }
}

/**
 * Adds what payments bought to a wallet's Pro, in their order, each after the one before. `turn`:
 * the wallet's.
 */
export async function redeemPlans(
  store: Store,
  wallet: string,
  bought: readonly { readonly key: string; readonly plan: Plan; readonly amount: bigint }[],
  nowMs: number,
  turn: HeldLock,
): Promise<void> {
  if (bought.length === 0) return
  let expires = Math.max(
    (await readNewest(store, wallet))?.expiresAt ?? 0,
    Math.floor(nowMs / 1000),
  )
  const rows = bought.map(({ key, plan, amount }) => {
    expires += plan.days * 86_400
    return {
      wallet,
      idempotency_key: key,
      plan: plan.plan,
      days: plan.days,
      amount,
      redeemed_at: dateTime(nowMs),
      expires_at: expires,
      version: FIRST_WINS - BigInt(nowMs),
    }
  })
  turn.requireHeld()
  await store.insert('subscriptions', rows)
}

/** Of two rows of one key the earlier stays. */
const FIRST_WINS = 1n << 63n

async function readNewest(
  store: Store,
  wallet: string,
): Promise<{ readonly plan: string; readonly expiresAt: number } | null> {
  const [row] = await store.query<{ plan: string; expires_at: string }>(
    `SELECT plan, expires_at FROM subscriptions FINAL WHERE wallet = {wallet:String}
     ORDER BY expires_at DESC LIMIT 1`,
    { wallet },
  )
  return row === undefined ? null : { plan: row.plan, expiresAt: Number(row.expires_at) }
}
