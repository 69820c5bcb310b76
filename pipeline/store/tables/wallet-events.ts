import type { EventKey } from '../../domain/event-key.ts'
import { batches } from '../../runtime/batches.ts'
import type { Store } from '../store.ts'
import { EVENT_COLUMNS, type EventRow, eventOf, keyOf, type StoredEvent } from './event-rows.ts'
import { NEWEST_FOLDED_SLOT } from './progress.ts'
import { WITHDRAWN_SLOTS } from './withdrawn-slots.ts'

/** The event key without the wallet: it orders the events of one wallet. */
type WalletPlace = Omit<EventKey, 'wallet'>

/** Which events are read: of some tables, up to a slot; by default all. */
interface EventsOf {
  readonly tables?: typeof TABLES
  readonly to?: number
}

/** A place before every event. */
export const START_PLACE: WalletPlace = { slot: -1, txIndex: 0, eventIndex: 0 }

/** Wallets in one query. */
const WALLETS_PER_QUERY = 1000
/** Events in one response of `readShortEvents`. */
const EVENTS_PER_PAGE = 20_000

/** Some stored events of one wallet, in event-key order. */
export interface EventPage {
  readonly wallet: number
  events(): StoredEvent[]
  /** Whether the wallet had no later event. */
  readonly isLast: boolean
  /** Place of the last row that was read, perhaps a tombstone; null without rows. */
  readonly reached: WalletPlace | null
}

/**
 * Reads the next stored events of wallets, at most `limit` of them together, ascending by wallet
 * and in event-key order within one. `beyond`: wallet to the place after which its events are
 * wanted; ascending, at most 1000 wallets. A full response ends within its last wallet; there is no
 * page of the wallets after that one.
 */
export async function readEventPages(
  store: Store,
  beyond: ReadonlyMap<number, WalletPlace>,
  limit: number,
  of: EventsOf = {},
): Promise<EventPage[]> {
  const rows = await store.query<WalletEventRow>(eventsQuery(beyond, limit, of))
  const cut = rows.length < limit ? null : rows.at(-1)?.wallet
  const byWallet = new Map<number, WalletEventRow[]>()
  for (const row of rows) {
    const found = byWallet.get(row.wallet)
    if (found) found.push(row)
    else byWallet.set(row.wallet, [row])
  }
  const pages: EventPage[] = []
  for (const wallet of beyond.keys()) {
    const found = byWallet.get(wallet) ?? []
    const last = found.at(-1)
    pages.push({
      wallet,
      events: () => found.filter((row) => !row.is_deleted).map(eventOf),
      isLast: wallet !== cut,
      reached: last ? keyOf(last) : null,
    })
    if (wallet === cut) break
  }
  return pages
}

/**
 * Yields the stored events of many wallets of which few are expected, each once: wallet to the
 * place after which its events are wanted. The next response is read while one is used. A wallet
 * with more than a page of events yields one page with `isLast` false, and then nothing more.
 */
export async function* readShortEvents(
  store: Store,
  beyond: ReadonlyMap<number, WalletPlace>,
): AsyncGenerator<EventPage> {
  const wallets = [...beyond.keys()].sort((a, b) => a - b)
  const places = new Map<number, WalletPlace>()
  /** Requests the next pages; null when everything is read. */
  const request = () => {
    if (places.size === 0)
      for (const wallet of wallets.splice(0, WALLETS_PER_QUERY))
        places.set(wallet, beyond.get(wallet) ?? START_PLACE)
    if (places.size === 0) return null
    const answer = readEventPages(store, places, EVENTS_PER_PAGE)
    answer.catch(() => {}) // nobody awaits it when the consumer stops early
    return answer
  }
  for (let pending = request(); pending !== null; ) {
    const pages = await pending
    // A wallet with many events is read in a separate response, from its first event.
    const read = pages.filter(({ isLast }) => isLast || pages.length === 1)
    for (const { wallet } of read) places.delete(wallet)
    pending = request()
    yield* read
  }
}

/** As `readEventPages`, of swaps and token transfers up to slot `to`; at most 5,000 together. */
export function readTokenPages(
  store: Store,
  beyond: ReadonlyMap<number, WalletPlace>,
  to: number,
): Promise<EventPage[]> {
  return readEventPages(store, beyond, HISTORY_PAGE, { tables: ['swaps', 'transfers'], to })
}

/** Folding a page takes some ten milliseconds, during which a process answers nothing else. */
const HISTORY_PAGE = 5000

/**
 * Returns the number of stored rows of events of these wallets: versions of a row that are not
 * merged yet and tombstones count too. A wallet without rows has no entry.
 */
export async function countEventRows(
  store: Store,
  wallets: readonly number[],
): Promise<Map<number, number>> {
  const tables = Object.keys(EVENT_COLUMNS).map(
    (table) =>
      `SELECT wallet, count() AS rows FROM ${table} WHERE wallet IN {wallets:Array(UInt32)} GROUP BY wallet`,
  )
  const counts = new Map<number, number>()
  for (const some of batches(wallets, WALLETS_PER_QUERY))
    for (const { wallet, found } of await store.query<{ wallet: number; found: string }>(
      `SELECT wallet, sum(rows) AS found FROM (${tables.join(' UNION ALL ')})
       GROUP BY wallet ORDER BY wallet LIMIT ${WALLETS_PER_QUERY}`,
      { wallets: some },
    ))
      counts.set(wallet, Number(found))
  return counts
}

/**
 * Returns the number of stored events of each wallet up to a place, and at it. A wallet without
 * events has no entry.
 */
export async function countEventsUpTo(
  store: Store,
  places: ReadonlyMap<number, WalletPlace>,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  for (const some of batches([...places], WALLETS_PER_QUERY)) {
    const alive = TABLES.map(
      (table) =>
        `(SELECT wallet FROM ${table} WHERE wallet IN {wallets:Array(UInt32)} AND NOT (${beyondEvents(new Map(some))})
          GROUP BY wallet, slot, tx_index, event_index HAVING argMax(is_deleted, version) = 0)`,
    )
    for (const { wallet, events } of await store.query<{ wallet: number; events: string }>(
      `SELECT wallet, count() AS events FROM (${alive.join(' UNION ALL ')})
       GROUP BY wallet ORDER BY wallet LIMIT ${WALLETS_PER_QUERY}`,
      { wallets: some.map(([wallet]) => wallet) },
    ))
      counts.set(wallet, Number(events))
  }
  return counts
}

const TABLES = Object.keys(EVENT_COLUMNS) as readonly (keyof typeof EVENT_COLUMNS)[] // its keys

type WalletEventRow = EventRow & { readonly is_deleted: number }

/** If a key has several rows, the highest version counts, whether or not ClickHouse merged them. */
function eventsQuery(
  places: ReadonlyMap<number, WalletPlace>,
  limit: number,
  { tables = TABLES, to }: EventsOf,
): string {
  const beyond = beyondEvents(places)
  const where = to === undefined ? beyond : `(${beyond}) AND slot <= ${to}`
  const key = 'wallet, slot, tx_index, event_index'
  const parts = tables.map(
    (table) =>
      `(SELECT ${key}, block_time, is_deleted, ${EVENT_COLUMNS[table]} FROM ${table} WHERE ${where} ORDER BY ${key}, version DESC LIMIT 1 BY ${key} LIMIT ${limit})`,
  )
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) ORDER BY ${key} LIMIT ${limit}`
}

/** The SQL condition for events of each wallet beyond its place. */
function beyondEvents(places: ReadonlyMap<number, WalletPlace>): string {
  const keys = [...places].map(
    ([wallet, { slot, txIndex, eventIndex }]) => [wallet, [slot, txIndex, eventIndex]] as const,
  )
  return beyondPlaces(new Map(keys), 'slot, tx_index, event_index')
}

/**
 * Returns the SQL condition for rows of each wallet beyond its place. A place has a value for each
 * of `columns`; a slot below 0 selects every row of the wallet. The first wallet may be in the
 * middle of a long history, so its place is compared in a form that the primary index can use. For
 * the others, the index uses their lowest slot.
 */
function beyondPlaces(
  places: ReadonlyMap<number, readonly [slot: number, ...rest: number[]]>,
  columns: string,
): string {
  const [[first, place] = [0, [-1]], ...others] = places
  const isFirst = `wallet = ${first}${place[0] < 0 ? '' : ` AND slot >= ${place[0]} AND (${columns}) > (${place})`}`
  if (others.length === 0) return isFirst
  const wallets = others.map(([wallet]) => wallet)
  const least = Math.min(...others.map(([, [slot]]) => slot))
  const known = others.filter(([, [slot]]) => slot >= 0)
  // Column by column: ClickHouse refuses to transform to tuples that hold a 64-bit integer, as a
  // slot beside -1 is.
  const placed = (column: number) =>
    `transform(wallet, [${known.map(([wallet]) => wallet)}], CAST([${known.map(([, other]) => other[column])}], 'Array(Int64)'), toInt64(-1))`
  const beyond =
    known.length === 0 ? '' : ` AND (${columns}) > (${place.map((_, column) => placed(column))})`
  return `(${isFirst}) OR (wallet IN (${wallets})${least < 0 ? '' : ` AND slot >= ${least}`}${beyond})`
}

/** Returns each wallet's newest balance record beyond a place, and the number of such records. */
export async function readBalances(
  store: Store,
  beyond: ReadonlyMap<number, { readonly slot: number; readonly txIndex: number }>,
): Promise<{ wallet: number; slot: number; txIndex: number; lamports: bigint; records: number }[]> {
  const found = []
  for (const some of batches([...beyond], WALLETS_PER_QUERY)) {
    const places = new Map(
      some.map(([wallet, { slot, txIndex }]) => [wallet, [slot, txIndex] as const]),
    )
    const rows = await store.query<
      Record<'newest_slot' | 'newest_lamports' | 'records', string> &
        Record<'wallet' | 'newest_tx_index', number>
    >(
      `SELECT wallet, tupleElement(max((slot, tx_index)) AS place, 1) AS newest_slot, tupleElement(place, 2) AS newest_tx_index,
         argMax(lamports, (slot, tx_index, version)) AS newest_lamports, uniqExact(slot, tx_index) AS records
       FROM sol_balances WHERE (${beyondPlaces(places, 'slot, tx_index')}) AND (wallet, slot, tx_index) NOT IN (${VOID_BALANCES})
       GROUP BY wallet ORDER BY wallet LIMIT ${WALLETS_PER_QUERY}`,
      { wallets: [...places.keys()] },
    )
    for (const row of rows)
      found.push({
        wallet: row.wallet,
        slot: Number(row.newest_slot),
        txIndex: row.newest_tx_index,
        lamports: BigInt(row.newest_lamports),
        records: Number(row.records),
      })
  }
  return found
}

/** Subquery: the balance records of wallets `{wallets:Array(UInt32)}` that were withdrawn. */
const VOID_BALANCES = `
  SELECT wallet, slot, tx_index FROM sol_balances
  WHERE wallet IN {wallets:Array(UInt32)} AND slot IN (${WITHDRAWN_SLOTS})
  GROUP BY wallet, slot, tx_index HAVING argMax(is_deleted, version) = 1`

/**
 * Returns a slot above which there is no event, balance or transaction: the highest one that has
 * one, or that `progress` names. Links may be above it. Reads only the rows beyond `progress`.
 */
export async function newestStoredSlot(store: Store): Promise<number> {
  const newest = [...TABLES, 'sol_balances', 'transactions'].map(
    (table) => `SELECT max(slot) AS newest FROM ${table} WHERE slot > (${NEWEST_FOLDED_SLOT})`,
  )
  const [found] = await store.query<{ slot: string }>(
    `SELECT max(newest) AS slot FROM (${[`SELECT (${NEWEST_FOLDED_SLOT}) AS newest`, ...newest].join(' UNION ALL ')})`,
    {},
    ['slot'],
  )
  return Number(found?.slot)
}

/** Subquery: the first and the last event of each wallet, unix seconds. */
export const EVENT_TIMES = `
  SELECT wallet, toNullable(min(block_time)) AS first_event_at, toNullable(max(block_time)) AS last_event_at
  FROM (${Object.keys(EVENT_COLUMNS)
    .map((table) => `SELECT wallet, block_time FROM ${table} FINAL`)
    .join(' UNION ALL ')}) GROUP BY wallet`
