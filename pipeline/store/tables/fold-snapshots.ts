import { batches } from '../../runtime/batches.ts'
import { inserter } from '../insert-rows.ts'
import type { QueryParams, Store } from '../store.ts'
import { METRICS_VERSIONS } from './wallet-metrics.ts'

/** A row of table `fold_snapshots`. The highest version of a wallet counts. */
export interface SnapshotRow {
  readonly wallet: number
  readonly revision: number
  /** Format of `state`; 0 for a refold mark. */
  readonly format: number
  readonly state: string
}

/** Stores snapshots: rows with their `version`, and the `slot` that each has reached. */
export const insertSnapshots = inserter('fold_snapshots')

/**
 * Stores refold marks in place of the snapshots of these wallets. `revisions`: wallet to the
 * revision that its refold will have; `versionOf`: the version of its mark. Any process that finds
 * a mark refolds the wallet, so a crash after this call leaves no stale books.
 */
export async function markForRefold(
  store: Store,
  revisions: ReadonlyMap<number, number>,
  versionOf: (wallet: number, revision: number) => bigint,
) {
  const rows = [...revisions].map(([wallet, revision]) => ({
    wallet,
    revision,
    slot: 0,
    format: 0,
    state: '',
    version: versionOf(wallet, revision),
  }))
  await insertSnapshots(store, rows)
}

/**
 * Puts a refold mark into the copy of this table in database `copy` for each wallet whose newest
 * row came after the copy: its late events may have been copied without their mark.
 */
export async function markNewerSnapshots(store: Store, copy: string): Promise<void> {
  const newest = 'SELECT wallet, max(version) AS newest'
  await store.command(
    `INSERT INTO ${copy}.fold_snapshots (wallet, revision, slot, format, state, version)
     SELECT wallet, last + 1, 0, 0, '', (intDiv(newest, 4294967296) + 1) * 4294967296
     FROM (${newest}, argMax(revision, version) AS last FROM fold_snapshots GROUP BY wallet)
     WHERE (wallet, newest) NOT IN (${newest} FROM ${copy}.fold_snapshots GROUP BY wallet)`,
  )
}

/** Returns the newest rows of at most 1000 wallets, by wallet. */
export async function readSnapshotRows(store: Store, wallets: readonly number[]) {
  const rows = await store.query<SnapshotRow>(
    `SELECT wallet, revision, format, state FROM fold_snapshots FINAL
     WHERE wallet IN {wallets:Array(UInt32)} LIMIT 1000`,
    { wallets },
  )
  return new Map(rows.map((row) => [row.wallet, row]))
}

/**
 * Returns, for these wallets, the revision and the version of the newest row, and whether a
 * readable snapshot has that revision. A wallet without books has no entry. `readable`: low byte of
 * the formats that can be read.
 */
export async function readRevisions(
  store: Store,
  wallets: readonly number[],
  readable: readonly number[],
) {
  const rows = await queryByWallets<{
    wallet: number
    newest_revision: number
    newest_version: string
    is_whole: number
  }>(
    store,
    wallets,
    `SELECT wallet, max(version) AS newest_version, argMax(revision, version) AS newest_revision,
       maxIf((version, revision, readable), is_snapshot) AS newest, newest.3 AND newest.2 = newest_revision AS is_whole
     FROM (
       SELECT wallet, version, revision, has({readable:Array(UInt32)}, bitAnd(format, 255)) AS readable, 1 AS is_snapshot FROM fold_snapshots WHERE wallet IN {wallets:Array(UInt32)}
       UNION ALL
       ${METRICS_VERSIONS}
     ) GROUP BY wallet ORDER BY wallet LIMIT 1000`,
    { readable },
  )
  return new Map(
    rows.map((row) => [
      row.wallet,
      {
        revision: row.newest_revision,
        version: BigInt(row.newest_version),
        isWhole: row.is_whole === 1,
      },
    ]),
  )
}

/** Returns the revision of each wallet that was refolded, without unfinished refolds. */
export async function readFinishedRevisions(store: Store): Promise<Map<number, number>> {
  const rows = await store.query<{ wallet: number; revision: number }>(
    'SELECT wallet, revision FROM fold_snapshots FINAL WHERE revision > 0 AND format > 0 LIMIT 10000000',
  )
  return new Map(rows.map(({ wallet, revision }) => [wallet, revision]))
}

/**
 * Returns all wallets with a refold mark, or a snapshot of none of the formats that can be read,
 * ascending.
 */
export async function findWalletsToRefold(
  store: Store,
  readable: readonly number[],
): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT wallet FROM fold_snapshots FINAL WHERE format NOT IN {readable:Array(UInt32)} ORDER BY wallet LIMIT 10000000',
    { readable },
  )
  return rows.map((row) => row.wallet)
}

/** Returns those of these wallets that have a refold mark, each with the revision of its mark. */
export async function findMarkedWallets(store: Store, wallets: readonly number[]) {
  const rows = await queryByWallets<{ wallet: number; revision: number }>(
    store,
    wallets,
    'SELECT wallet, revision FROM fold_snapshots FINAL WHERE wallet IN {wallets:Array(UInt32)} AND format = 0 ORDER BY wallet LIMIT 1000',
  )
  return new Map(rows.map(({ wallet, revision }) => [wallet, revision]))
}

/** Runs a query for at most 1000 of the wallets at a time, and returns all rows. */
async function queryByWallets<T>(
  store: Store,
  wallets: readonly number[],
  sql: string,
  params: QueryParams = {},
): Promise<T[]> {
  const rows: T[] = []
  for (const some of batches(wallets, 1000))
    rows.push(...(await store.query<T>(sql, { ...params, wallets: some })))
  return rows
}
