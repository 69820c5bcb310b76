import { decodeSnapshot, encodeSnapshot, SNAPSHOT_FORMAT } from '../../fold/snapshot.ts'
import { stateVersion } from '../../fold/wallet-metrics.ts'
import {
  type StateChanges,
  takeChanges,
  type WalletPlace,
  type WalletState,
} from '../../fold/wallet-state.ts'
import type { Row, Store } from '../../store/store.ts'
import { disposalRow, firstBuyRow, lotRow, metricsRow, positionRow } from './book-rows.ts'
import { START } from './stored-events.ts'

/** What is known of a wallet's books without folding anything. */
export interface StoredBooks {
  /** Newest snapshot; null when there is none that can be read. */
  readonly snapshot: WalletState | null
  /** Whether what is derived may not be whole: the wallet has to be folded from its beginning, with the next revision. */
  readonly broken: boolean
  /** The highest revision used so far. */
  readonly revision: number
  /** The newest event that any derived row knows of. */
  readonly highWater: WalletPlace
}

/** Rows of one insert, so that no insert grows with the number of wallets. */
const ROWS_PER_INSERT = 20_000
const SNAPSHOTS_PER_INSERT = 500

/** What is stored of the books of `wallets`, one entry for each. */
export async function readBooks(
  store: Store,
  wallets: readonly number[],
  format: number,
): Promise<Map<number, StoredBooks>> {
  const books = new Map<number, StoredBooks>()
  for (let at = 0; at < wallets.length; at += SNAPSHOTS_PER_INSERT) {
    const some = wallets.slice(at, at + SNAPSHOTS_PER_INSERT)
    const params = { wallets: some }
    const [snapshots, metrics] = await Promise.all([
      store.query<{ wallet: number; revision: number; format: number; state: string }>(
        'SELECT wallet, revision, format, state FROM fold_snapshots FINAL WHERE wallet IN {wallets:Array(UInt32)} LIMIT 1000',
        params,
      ),
      store.query<{
        wallet: number
        events: string
        slot: string
        tx_index: number
        event_index: number
        version: string
      }>(
        'SELECT wallet, events, slot, tx_index, event_index, version FROM wallet_metrics FINAL WHERE wallet IN {wallets:Array(UInt32)} LIMIT 1000',
        params,
      ),
    ])
    const snapshotOf = new Map(snapshots.map((row) => [row.wallet, row]))
    const metricsOf = new Map(metrics.map((row) => [row.wallet, row]))
    for (const wallet of some) {
      const saved = snapshotOf.get(wallet)
      const row = metricsOf.get(wallet)
      const snapshot = saved?.format === format ? decodeSnapshot(saved.state) : null
      books.set(wallet, {
        snapshot,
        broken: saved !== undefined && snapshot === null,
        revision: Math.max(saved?.revision ?? 0, Math.floor(Number(row?.version ?? 0) / 2 ** 32)),
        highWater:
          row === undefined || row.events === '0'
            ? START
            : { slot: Number(row.slot), txIndex: row.tx_index, eventIndex: row.event_index },
      })
    }
  }
  return books
}

/** The highest revision used of each of at most 1000 wallets so far, and whether its books are whole; none for one that nothing is known of. */
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

/** Wallets whose books have to be folded from their beginning before anything else is done with them. */
export async function findBroken(store: Store, format: number): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT wallet FROM fold_snapshots FINAL WHERE format != {readable:UInt32} ORDER BY wallet LIMIT 10000000',
    { readable: format },
  )
  return rows.map((row) => row.wallet)
}

/** Those of at most 1000 wallets whose books are marked broken. */
export async function findMarked(store: Store, wallets: readonly number[]): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT wallet FROM fold_snapshots FINAL WHERE wallet IN {wallets:Array(UInt32)} AND format = 0 ORDER BY wallet LIMIT 1000',
    { wallets },
  )
  return rows.map((row) => row.wallet)
}

/**
 * Says that the books of these wallets are being made anew with the given revisions. Whoever finds this and no newer snapshot knows that they
 * may not be whole.
 */
export async function markBroken(
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

/** Takes out what earlier revisions of these wallets' books had and the given ones have not. */
export async function removeStale(
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
    // Kept by mint: what a wallet ever traded is in its positions.
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

/** Stores snapshots of wallets whose derived rows are all stored. */
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

/** Rows to be stored of the books that have changed. */
export class BookRows {
  readonly #metrics: Row[] = []
  #positions: Row[] = []
  #lots: Row[] = []
  #disposals: Row[] = []
  #firstBuys: Row[] = []
  readonly #store: Store
  readonly #computedAt: number
  readonly #isSalted: boolean

  /**
   * `computedAt`: unix seconds of the wall clock. `isSalted`: whether there is a `PRIVACY_SALT`
   * (rule I2a).
   */
  constructor(store: Store, computedAt: number, isSalted: boolean) {
    this.#store = store
    this.#computedAt = computedAt
    this.#isSalted = isSalted
  }

  /** Takes what has changed of a wallet that stands where it shall be seen. */
  add(state: WalletState): void {
    const version = stateVersion(state)
    const changes = takeChanges(state)
    this.#addDetails(state.wallet, version, changes)
    for (const token of changes.tokens)
      this.#positions.push(positionRow(state.wallet, version, token))
    if (changes.metrics)
      this.#metrics.push(metricsRow(state, version, this.#computedAt, this.#isSalted))
  }

  /**
   * Stores the lots, first buys and disposals of a wallet in the middle of a long fold, when they are many; positions and metrics keep showing what they
   * showed until it is done.
   */
  async addInBetween(state: WalletState): Promise<void> {
    const { changes } = state
    if (changes.lots.length + changes.disposals.length < ROWS_PER_INSERT) return
    this.#addDetails(state.wallet, stateVersion(state), takeChanges(state))
    for (const token of changes.tokens) token.dirty = true
    state.changes.tokens.push(...changes.tokens)
    state.changes.metrics = changes.metrics
    await this.#storeDetails()
  }

  /** Metrics go first: they are what tells, after a crash, how far derived rows may reach. */
  async store(): Promise<void> {
    await insertRows(this.#store, 'wallet_metrics', this.#metrics)
    await Promise.all([insertRows(this.#store, 'positions', this.#positions), this.#storeDetails()])
  }

  #addDetails(wallet: number, version: number, changes: StateChanges): void {
    for (const { mint, lot } of changes.lots) this.#lots.push(lotRow(wallet, version, mint, lot))
    for (const disposal of changes.disposals)
      this.#disposals.push(disposalRow(wallet, version, disposal))
    for (const buy of changes.firstBuys)
      this.#firstBuys.push(firstBuyRow(wallet, version, buy, this.#isSalted))
  }

  async #storeDetails(): Promise<void> {
    const [lots, disposals, firstBuys] = [this.#lots, this.#disposals, this.#firstBuys]
    this.#lots = []
    this.#disposals = []
    this.#firstBuys = []
    await Promise.all([
      insertRows(this.#store, 'lots', lots),
      insertRows(this.#store, 'disposals', disposals),
      insertRows(this.#store, 'first_buys', firstBuys),
    ])
  }
}

/** Stores any number of rows in inserts of bounded size. */
export async function insertRows(store: Store, table: string, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT)
    await store.insert(table, rows.slice(at, at + ROWS_PER_INSERT))
}
