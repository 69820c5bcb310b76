import type { BalanceRecord, Swap, WalletEvent } from '../../domain/event.ts'
import type { Refold, SlotMarker, WalletRecord } from '../../domain/slot.ts'
import { partitionOf } from '../../log/topics.ts'
import { EventLoopYield } from '../../runtime/event-loop-yield.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import type { Row, Store } from '../../store/store.ts'
import { addEmptyMetrics } from '../../store/tracked-wallets.ts'
import { createFoldMetrics, type FoldMetrics } from '../telemetry.ts'
import { insertRows } from './book-store.ts'
import { type DecodedTable, gapRow, keptRow, lateRow, rowOf } from './event-rows.ts'
import { findKept, storeKept, type TransactionPlace } from './kept-transactions.ts'
import { adoptSalt } from './privacy-salt.ts'
import {
  type FoldDeps,
  type FoldWorker,
  type LoggedRecord,
  type RunningFold,
  runFold,
} from './run-fold.ts'
import { findStored, type StoredKey, storedKeyText } from './stored-events.ts'
import { inKeyOrder, WalletBooks, type WalletNews } from './wallet-books.ts'
import { WalletCache } from './wallet-cache.ts'

/** The fold worker of this process. */
export interface RunningBooks extends RunningFold {
  /**
   * Changes stored events of wallets (a price is filled in, a swap decoded again) and folds the wallets anew. `wallets` may hold any; `write` gets those
   * whose partitions this process has, stores new rows of their events, and may be called with none. Dying anywhere leaves
   * either nothing changed, or the books are made from the changed events at the next start. Resolves when all is stored; `closed` when the worker stops.
   */
  amend(
    wallets: readonly number[],
    write: (wallets: readonly number[]) => Promise<void>,
  ): Promise<void>
}

export interface FoldParts extends FoldDeps {
  readonly registry: Registry
  readonly now?: () => number
  /** `PRIVACY_SALT` (rule I2). */
  readonly salt?: string | null
  /** States of wallets in memory. */
  readonly cache?: WalletCache
  /** Told of the swaps of each flush once they are stored, some perhaps again. It does not wait and does not fail. */
  readonly onSwaps?: (swaps: readonly Swap[]) => void
}

/**
 * Starts the worker that stores what tracked wallets did and what follows from it: events, balances, prices, lots, disposals, positions,
 * metrics. Decisions C, K1, K4: whatever is delivered, how often, and wherever the process dies, the tables end up the same.
 */
export async function startFold(deps: FoldParts): Promise<RunningBooks> {
  const metrics = createFoldMetrics(deps.registry)
  let worker: ReturnType<typeof createFold> | undefined
  const running = await runFold((store) => {
    worker = createFold(store, metrics, deps)
    return worker
  }, deps)
  return {
    ...running,
    amend: (wallets, write) => running.between(async () => worker?.amend(wallets, write)),
  }
}

function createFold(
  store: Store,
  metrics: FoldMetrics,
  { log, now = Date.now, salt = null, onSwaps, cache = new WalletCache() }: FoldParts,
): FoldWorker & Pick<RunningBooks, 'amend'> {
  const books = new WalletBooks({ store, metrics, now, salt, cache })
  let assigned: readonly number[] = []
  let isRecovered = false
  /** The pool's newest stored price: what is stored of a second stays, whoever comes again with another (rule J7). */
  let priceTime = 0
  /** No event, balance or transaction of a higher slot is stored, of a partition that is named of none higher than there: what comes of one need not be looked for. */
  let newestSlot = Number.POSITIVE_INFINITY
  const newestSlots = new Map<number, number>()

  const partitionOfRecord = ({ wallet }: WalletRecord) => partitionOf(wallet, log.partitions)
  const isNewer = (record: WalletRecord) =>
    record.slot > (newestSlots.get(partitionOfRecord(record)) ?? newestSlot)
  const isMine = (wallet: number) => assigned.includes(partitionOf(wallet, log.partitions))
  async function recover(): Promise<void> {
    if (isRecovered) return
    await addEmptyMetrics(store)
    await adoptSalt(store, salt)
    await books.recover(isMine)
    priceTime = Math.max(priceTime, await newestPriceTime(store))
    newestSlot = await newestStoredSlot(store)
    newestSlots.clear()
    isRecovered = true
  }

  return {
    name: 'fold',
    assigned(partitions) {
      books.forget()
      assigned = partitions
      isRecovered = false
    },
    async amend(wallets, write) {
      await recover()
      const mine = [...new Set(wallets)].filter(isMine)
      await books.amend(mine, () => write(mine))
    },
    async apply({ records, markers, refolds, gaps }) {
      const end = metrics.flushSeconds.startTimer()
      await recover()
      for (const [kind, count] of countByKind(records)) metrics.records.inc({ kind }, count)
      const prices = newPrices(markers, priceTime)
      await insertRows(store, 'slot_gaps', gaps.map(gapRow))
      await storeRecords(store, books, { records, refolds, prices, isNewer })
      for (const { record } of records)
        if (isNewer(record)) newestSlots.set(partitionOfRecord(record), record.slot)
      priceTime = Math.max(priceTime, ...prices.map((row) => Number(row.time)))
      onSwaps?.(swapsOf(records))
      metrics.slot.set(markers.at(-1)?.slot ?? 0)
      end()
    },
    finish: () => books.save(),
  }
}

/** Stores the records that are new, and what follows from them; folds anew whom that is asked of. */
async function storeRecords(
  store: Store,
  books: WalletBooks,
  flush: {
    readonly records: readonly LoggedRecord[]
    readonly refolds: readonly Refold[]
    readonly prices: readonly Row[]
    /** Whether the record is beyond all that is stored of its partition. */
    isNewer(record: WalletRecord): boolean
  },
): Promise<void> {
  const { records, refolds, prices, isNewer } = flush
  const batch = new Map<string, LoggedRecord>()
  const loopYield = new EventLoopYield()
  for (const logged of records) {
    if (loopYield.isDue) await loopYield.wait()
    const text = recordKeyText(logged)
    if (!batch.has(text)) batch.set(text, logged) // the first is what whoever follows the log has seen
  }
  const wallets = new Set<number>()
  for (const { record } of records) if (isBooked(record)) wallets.add(record.wallet)
  const preparation = await books.prepare(wallets, refolds)
  // What is beyond all that is stored, or beyond a state in memory, is new; all else may be stored already.
  const isSurelyNew = ({ record }: LoggedRecord): boolean => {
    if (record.kind === 'undecoded' || isNewer(record)) return true
    const state = books.stateOf(record.wallet)
    if (state === undefined) return false
    if (record.kind === 'kept') return books.isBeyond(keyOf(record), preparation)
    if (record.kind !== 'balance') return books.isBeyond(record, preparation)
    return (record.slot - state.balanceSlot || record.txIndex - state.balanceTxIndex) > 0
  }
  const doubtful: LoggedRecord[] = []
  for (const logged of batch.values()) if (!isSurelyNew(logged)) doubtful.push(logged)
  for (const text of await storedAmong(store, doubtful)) batch.delete(text)

  const fresh = [...batch.values()]
  const news = newsByWallet(fresh)
  await books.announce(news, preparation)
  const eventsStored = (async () => {
    // Before the swaps: who sees a late one stored sees its place, and whoever finds a swap finds the price that it has.
    await Promise.all([
      insertRows(store, 'late_swaps', lateRows(fresh)),
      insertRows(store, 'sol_prices', prices),
    ])
    await Promise.all(
      [...rowsByTable(fresh)].map(([table, rows]) => insertRows(store, table, rows)),
    )
  })()
  // Whoever finds a transaction finds its events.
  const keptStored = eventsStored.then(() => storeKept(store, keptRows(fresh)))
  keptStored.catch(() => {}) // heard of below, when nothing is folded any more
  await books.fold(news, preparation, eventsStored)
  await keptStored
}

/** What goes into the books of its wallet. */
function isBooked(record: WalletRecord): record is WalletEvent | BalanceRecord {
  return record.kind !== 'undecoded' && record.kind !== 'kept'
}

const TABLE_OF = {
  swap: 'swaps',
  token_transfer: 'transfers',
  sol_transfer: 'sol_transfers',
  balance: 'sol_balances',
} as const satisfies Record<string, DecodedTable>

function keyOf(record: WalletRecord): StoredKey {
  const { wallet, slot, txIndex } = record
  return { wallet, slot, txIndex, eventIndex: 'eventIndex' in record ? record.eventIndex : 0 }
}

function recordKeyText(logged: LoggedRecord): string {
  const { record } = logged
  const { kind, wallet, slot, txIndex } = record
  if (kind === 'kept') return keptKeyText(record)
  if (kind === 'balance' || kind === 'undecoded') return `${kind}:${wallet}/${slot}/${txIndex}`
  return `event:${wallet}/${slot}/${txIndex}/${record.eventIndex}`
}

/** Two wallets may have brought the same transaction. */
const keptKeyText = ({ slot, txIndex }: TransactionPlace) => `kept:${slot}/${txIndex}`

/** Those of `records` that are stored, as `recordKeyText`. */
async function storedAmong(store: Store, records: readonly LoggedRecord[]): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(TABLE_OF).map(async ([kind, table]) => {
      const asked = records.filter(({ record }) => record.kind === kind)
      if (asked.length === 0) return []
      const stored = await findStored(
        store,
        table,
        asked.map(({ record }) => keyOf(record)),
      )
      return asked.filter((logged) => stored.has(storedKeyText(keyOf(logged.record))))
    }),
  )
  const places = records.flatMap(({ record }) => (record.kind === 'kept' ? [record] : []))
  return [
    ...found.flat().map(recordKeyText),
    ...(await findKept(store, places)).map((place) => keptKeyText(place)),
  ]
}

function newsByWallet(records: readonly LoggedRecord[]): Map<number, WalletNews> {
  const news = new Map<
    number,
    { events: WalletEvent[]; balances: BalanceRecord[]; fetched: Set<WalletEvent> }
  >()
  for (const { record, late } of records) {
    if (!isBooked(record)) continue
    const found = news.get(record.wallet) ?? { events: [], balances: [], fetched: new Set() }
    news.set(record.wallet, found)
    if (record.kind === 'balance') found.balances.push(record)
    else {
      found.events.push(record)
      if (late === 'backfill') found.fetched.add(record)
    }
  }
  for (const found of news.values()) found.events = inKeyOrder(found.events)
  return news
}

function rowsByTable(records: readonly LoggedRecord[]): ReadonlyMap<DecodedTable, Row[]> {
  const rows = new Map<DecodedTable, Row[]>()
  for (const { record, late, decoderVersion } of records) {
    if (record.kind === 'kept') continue
    const [table, row] = rowOf(record, late, decoderVersion)
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

function keptRows(records: readonly LoggedRecord[]): Row[] {
  const rows: Row[] = []
  for (const { record, decoderVersion } of records)
    if (record.kind === 'kept') rows.push(keptRow(record, decoderVersion))
  return rows
}

function swapsOf(records: readonly LoggedRecord[]): Swap[] {
  const swaps: Swap[] = []
  for (const { record } of records) if (record.kind === 'swap') swaps.push(record)
  return swaps
}

function countByKind(records: readonly LoggedRecord[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { record } of records) counts.set(record.kind, (counts.get(record.kind) ?? 0) + 1)
  return counts
}

/** The highest slot of which anything is stored that came over the log. */
async function newestStoredSlot(store: Store): Promise<number> {
  const tables = [...Object.values(TABLE_OF), 'transactions']
  const newest = tables.map((table) => `SELECT max(slot) AS slot FROM ${table}`)
  const [found] = await store.query<{ slot: string }>(
    `SELECT max(slot) AS slot FROM (${newest.join(' UNION ALL ')})`,
  )
  return Number(found?.slot)
}

async function newestPriceTime(store: Store): Promise<number> {
  const [newest] = await store.query<{ time: number }>(
    "SELECT time FROM sol_prices WHERE source = 'pool' ORDER BY time DESC LIMIT 1",
  )
  return newest?.time ?? 0
}

/** Rows of `sol_prices` for prices newer than `since` that slot markers carry; each second once. */
function newPrices(markers: readonly SlotMarker[], since: number): Row[] {
  const prices = new Map<number, bigint>()
  for (const { solPrice } of markers)
    if (solPrice && solPrice.time > since) prices.set(solPrice.time, solPrice.usdE9)
  return [...prices].map(([time, usdE9]) => ({ time, source: 'pool', usd_e9: usdE9 }))
}
