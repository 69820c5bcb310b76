import { decodeSnapshot, encodeSnapshot, SNAPSHOT_FORMAT } from '../../fold/snapshot.ts'
import { stateVersion } from '../../fold/wallet-metrics.ts'
import type { WalletPlace, WalletState } from '../../fold/wallet-state.ts'
import type { Store } from '../../store/store.ts'
import { insertRows } from '../insert-rows.ts'
import { START_PLACE } from './stored-events.ts'

/** What storage says of a wallet's books, before anything is folded. */
export interface StoredBooks {
  /** Newest snapshot; null when there is none or this process cannot read it. */
  readonly snapshot: WalletState | null
  /**
   * Whether derived rows may be incomplete: the wallet has a refold mark, or an unreadable
   * snapshot. It has to be folded from its first event, with the next revision.
   */
  readonly needsRefold: boolean
  /** The highest revision used so far. */
  readonly revision: number
  /** The newest event that any derived row includes. */
  readonly highWater: WalletPlace
}

const WALLETS_PER_QUERY = 500
const SNAPSHOTS_PER_INSERT = 500

/** Returns what is stored of the books of `wallets`, one entry for each. `format`: of snapshots. */
export async function readBooks(
  store: Store,
  wallets: readonly number[],
  format: number,
): Promise<Map<number, StoredBooks>> {
  const books = new Map<number, StoredBooks>()
  for (let at = 0; at < wallets.length; at += WALLETS_PER_QUERY) {
    const some = wallets.slice(at, at + WALLETS_PER_QUERY)
    const [snapshots, metrics] = await Promise.all([
      readSnapshotRows(store, some),
      readMetricsRows(store, some),
    ])
    for (const wallet of some)
      books.set(wallet, booksOf(snapshots.get(wallet), metrics.get(wallet), format))
  }
  return books
}

interface SnapshotRow {
  readonly wallet: number
  readonly revision: number
  readonly format: number
  readonly state: string
}

interface MetricsPlaceRow {
  readonly wallet: number
  readonly events: string
  readonly slot: string
  readonly tx_index: number
  readonly event_index: number
  readonly version: string
}

async function readSnapshotRows(
  store: Store,
  wallets: readonly number[],
): Promise<Map<number, SnapshotRow>> {
  const rows = await store.query<SnapshotRow>(
    `SELECT wallet, revision, format, state FROM fold_snapshots FINAL
     WHERE wallet IN {wallets:Array(UInt32)} LIMIT 1000`,
    { wallets },
  )
  return new Map(rows.map((row) => [row.wallet, row]))
}

async function readMetricsRows(
  store: Store,
  wallets: readonly number[],
): Promise<Map<number, MetricsPlaceRow>> {
  const rows = await store.query<MetricsPlaceRow>(
    `SELECT wallet, events, slot, tx_index, event_index, version FROM wallet_metrics FINAL
     WHERE wallet IN {wallets:Array(UInt32)} LIMIT 1000`,
    { wallets },
  )
  return new Map(rows.map((row) => [row.wallet, row]))
}

function booksOf(
  saved: SnapshotRow | undefined,
  metrics: MetricsPlaceRow | undefined,
  format: number,
): StoredBooks {
  const snapshot = saved?.format === format ? decodeSnapshot(saved.state) : null
  return {
    snapshot,
    needsRefold: saved !== undefined && snapshot === null,
    revision: Math.max(saved?.revision ?? 0, Math.floor(Number(metrics?.version ?? 0) / 2 ** 32)),
    highWater:
      metrics === undefined || metrics.events === '0'
        ? START_PLACE
        : {
            slot: Number(metrics.slot),
            txIndex: metrics.tx_index,
            eventIndex: metrics.event_index,
          },
  }
}

/**
 * Returns, for at most 1000 wallets, the highest revision used and whether a readable snapshot has
 * it. A wallet without books has no entry.
 */
export async function readRevisions(
  store: Store,
  wallets: readonly number[],
): Promise<Map<number, { readonly revision: number; readonly isWhole: boolean }>> {
  const rows = await store.query<{ wallet: number; revision: string; is_whole: number }>(
    `SELECT wallet, intDiv(max(version), 4294967296) AS revision, maxIf((version, readable), is_snapshot) AS newest,
       newest.2 AND intDiv(newest.1, 4294967296) = revision AS is_whole
     FROM (
       SELECT wallet, version, bitAnd(format, 255) = {readable:UInt32} AS readable, 1 AS is_snapshot FROM fold_snapshots WHERE wallet IN {wallets:Array(UInt32)}
       UNION ALL
       SELECT wallet, version, 0, 0 FROM wallet_metrics WHERE wallet IN {wallets:Array(UInt32)}
     ) GROUP BY wallet ORDER BY wallet LIMIT 1000`,
    { wallets, readable: SNAPSHOT_FORMAT },
  )
  return new Map(
    rows.map((row) => [
      row.wallet,
      { revision: Number(row.revision), isWhole: row.is_whole === 1 },
    ]),
  )
}

/** Returns all wallets with a refold mark or a snapshot of another format, ascending. */
export async function findWalletsToRefold(store: Store, format: number): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT wallet FROM fold_snapshots FINAL WHERE format != {readable:UInt32} ORDER BY wallet LIMIT 10000000',
    { readable: format },
  )
  return rows.map((row) => row.wallet)
}

/** Returns those of at most 1000 wallets that have a refold mark, ascending. */
export async function findMarkedWallets(
  store: Store,
  wallets: readonly number[],
): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT wallet FROM fold_snapshots FINAL WHERE wallet IN {wallets:Array(UInt32)} AND format = 0 ORDER BY wallet LIMIT 1000',
    { wallets },
  )
  return rows.map((row) => row.wallet)
}

/**
 * Stores refold marks (`format` 0) in place of the snapshots of these wallets. `revisions`: wallet
 * to the revision that its refold will have. Any process that finds a mark refolds the wallet, so a
 * crash after this call leaves no stale books.
 */
export async function markForRefold(
  store: Store,
  revisions: ReadonlyMap<number, number>,
): Promise<void> {
  const rows = [...revisions].map(([wallet, revision]) => ({
    wallet,
    revision,
    slot: 0,
    format: 0,
    state: '',
    version: revision * 2 ** 32,
  }))
  await insertRows(store, 'fold_snapshots', rows)
}

/**
 * Writes tombstones over derived rows that only earlier revisions have. `revisions`: wallet to its
 * current revision, whose rows are stored.
 */
export async function deleteStaleRows(
  store: Store,
  revisions: ReadonlyMap<number, number>,
): Promise<void> {
  if (revisions.size === 0) return
  const isOne = 'wallet IN {wallets:Array(UInt32)}'
  const tables = [
    ['lots', 'wallet, mint, slot, tx_index, event_index', isOne],
    [
      'disposals',
      'wallet, mint, slot, tx_index, event_index, lot_slot, lot_tx_index, lot_event_index',
      isOne,
    ],
    ['positions', 'wallet, mint', isOne],
    // This table is ordered by mint. The positions of a wallet name every mint that it ever traded.
    [
      'first_buys',
      'mint, wallet',
      `(mint, wallet) IN (SELECT mint, wallet FROM positions WHERE ${isOne})`,
    ],
  ]
  const params = {
    wallets: [...revisions.keys()],
    versions: [...revisions.values()].map((revision) => revision * 2 ** 32),
  }
  const first = 'transform(wallet, {wallets:Array(UInt32)}, {versions:Array(UInt64)}, 0)'
  await Promise.all(
    tables.map(([table, key, where]) =>
      store.command(
        `INSERT INTO ${table} (${key}, version, is_deleted)
         SELECT ${key}, ${first}, 1 FROM ${table} FINAL WHERE ${where} AND version < ${first}`,
        params,
      ),
    ),
  )
}

/** Stores snapshots of wallets. All their derived rows must be stored before. */
export async function saveSnapshots(
  store: Store,
  states: readonly WalletState[],
  format: number,
): Promise<void> {
  for (let at = 0; at < states.length; at += SNAPSHOTS_PER_INSERT)
    await store.insert(
      'fold_snapshots',
      states.slice(at, at + SNAPSHOTS_PER_INSERT).map((state) => ({
        wallet: state.wallet,
        revision: state.revision,
        slot: Math.max(state.slot, 0),
        format,
        state: encodeSnapshot(state),
        version: stateVersion(state),
      })),
    )
}
