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
import type { WalletAdditions, WalletBooks } from './wallet-books.ts'

/** Records that `storeRecords` stores. */
export interface RecordsToStore {
  readonly records: readonly LoggedRecord[]
  readonly refolds: readonly RefoldRequest[]
  /** New prices of the pool. */
  readonly prices: readonly SolPrice[]
  /** Whether a record is after all stored records of its partition. */
  isNewer(record: WalletRecord): boolean
}

/**
 * Stores the records that are not stored yet, and everything derived from them; carries out
 * refolds. The order of writes is: refold marks; late places and prices; events; then transactions
 * beside derived rows. A reader that finds a row therefore finds what the row refers to.
 */
export async function storeRecords(
  store: Store,
  books: WalletBooks,
  { records, refolds, prices, isNewer }: RecordsToStore,
): Promise<void> {
  const unique = await uniqueRecords(records)
  const wallets = new Set<number>()
  for (const { record } of records) if (isBooked(record)) wallets.add(record.wallet)
  const plan = await books.plan(wallets, refolds)
  const doubtful: LoggedRecord[] = []
  for (const logged of unique.values())
    if (!isNewer(logged.record) && !isSurelyNew(logged.record, books, plan)) doubtful.push(logged)
  for (const key of await storedAmong(store, doubtful)) unique.delete(key)

  const fresh = [...unique.values()]
  const additions = additionsByWallet(fresh)
  await books.markLate(additions, plan)
  const eventsStored = storeEvents(store, fresh, prices)
  // Events are stored first, so a reader that finds a transaction finds its events.
  const transactionsStored = eventsStored.then(() =>
    insertTransactions(store, transactionRows(fresh)),
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
  prices: readonly SolPrice[],
): Promise<void> {
  await Promise.all([
    insertLateSwaps(store, lateRows(records)),
    insertSolPrices(store, 'pool', prices),
  ])
  await Promise.all(
    [...rowsByTable(records)].map(([table, rows]) => insertDecodedRows(store, table, rows)),
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
 * `undecoded` record and a token link count as new: their row is the same whenever it is stored.
 */
function isSurelyNew(record: WalletRecord, books: WalletBooks, plan: FoldPlan): boolean {
  if (record.kind === 'undecoded' || record.kind === 'token_link') return true
  const state = books.stateOf(record.wallet)
  if (state === undefined) return false
  if (record.kind === 'kept') return books.isBeyond(storedKeyOf(record), plan)
  if (record.kind !== 'balance') return books.isBeyond(record, plan)
  return (record.slot - state.balanceSlot || record.txIndex - state.balanceTxIndex) > 0
}

/** Whether the record belongs into the books of its wallet. */
function isBooked(record: WalletRecord): record is WalletEvent | BalanceRecord {
  return 'eventIndex' in record || record.kind === 'balance'
}

function storedKeyOf(record: WalletRecord): EventKey {
  const { wallet, slot, txIndex } = record
  return { wallet, slot, txIndex, eventIndex: 'eventIndex' in record ? record.eventIndex : 0 }
}

function recordKey({ record }: LoggedRecord): string {
  const { kind, wallet, slot, txIndex } = record
  if (kind === 'kept') return transactionKey(record)
  if (kind === 'token_link') return `${kind}:${record.account}/${wallet}/${slot}/${txIndex}`
  if (kind === 'balance' || kind === 'undecoded') return `${kind}:${wallet}/${slot}/${txIndex}`
  return `event:${wallet}/${slot}/${txIndex}/${record.eventIndex}`
}

/** Without the wallet: two wallets may have brought the same transaction. */
function transactionKey(place: { readonly slot: number; readonly txIndex: number }): string {
  return `kept:${place.slot}/${place.txIndex}`
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

function rowsByTable(records: readonly LoggedRecord[]): ReadonlyMap<DecodedTable, Row[]> {
  const rows = new Map<DecodedTable, Row[]>()
  for (const { record, late, decoderVersion } of records) {
    if (record.kind === 'kept') continue
    const [table, row] = decodedRow(record, late, decoderVersion)
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

function transactionRows(records: readonly LoggedRecord[]): Row[] {
  const rows: Row[] = []
  for (const { record, decoderVersion } of records)
    if (record.kind === 'kept') rows.push(recordRow(record, null, decoderVersion))
  return rows
}
