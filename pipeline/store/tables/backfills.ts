import type { Address } from '../../domain/address.ts'
import type { HistoryPosition, HistoryRange } from '../../domain/history.ts'
import { insertRows } from '../insert-rows.ts'
import type { Row, Store } from '../store.ts'

/**
 * Why a range of history is fetched: an operator's command, a gap in ingest, or a wallet that
 * joined.
 */
export type BackfillReason = 'operator' | 'gap' | 'added'

/** One backfill of one wallet: a row of table `backfills`. Each save adds a version of the row. */
export interface BackfillJob {
  readonly wallet: number
  readonly reason: BackfillReason
  readonly range: HistoryRange
  readonly state: 'open' | 'done'
  /** The newest slot of the chain when the job began; null before that. */
  readonly newestSlot: number | null
  /** Position from which all later transactions have been fetched; null before the first page. */
  readonly position: HistoryPosition | null
  readonly transactions: number
  readonly records: number
  /** Transactions that RPC listed and did not return. */
  readonly missing: number
  /** The newest missing transaction that live data does not have either. */
  readonly missingAt: { readonly slot: number; readonly time: number | null } | null
  /** Unix seconds. */
  readonly createdAt: number
}

/** Returns a job that has not begun. `nowMs`: milliseconds of the wall clock. */
export function newJob(
  wallet: number,
  reason: BackfillReason,
  range: HistoryRange,
  nowMs: number,
): BackfillJob {
  return {
    wallet,
    reason,
    range,
    state: 'open',
    newestSlot: null,
    position: null,
    transactions: 0,
    records: 0,
    missing: 0,
    missingAt: null,
    createdAt: Math.floor(nowMs / 1000),
  }
}

/** Tables `backfills` and `token_accounts`. */
export type BackfillJobs = ReturnType<typeof createBackfillJobs>

/**
 * Creates the tables' access over a store that waits while the server is down. Row versions come
 * from the clock; the newest counts.
 */
export function createBackfillJobs(store: Store) {
  let version = 0
  return {
    /** Stores the current state of jobs. */
    async save(jobs: readonly BackfillJob[]): Promise<void> {
      version = Math.max(version + 1, Date.now())
      await insertRows(
        store,
        'backfills',
        jobs.map((job) => jobRow(job, version)),
      )
    },
    /** Stores those jobs of which no row exists, neither open nor done. */
    async saveNew(jobs: readonly BackfillJob[]): Promise<void> {
      const slots = [...new Set(jobs.map(({ range }) => range.toSlot ?? 0))]
      const rows = await store.query<{ key: string }>(
        `SELECT DISTINCT concat(toString(wallet), ' ', toString(reason), ' ', toString(from_slot), ' ', toString(to_slot)) AS key
         FROM backfills WHERE to_slot IN {slots:Array(UInt64)} LIMIT 10000000`,
        { slots },
      )
      const known = new Set(rows.map(({ key }) => key))
      const keyOf = ({ wallet, reason, range }: BackfillJob) =>
        `${wallet} ${reason} ${range.fromSlot ?? 0} ${range.toSlot ?? 0}`
      await this.save(jobs.filter((job) => !known.has(keyOf(job))))
    },
    /**
     * Returns the jobs that are not done, of one wallet or all, by wallet and then newest range
     * first.
     */
    async open(reasons: readonly BackfillReason[], wallet?: number): Promise<BackfillJob[]> {
      const rows = await store.query<JobRow>(
        `SELECT * FROM backfills FINAL WHERE state = 'open' AND reason IN {reasons:Array(String)}
           AND ({wallet:UInt32} = 0 OR wallet = {wallet:UInt32})
         ORDER BY wallet, to_slot DESC, from_slot DESC LIMIT 10000000`,
        { reasons, wallet: wallet ?? 0 },
      )
      return rows.map(jobOf)
    },
    /** Returns the operator's jobs of exactly this range by wallet, also those that are done. */
    async ofRange({ fromSlot, toSlot }: HistoryRange): Promise<ReadonlyMap<number, BackfillJob>> {
      const rows = await store.query<JobRow>(
        `SELECT * FROM backfills FINAL WHERE reason = 'operator'
           AND from_slot = {from:UInt64} AND to_slot = {to:UInt64} LIMIT 10000000`,
        { from: fromSlot ?? 0, to: toSlot ?? 0 },
      )
      return new Map(rows.map((row) => [row.wallet, jobOf(row)]))
    },
    /** Stores token accounts of a wallet. Storing one twice is harmless. */
    async addAccounts(wallet: number, accounts: readonly Address[]): Promise<void> {
      const rows = accounts.map((account) => ({ wallet, account }))
      if (rows.length > 0) await store.insert('token_accounts', rows)
    },
    /** Returns the stored token accounts of a wallet. */
    async accounts(wallet: number): Promise<Address[]> {
      const rows = await store.query<{ account: Address }>(
        'SELECT DISTINCT account FROM token_accounts WHERE wallet = {wallet:UInt32} LIMIT 10000000',
        { wallet },
      )
      return rows.map(({ account }) => account)
    },
  }
}

/** Whether some backfill is not done. */
export async function hasOpenBackfills(store: Store): Promise<boolean> {
  const [row] = await store.query<{ open: string }>(
    "SELECT count() AS open FROM backfills FINAL WHERE state = 'open'",
  )
  return row?.open !== '0'
}

/**
 * Returns the number of wallets of which a stretch of history is still to be fetched, gaps of the
 * stream left out.
 */
export async function countHistoryBackfills(store: Store): Promise<number> {
  const [row] = await store.query<{ wallets: string }>(
    "SELECT uniqExact(wallet) AS wallets FROM backfills FINAL WHERE state = 'open' AND reason != 'gap'",
    {},
    ['wallets'],
  )
  return Number(row?.wallets)
}

/** A stretch of a wallet's history that a backfill has still to fetch. */
export interface OpenRange {
  readonly wallet: number
  readonly fromSlot: number
  readonly toSlot: number
}

/** Returns what open backfills of these wallets, for whatever reason, have still to fetch. */
export async function readOpenRanges(
  store: Store,
  wallets: readonly number[],
): Promise<OpenRange[]> {
  const rows = await store.query<{ wallet: number; from_slot: string; to: string }>(
    `SELECT wallet, from_slot, if(position_slot > 0, position_slot, if(to_slot > 0, to_slot, {max:UInt64})) AS to
     FROM backfills FINAL WHERE state = 'open' AND wallet IN {wallets:Array(UInt32)} LIMIT 10000000`,
    { max: Number.MAX_SAFE_INTEGER, wallets },
  )
  return rows.map((row) => ({
    wallet: row.wallet,
    fromSlot: Number(row.from_slot),
    toSlot: Number(row.to),
  }))
}

/** Returns the wallets with a backfill that changed since a time, in unix milliseconds. */
export async function readBackfilledSince(store: Store, sinceMs: number): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT DISTINCT wallet FROM backfills FINAL WHERE version >= {since:UInt64} LIMIT 10000000',
    { since: sinceMs },
  )
  return rows.map(({ wallet }) => wallet)
}

/**
 * Subquery: for each wallet the ranges that are to be fetched because of a gap or because it
 * joined, and when the newest gap was found.
 */
export const OPEN_GAPS = `
  SELECT wallet, maxIf(created_at, reason = 'gap') AS gap_end,
    arraySort(groupArray((from_slot, if(reason = 'added', newest_slot, to_slot)))) AS gaps
  FROM backfills FINAL WHERE state = 'open' AND reason IN ('gap', 'added') GROUP BY wallet`

type JobRow = Pick<BackfillJob, 'wallet' | 'reason' | 'state'> &
  Record<'from_slot' | 'to_slot' | 'newest_slot' | 'position_slot' | 'position_signature', string> &
  Record<'transactions' | 'records' | 'missing' | 'missing_slot', string> &
  Record<'missing_time' | 'created_at', number>

function jobRow(job: BackfillJob, version: number): Row {
  const { wallet, reason, range, state, newestSlot, position, missingAt } = job
  return {
    wallet,
    reason,
    from_slot: range.fromSlot ?? 0,
    to_slot: range.toSlot ?? 0,
    state,
    newest_slot: newestSlot ?? 0,
    position_slot: position?.slot ?? 0,
    position_signature: position?.signature ?? '',
    transactions: job.transactions,
    records: job.records,
    missing: job.missing,
    missing_slot: missingAt?.slot ?? 0,
    missing_time: missingAt?.time ?? 0,
    created_at: job.createdAt,
    version,
  }
}

function jobOf(row: JobRow): BackfillJob {
  const slot = Number(row.position_slot)
  const missingSlot = Number(row.missing_slot)
  return {
    wallet: row.wallet,
    reason: row.reason,
    range: { fromSlot: Number(row.from_slot) || null, toSlot: Number(row.to_slot) || null },
    state: row.state,
    newestSlot: Number(row.newest_slot) || null,
    position: slot === 0 ? null : { slot, signature: row.position_signature },
    transactions: Number(row.transactions),
    records: Number(row.records),
    missing: Number(row.missing),
    missingAt: missingSlot === 0 ? null : { slot: missingSlot, time: row.missing_time || null },
    createdAt: row.created_at,
  }
}
