import type { BalanceRecord, WalletEvent } from '../../domain/event.ts'
import { compareEventKeys } from '../../domain/event-key.ts'
import type { RefoldRequest, SolPrice, WalletRecord } from '../../domain/slot.ts'
import type { WalletState } from '../../fold/wallet-state.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Row, Store } from '../../store/store.ts'
import { insertDecodedRows } from '../../store/tables/decoded-rows.ts'
import { insertLateSwaps } from '../../store/tables/late-swaps.ts'
import { noteRedecoded } from '../../store/tables/redecoded-wallets.ts'
import { insertSolPrices } from '../../store/tables/sol-prices.ts'
import { insertTransactions } from '../../store/tables/transactions.ts'
import type { FoldPlan } from './book-loader.ts'
import { type DecodedTable, decodedRow, lateRow, recordRow } from './event-rows.ts'
import type { LoggedRecord } from './flush.ts'
import type { NewestPlaces } from './newest-places.ts'
import { recordKey } from './record-key.ts'
import { insertChanges } from './redecoded-rows.ts'
import { type Versions, versionsToReplace } from './replaceable-versions.ts'
import { compareWithStored } from './stored-records.ts'
import type { WalletAdditions, WalletBooks } from './wallet-books.ts'

/** Records that `storeRecords` stores. */
export interface RecordsToStore {
  readonly records: readonly LoggedRecord[]
  readonly refolds: readonly RefoldRequest[]
  /** New prices of the pool. */
  readonly prices: readonly SolPrice[]
  /** What the partition's newest stored transaction says of a record. */
  relationOf(logged: LoggedRecord): ReturnType<NewestPlaces['relationOf']>
  /** Whether another owner may have stored records of the wallet lately (rule K15). */
  isReplayed(wallet: number): boolean
  /** Slots that were withdrawn. A record of one may replace a tombstone (rule K9). */
  readonly withdrawn: ReadonlySet<number>
}

/**
 * Stores the records that are not stored yet, and everything derived from them; carries out
 * refolds. Events of a newer decoder replace those of an older one (rule K10). The order of writes
 * is: refold marks; late places and prices; events; then transactions beside derived rows. A reader
 * that finds a row therefore finds what the row refers to. Returns the records whose transactions
 * were looked up, and whether another owner of the partitions may have stored some of them.
 */
export async function storeRecords(
  store: Store,
  books: WalletBooks,
  { records, refolds, prices, relationOf, isReplayed, withdrawn }: RecordsToStore,
): Promise<{ readonly lookedUp: ReadonlySet<LoggedRecord>; readonly hasMet: boolean }> {
  const unique = await uniqueRecords(ofNewestDecoder(records))
  const wallets = new Set<number>()
  // An `undecoded` record may end events that are in the books.
  for (const { record } of records) if (record.kind !== 'kept') wallets.add(record.wallet)
  const plan = await books.plan(wallets, refolds)
  const doubtful: LoggedRecord[] = []
  for (const logged of unique.values())
    if (!isSurelyNew(logged, relationOf(logged), books, plan)) doubtful.push(logged)
  const [versions, { known, changes, amended }] = await Promise.all([
    versionsToReplace(store, doubtful, withdrawn),
    compareWithStored(store, doubtful, withdrawn),
  ])
  for (const logged of known) {
    const key = recordKey(logged)
    if (logged.record.kind !== 'kept' || !versions.has(key)) unique.delete(key)
  }

  const fresh = [...unique.values()]
  const additions = additionsByWallet(fresh)
  if (amended.size > 0) await noteRedecoded(store, [...amended.keys()])
  const missed = await missedByBooks(known, books, plan, isReplayed)
  await books.markLate(additions, plan, new Map([...missed, ...amended]))
  const eventsStored = Promise.all([
    storeEvents(store, fresh, versions, prices),
    insertChanges(store, changes),
  ])
  // Events are stored first, so a reader that finds a transaction finds its events.
  const transactionsStored = eventsStored.then(() =>
    insertTransactions(store, transactionRows(fresh, versions)),
  )
  transactionsStored.catch(() => {}) // awaited below; until then a rejection is not unhandled
  await books.fold(additions, plan, eventsStored)
  await transactionsStored
  const hasMet = known.some(({ record }) => record.kind !== 'kept' && isReplayed(record.wallet))
  return { lookedUp: new Set(doubtful), hasMet }
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

/** Without those of transactions of which a newer decoder made records too. */
function ofNewestDecoder(records: readonly LoggedRecord[]): readonly LoggedRecord[] {
  const version = records[0]?.decoderVersion
  if (records.every(({ decoderVersion }) => decoderVersion === version)) return records
  const newest = new Map<string, number>()
  const of = ({ record }: LoggedRecord) => `${record.wallet}/${record.slot}/${record.txIndex}`
  for (const logged of records)
    newest.set(of(logged), Math.max(logged.decoderVersion, newest.get(of(logged)) ?? 0))
  return records.filter((logged) => logged.decoderVersion === newest.get(of(logged)))
}

/**
 * Whether a record cannot be stored yet. The rest of a transaction that was cut into two flushes is
 * new if it is beyond the wallet's state in memory.
 */
function isSurelyNew(
  { record }: LoggedRecord,
  relation: ReturnType<NewestPlaces['relationOf']>,
  books: WalletBooks,
  plan: FoldPlan,
): boolean {
  if (relation !== 'continued') return relation === 'new'
  const state = books.stateOf(record.wallet)
  if (state === undefined || record.kind === 'undecoded') return false
  // Their rows are the same whenever they are stored.
  if (record.kind === 'kept' || record.kind === 'token_link') return true
  if (record.kind !== 'balance') return books.isBeyond(record, plan)
  return isBeyondBalance(record, state)
}

/**
 * Wallets of which another owner has stored some of the known records, perhaps only after the books
 * were made, so that they lack them (rule K15). And whether a backfill fetched all of those.
 *
 * The events beyond the snapshot of a wallet that is not in memory are read after the records were
 * found. Those below it are late ones: whether its books have them is seen by their number.
 */
async function missedByBooks(
  known: readonly LoggedRecord[],
  books: WalletBooks,
  plan: FoldPlan,
  isReplayed: RecordsToStore['isReplayed'],
): Promise<ReadonlyMap<number, boolean>> {
  const missed = new Map<number, boolean>()
  const doubtful = new Set<number>()
  for (const { record, late } of known) {
    if (!isBooked(record) || !isReplayed(record.wallet)) continue
    const state = books.stateOf(record.wallet)
    if (state === undefined && !books.background.has(record.wallet)) {
      if ('eventIndex' in record && late !== null && !books.isBeyond(record, plan))
        doubtful.add(record.wallet)
      continue
    }
    if (state && record.kind === 'balance' && !isBeyondBalance(record, state)) continue
    missed.set(record.wallet, late === 'backfill' && missed.get(record.wallet) !== false)
  }
  for (const wallet of await books.incomplete(doubtful, plan)) missed.set(wallet, false)
  return missed
}

/** Whether a balance is newer than the one in the state of its wallet. */
function isBeyondBalance(
  { slot, txIndex }: { readonly slot: number; readonly txIndex: number },
  { balanceSlot, balanceTxIndex }: WalletState,
): boolean {
  return (slot - balanceSlot || txIndex - balanceTxIndex) > 0
}

/** Whether the record belongs into the books of its wallet. */
function isBooked(record: WalletRecord): record is WalletEvent | BalanceRecord {
  return 'eventIndex' in record || record.kind === 'balance'
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
  for (const { record, mark, blockId = null } of records)
    if (record.kind === 'swap' && mark !== null) rows.push(lateRow(record, mark, blockId))
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
