import type { Store } from '../../pipeline/store/store.ts'

/** A deposit that was credited. */
export interface TopUp {
  readonly signature: string
  /** USDT in raw units. */
  readonly amount: bigint
  readonly credits: number
  /** When it was credited, in unix seconds. */
  readonly createdAt: number
}

/** Reads the deposits credited to an account, newest first, at most 1000 (rule E6). */
export async function readTopUps(store: Store, account: string): Promise<TopUp[]> {
  const rows = await store.query<{
    idempotency_key: string
    deposit_amount: string
    credits: string
    created_at: number
  }>(
    `SELECT idempotency_key, deposit_amount, credits, toUnixTimestamp(created_at) AS created_at FROM ledger_entries FINAL
     WHERE wallet = {account:String} AND startsWith(idempotency_key, 'deposit:') AND cause = 'deposit'
     ORDER BY ledger_entries.created_at DESC, idempotency_key LIMIT 1000`,
    { account },
  )
  return rows.map((row) => ({
    signature: row.idempotency_key.split(':')[1] ?? '',
    amount: BigInt(row.deposit_amount),
    credits: Number(row.credits),
    createdAt: row.created_at,
  }))
}
