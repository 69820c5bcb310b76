import { decodeSnapshot, encodeSnapshot } from '../../fold/snapshot.ts'
import { stateVersion } from '../../fold/wallet-metrics.ts'
import type { WalletPlace, WalletState } from '../../fold/wallet-state.ts'
import { batches } from '../../runtime/batches.ts'
import type { Store } from '../../store/store.ts'
import { keyOf } from '../../store/tables/event-rows.ts'
import {
  insertSnapshots,
  readSnapshotRows,
  type SnapshotRow,
} from '../../store/tables/fold-snapshots.ts'
import { START_PLACE } from '../../store/tables/wallet-events.ts'
import { type MetricsPlaceRow, readMetricsPlaces } from '../../store/tables/wallet-metrics.ts'
import type { FenceOf } from './book-writer.ts'

/** Stored state of a wallet's books, before the fold continues. */
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
  /** The number of events that its metrics include, up to there. */
  readonly events: number
}

const WALLETS_PER_QUERY = 500
const SNAPSHOTS_PER_INSERT = 500

/**
 * Returns what is stored of the books of `wallets`, one entry for each.
 * `readable`: formats of snapshots, as they are stored.
 */
export async function readBooks(
  store: Store,
  wallets: readonly number[],
  readable: readonly number[],
): Promise<Map<number, StoredBooks>> {
  const books = new Map<number, StoredBooks>()
  for (const some of batches(wallets, WALLETS_PER_QUERY)) {
    const [snapshots, metrics] = await Promise.all([
      readSnapshotRows(store, some),
      readMetricsPlaces(store, some),
    ])
    for (const wallet of some)
      books.set(wallet, booksOf(snapshots.get(wallet), metrics.get(wallet), readable))
  }
  return books
}

function booksOf(
  saved: SnapshotRow | undefined,
  metrics: MetricsPlaceRow | undefined,
  readable: readonly number[],
): StoredBooks {
  const isReadable = saved !== undefined && readable.includes(saved.format)
  const snapshot = isReadable ? decodeSnapshot(saved.state) : null
  return {
    snapshot,
    needsRefold: saved !== undefined && snapshot === null,
    revision: Math.max(saved?.revision ?? 0, metrics?.revision ?? 0),
    highWater: metrics === undefined || metrics.events === '0' ? START_PLACE : keyOf(metrics),
    events: Number(metrics?.events ?? 0),
  }
}

/** Stores snapshots of wallets. All their derived rows must be stored before. */
export async function saveSnapshots(
  store: Store,
  states: readonly WalletState[],
  { format, fenceOf }: { readonly format: number; readonly fenceOf: FenceOf },
): Promise<void> {
  for (const some of batches(states, SNAPSHOTS_PER_INSERT))
    await insertSnapshots(
      store,
      some.map((state) => ({
        wallet: state.wallet,
        revision: state.revision,
        slot: Math.max(state.slot, 0),
        format,
        state: encodeSnapshot(state),
        version: stateVersion(state, fenceOf(state.wallet)),
      })),
    )
}
