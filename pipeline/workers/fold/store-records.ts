import type { BalanceRecord, WalletEvent } from '../../domain/event.ts'
import { compareEventKeys, type EventKey, eventKeyText } from '../../domain/event-key.ts'
import type { RefoldRequest, SolPrice, WalletRecord } from '../../domain/slot.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Row, Store } from '../../store/store.ts'
import { insertDecodedRows } from '../../store/tables/decoded-rows.ts'
import { insertLateSwaps } from '../../store/tables/late-swaps.ts'
import { insertSolPrices } from '../../store/tables/sol-prices.ts'
import { findStoredTransactions, insertTransactions } from '../../store/tables/transactions.ts'
import { EVENT_TABLES, findStoredKeys } from '../../store/tables/wallet-events.ts'
import type { FoldPlan } from './book-loader.ts'
import { type DecodedTable, decodedRow, lateRow, recordRow } from './event-rows.ts'
import type { LoggedRecord } from './flush.ts'
import { recordKey, transactionKey } from './record-key.ts'
import { type Versions, versionsToReplace } from './replaceable-versions.ts'
import type { WalletAdditions, WalletBooks } from './wallet-books.ts'

/** Records that `storeRecords` stores. */
export interface RecordsToStore {
  readonly records: readonly LoggedRecord[]
  readonly refolds: readonly RefoldRequest[]
  /** New prices of the pool. */
  readonly prices: readonly SolPrice[]
  /** Whether a record is after all stored records of its partition. */
  isNewer(record: WalletRecord): boolean
  /** Slots that were withdrawn. A record of one may replace a tombstone (rule K9). */
  readonly withdrawn: ReadonlySet<number>
}

/**
 * Stores the records that are not stored yet, and everything derived from them; carries out
 * refolds. The order of writes is: refold marks; late places and prices; events; then transactions
 * beside derived rows. A reader that finds a row therefore finds what the row refers to.
 */
export async function storeRecords(
  store: Store,
  books: WalletBooks,
  { records, refolds, prices, isNewer, withdrawn }: RecordsToStore,
): Promise<void> {
  const unique = await uniqueRecords(records)
  const wallets = new Set<number>()
  for (const { record } of records) if (isBooked(record)) wallets.add(record.wallet)
  const plan = await books.plan(wallets, refolds)
  const doubtful: LoggedRecord[] = []
  for (const logged of unique.values()) {
    const { record } = logged
    if (isNewer(record)) continue
    if (withdrawn.has(record.slot) || !isSurelyNew(record, books, plan)) doubtful.push(logged)
  }
  const versions = await versionsToReplace(store, doubtful, withdrawn)
  for (const key of await storedAmong(store, doubtful)) if (!versions.has(key)) unique.delete(key)

  const fresh = [...unique.values()]
  const additions = additionsByWallet(fresh)
  await books.markLate(additions, plan)
  const eventsStored = storeEvents(store, fresh, versions, prices)
  // Events are stored first, so a reader that finds a transaction finds its events.
  const transactionsStored = eventsStored.then(() =>
    insertTransactions(store, transactionRows(fresh, versions)),
  )
  transactionsStored.catch(() => {}) // awaited below; until then a rejection is not unhandled
  await books.fold(additions, plan, eventsStored)
  await transactionsStored
}

/**
 * Stores prices and late places before events: who reads an event finds its price and its place.
 */
async function storeEvents(
  store: Store,
  records: readonly LoggedRecord[],
  versions: Versions,
  prices: readonly SolPrice[],
): Promise<void> {
  await Promise.all([
    insertLateSwaps(store, lateRows(records)),
    insertSolPrices(store, 'pool', prices),
  ])
  await Promise.all(
    [...rowsByTable(records, versions)].map(([table, rows]) =>
      insertDecodedRows(store, table, rows),
    ),
  )
}

/** Records by key. The first record with a key wins, as for every consumer of the log. */
async function uniqueRecords(records: readonly LoggedRecord[]): Promise<Map<string, LoggedRecord>> {
  const unique = new Map<string, LoggedRecord>()
  const loopYield = new EventLoopYield()
  for (const logged of records) {
    if (loopYield.isDue) await loopYield.wait()
    const key = recordKey(logged)
    if (!unique.has(key)) unique.set(key, logged)
  }
  return unique
}

/**
 * Whether a record cannot be stored yet, as its wallet's state in memory has not reached it. An
 * `undecoded` record counts as new: its row is the same whenever it is stored.
 */
function isSurelyNew(record: WalletRecord, books: WalletBooks, plan: FoldPlan): boolean {
  if (record.kind === 'undecoded') return true
  const state = books.stateOf(record.wallet)
  if (state === undefined) return false
  if (record.kind === 'kept') return books.isBeyond(storedKeyOf(record), plan)
  if (record.kind !== 'balance') return books.isBeyond(record, plan)
  return (record.slot - state.balanceSlot || record.txIndex - state.balanceTxIndex) > 0
}

/** Whether the record belongs into the books of its wallet. */
function isBooked(record: WalletRecord): record is WalletEvent | BalanceRecord {
  return record.kind !== 'undecoded' && record.kind !== 'kept'
}

function storedKeyOf(record: WalletRecord): EventKey {
  const { wallet, slot, txIndex } = record
  return { wallet, slot, txIndex, eventIndex: 'eventIndex' in record ? record.eventIndex : 0 }
}

/** Returns the `recordKey` of those of `records` that are stored. */
async function storedAmong(store: Store, records: readonly LoggedRecord[]): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(EVENT_TABLES).map(async ([kind, table]) => {
      const ofKind = records.filter(({ record }) => record.kind === kind)
      if (ofKind.length === 0) return []
      const keys = ofKind.map(({ record }) => storedKeyOf(record))
      const stored = await findStoredKeys(store, table, keys)
      return ofKind.filter(({ record }) => stored.has(eventKeyText(storedKeyOf(record))))
    }),
  )
  const places = records.flatMap(({ record }) => (record.kind === 'kept' ? [record] : []))
  const transactions = await findStoredTransactions(store, places)
  return [...found.flat().map(recordKey), ...transactions.map(transactionKey)]
}

function additionsByWallet(records: readonly LoggedRecord[]): Map<number, WalletAdditions> {
  const additions = new Map<
    number,
    { events: WalletEvent[]; balances: BalanceRecord[]; fetched: Set<WalletEvent> }
  >()
  for (const { record, late } of records) {
    if (!isBooked(record)) continue
    let ofWallet = additions.get(record.wallet)
    if (ofWallet === undefined) {
      ofWallet = { events: [], balances: [], fetched: new Set() }
      additions.set(record.wallet, ofWallet)
    }
    if (record.kind === 'balance') ofWallet.balances.push(record)
    else {
      ofWallet.events.push(record)
      if (late === 'backfill') ofWallet.fetched.add(record)
    }
  }
  for (const { events } of additions.values()) events.sort(compareEventKeys)
  return additions
}

function rowsByTable(
  records: readonly LoggedRecord[],
  versions: Versions,
): ReadonlyMap<DecodedTable, Row[]> {
  const rows = new Map<DecodedTable, Row[]>()
  for (const logged of records) {
    const { record, late, decoderVersion } = logged
    if (record.kind === 'kept') continue
    const [table, made] = decodedRow(record, late, decoderVersion)
    const row = withVersion(made, logged, versions)
    const found = rows.get(table)
    if (found === undefined) rows.set(table, [row])
    else found.push(row)
  }
  return rows
}

function lateRows(records: readonly LoggedRecord[]): Row[] {
  const rows: Row[] = []
  for (const { record, mark } of records)
    if (record.kind === 'swap' && mark !== null) rows.push(lateRow(record, mark))
  return rows
}

function transactionRows(records: readonly LoggedRecord[], versions: Versions): Row[] {
  const rows: Row[] = []
  for (const logged of records) {
    const { record, decoderVersion } = logged
    if (record.kind === 'kept')
      rows.push(withVersion(recordRow(record, null, decoderVersion), logged, versions))
  }
  return rows
}

/** Rows of one insert have the same columns, so none has a version where none replaces a row. */
function withVersion(row: Row, logged: LoggedRecord, versions: Versions): Row {
  return versions.size === 0 ? row : { ...row, version: versions.get(recordKey(logged)) ?? 0n }
}
