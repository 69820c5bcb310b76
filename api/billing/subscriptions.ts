import { dateTime } from '../../pipeline/store/date-time.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { HeldLock } from '../account-locks.ts'
import type { Plan } from './terms.ts'

/** Subquery: the keys of payments that were redeemed for Pro. */
export const SUBSCRIPTION_KEYS = 'SELECT idempotency_key FROM subscriptions'

/** Subquery: key and wallet of each payment that was redeemed for Pro. */
export const REDEEMED_FOR_PRO = 'SELECT idempotency_key, wallet FROM subscriptions FINAL'

/** Pro status of a wallet (rule E6). */
export type ProStatus =
  | {
      readonly active: true
      readonly plan: string
      /** Unix seconds. Pro has ended in that second. */
      readonly expiresAt: number
      readonly secondsLeft: number
    }
  | {
      readonly active: false
      readonly plan: null
      readonly expiresAt: null
      readonly secondsLeft: 0
    }

/** The status of a wallet without Pro. */
export const NO_PRO: ProStatus = { active: false, plan: null, expiresAt: null, secondsLeft: 0 }

/** Reads the Pro status of a wallet at `nowMs`, in unix milliseconds. */
export async function readPro(store: Store, wallet: string, nowMs: number): Promise<ProStatus> {
  const now = Math.floor(nowMs / 1000)
  const newest = await readNewest(store, wallet)
  if (newest === null || newest.expiresAt <= now) return NO_PRO
  const { plan, expiresAt } = newest
  return { active: true, plan, expiresAt, secondsLeft: expiresAt - now }
}

/** Returns those of these wallets that have Pro at `nowMs`, in unix milliseconds. */
export async function readWithPro(
  store: Store,
  wallets: readonly string[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const rows = await store.query<{ readonly wallet: string }>(
    `SELECT DISTINCT wallet FROM subscriptions FINAL
     WHERE wallet IN {wallets:Array(String)} AND expires_at > {now:UInt64} LIMIT 1000000`,
    { wallets, now: Math.floor(nowMs / 1000) },
  )
  return new Set(rows.map(({ wallet }) => wallet))
}

/** A payment that bought Pro (rule L18). Times in unix seconds. */
export interface ProPayment {
  readonly signature: string
  /** USDT, in raw units. */
  readonly amount: bigint
  readonly plan: string
  readonly days: number
  readonly createdAt: number
  /** Until when Pro ran since then. */
  readonly expiresAt: number
}

/** Reads the payments that bought Pro for a wallet, newest first, at most 1000. */
export async function readProPayments(store: Store, wallet: string): Promise<ProPayment[]> {
  const rows = await store.query<
    Record<'idempotency_key' | 'plan' | 'amount' | 'expires_at', string> & {
      readonly days: number
      readonly created_at: number
    }
  >(
    `SELECT idempotency_key, plan, days, amount, toUnixTimestamp(redeemed_at) AS created_at, expires_at
     FROM subscriptions FINAL WHERE wallet = {wallet:String}
     ORDER BY expires_at DESC, idempotency_key LIMIT 1000`,
    { wallet },
  )
  return rows.map((row) => ({
    signature: row.idempotency_key.split(':')[1] ?? '',
    amount: BigInt(row.amount),
    plan: row.plan,
    days: row.days,
    createdAt: row.created_at,
    expiresAt: Number(row.expires_at),
  }))
}

/**
 * Extends a wallet's Pro by the plans that payments bought, one after the other, in their order.
 * `lock` is the wallet's lock.
 */
export async function redeemPlans(
  store: Store,
  wallet: string,
  bought: readonly { readonly key: string; readonly plan: Plan; readonly amount: bigint }[],
  nowMs: number,
  lock: HeldLock,
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
  lock.requireHeld()
  await store.insert('subscriptions', rows)
}

/** Version of a row: of two rows with one key, the earlier wins. */
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
