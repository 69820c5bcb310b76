import { batches } from '../../runtime/batches.ts'
import { insertRows } from '../insert-rows.ts'
import type { Store } from '../store.ts'

/** Transaction index of a snapshot: it follows every transaction of its slot. */
export const SNAPSHOT_TX_INDEX = 4_294_967_295

/** What an account held after all transactions of a slot. */
export interface BalanceSnapshot {
  readonly wallet: number
  /** Address of the token account; '' for SOL. */
  readonly account: string
  /** '' for SOL. */
  readonly mint: string
  readonly slot: number
  readonly amount: bigint
}

/** Returns a subquery: snapshots as links that change nothing. */
export function SNAPSHOT_ENTRIES(where: string): string {
  return `SELECT wallet, account, slot, toUInt32(${SNAPSHOT_TX_INDEX}) AS tx_index, toUInt32(0) AS block_time, mint, toNullable(amount) AS before, amount AS after FROM balance_snapshots FINAL WHERE ${where}`
}

/** Subquery: the slot of each wallet's first snapshot. */
export const SNAPSHOT_SLOTS =
  "SELECT wallet, min(slot) AS slot FROM balance_snapshots WHERE account = '' GROUP BY wallet"

/**
 * Stores the first snapshots of wallets. Their SOL comes last: with it, token accounts that are not
 * among the snapshots held nothing.
 */
export async function insertFirstSnapshots(
  store: Store,
  tokens: readonly BalanceSnapshot[],
  sol: readonly BalanceSnapshot[],
): Promise<void> {
  await insertSnapshots(store, tokens)
  await insertSnapshots(store, sol)
}

/** Returns the slot of the first snapshot of each wallet that has one, of `wallets` or of all. */
export async function readSnapshotSlots(
  store: Store,
  wallets: readonly number[] | null,
): Promise<Map<number, number>> {
  const rows = await store.query<{ wallet: number; slot: string }>(
    wallets === null
      ? `${SNAPSHOT_SLOTS} LIMIT 10000000`
      : `SELECT wallet, slot FROM (${SNAPSHOT_SLOTS})
         WHERE wallet IN {wallets:Array(UInt32)} LIMIT 10000000`,
    wallets === null ? {} : { wallets },
  )
  return new Map(rows.map(({ wallet, slot }) => [wallet, Number(slot)]))
}

/** Stores what accounts held on chain where their links say something else (rule K8). */
export async function insertSnapshots(
  store: Store,
  snapshots: readonly BalanceSnapshot[],
): Promise<void> {
  const rows = snapshots.map((row) => ({ ...row }))
  await insertRows(store, 'balance_snapshots', rows)
}

/** Returns the wallets with a snapshot that was stored since a time, in unix milliseconds. */
export async function readSnapshotsSince(store: Store, sinceMs: number): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    `SELECT DISTINCT wallet FROM balance_snapshots
     WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}) LIMIT 10000000`,
    { since: sinceMs },
  )
  return rows.map(({ wallet }) => wallet)
}

/** A statement of more than 256 KiB is refused (`max_query_size`). */
const ACCOUNTS_PER_QUERY = 2000

/** Returns the first snapshots of some accounts of wallets, however many. */
export async function readSnapshots(
  store: Store,
  wanted: readonly { readonly wallet: number; readonly account: string }[],
): Promise<BalanceSnapshot[]> {
  const found: BalanceSnapshot[] = []
  for (const some of batches(wanted, ACCOUNTS_PER_QUERY)) {
    const keys = some.map(({ wallet, account }) => `(${wallet}, '${account}')`)
    const rows = await store.query<
      Pick<BalanceSnapshot, 'wallet' | 'account' | 'mint'> & { slot: string; amount: string }
    >(
      `SELECT wallet, account, mint, slot, amount FROM balance_snapshots FINAL
       WHERE (wallet, account) IN (${keys.join(', ')})
       ORDER BY wallet, account, slot LIMIT 1 BY wallet, account LIMIT 10000000`,
    )
    for (const row of rows)
      found.push({ ...row, slot: Number(row.slot), amount: BigInt(row.amount) })
  }
  return found
}
