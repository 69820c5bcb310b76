import type { FoldEvent, FoldKind } from '../../fold/fold-event.ts'
import type { WalletPlace } from '../../fold/wallet-state.ts'
import type { Store } from '../../store/store.ts'

/** Before every event. */
export const START: WalletPlace = { slot: -1, txIndex: 0, eventIndex: 0 }

/** Wallets asked for in one query: those with long histories, and those of which little is expected. */
const LONG_PER_QUERY = 64
const SHORT_PER_QUERY = 1000
/** Events that come with one answer. */
const EVENTS_PER_PAGE = 20_000

/**
 * Stored events of wallets, each wallet's beyond its place, in event-key order within a wallet, each once; wallets one after the other. Comes
 * in pages of bounded size, of which the next is read while one is used: a long history never is in memory whole. `isLast` tells that the wallet is done. With
 * `onlyShort` little is expected of each: many are asked for together, and of one that has more than a page beyond its place nothing comes after that page.
 */
export async function* readEvents(
  store: Store,
  beyond: ReadonlyMap<number, WalletPlace>,
  { onlyShort = false }: { readonly onlyShort?: boolean } = {},
): AsyncGenerator<{ wallet: number; events: FoldEvent[]; isLast: boolean }> {
  const perQuery = onlyShort ? SHORT_PER_QUERY : LONG_PER_QUERY
  const wallets = [...beyond.keys()].sort((a, b) => a - b)
  const places = new Map<number, WalletPlace>()
  /** Asks for the next page; null when all is read. */
  const ask = () => {
    if (places.size === 0)
      for (const wallet of wallets.splice(0, perQuery))
        places.set(wallet, beyond.get(wallet) ?? START)
    if (places.size === 0) return null
    const answer = store.query<EventRow>(eventsQuery(places))
    answer.catch(() => {}) // heard of by whoever waits for it; nobody does when the reader has stopped
    return answer
  }
  for (let asked = ask(); asked !== null; ) {
    const rows = await asked
    const full = rows.length === EVENTS_PER_PAGE
    const reached = rows.at(-1)?.wallet ?? 0
    const byWallet = new Map<number, EventRow[]>()
    for (const row of rows) {
      const found = byWallet.get(row.wallet)
      if (found) found.push(row)
      else byWallet.set(row.wallet, [row])
    }
    const read: { readonly wallet: number; readonly isLast: boolean }[] = []
    for (const wallet of [...places.keys()]) {
      // A full page ends within its last wallet; the wallets after it have not come yet.
      if (full && wallet > reached) continue
      const isLast = !(full && wallet === reached)
      // The page of a wallet of which little is expected is its own from the beginning.
      if (onlyShort && !isLast && byWallet.size > 1) continue
      const last = byWallet.get(wallet)?.at(-1)
      if (isLast || onlyShort) places.delete(wallet)
      else if (last) places.set(wallet, placeOf(last))
      read.push({ wallet, isLast })
    }
    asked = ask()
    for (const { wallet, isLast } of read) {
      const found = byWallet.get(wallet) ?? []
      yield { wallet, events: found.filter((row) => !row.is_deleted).map(foldEventOf), isLast }
    }
  }
}

/** Key, time and `FOLD_COLUMNS` of a stored event. */
export interface FoldRow {
  readonly wallet: number
  readonly slot: string
  readonly tx_index: number
  readonly event_index: number
  readonly block_time: number
  readonly kind: FoldKind
  readonly mint: string
  readonly decimals: number
  readonly amount: string
  readonly value: string | null
  readonly price: string | null
}

interface EventRow extends FoldRow {
  readonly is_deleted: number
}

const placeOf = (row: EventRow): WalletPlace => ({
  slot: Number(row.slot),
  txIndex: row.tx_index,
  eventIndex: row.event_index,
})

function foldEventOf(row: FoldRow): FoldEvent {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    eventIndex: row.event_index,
    blockTime: row.block_time,
    kind: row.kind,
    mint: row.mint,
    decimals: row.decimals,
    amount: BigInt(row.amount),
    value: row.value === null ? null : BigInt(row.value),
    solPriceUsdE9: row.price === null ? null : BigInt(row.price),
  }
}

const NO_VALUE = `CAST(NULL, 'Nullable(UInt128)') AS value, CAST(NULL, 'Nullable(UInt64)') AS price`

/** What each event table gives in the shape of the fold. */
export const FOLD_COLUMNS = {
  swaps: `toString(side) AS kind, base_mint AS mint, base_decimals AS decimals, base_amount AS amount, value_lamports AS value, sol_price_usd_e9 AS price`,
  transfers: `if(direction = 'in', 'token_in', 'token_out') AS kind, mint, decimals, amount, ${NO_VALUE}`,
  sol_transfers: `if(direction = 'in', 'sol_in', 'sol_out') AS kind, '' AS mint, toUInt8(9) AS decimals, toUInt128(lamports) AS amount, ${NO_VALUE}`,
} as const

/** Several rows of one key count as one, the highest version: right whether or not they have been merged. */
function eventsQuery(places: ReadonlyMap<number, WalletPlace>): string {
  const where = beyondPlaces(
    new Map(
      [...places].map(([wallet, { slot, txIndex, eventIndex }]) => [
        wallet,
        [slot, txIndex, eventIndex] as const,
      ]),
    ),
    'slot, tx_index, event_index',
  )
  const key = 'wallet, slot, tx_index, event_index'
  const parts = Object.entries(FOLD_COLUMNS).map(
    ([table, columns]) =>
      `(SELECT ${key}, block_time, is_deleted, ${columns} FROM ${table} WHERE ${where} ORDER BY ${key}, version DESC LIMIT 1 BY ${key} LIMIT ${EVENTS_PER_PAGE})`,
  )
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) ORDER BY ${key} LIMIT ${EVENTS_PER_PAGE}`
}

/**
 * The condition for what each wallet has beyond its place, a slot and what orders its rows (`columns`); everything when the slot is below 0. The first wallet may be in
 * the middle of a long history: its place is for the index, so that no page reads again what came before it. Of the others, together, the least slot is.
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
  // Column by column: ClickHouse refuses to transform to tuples that hold a 64-bit integer, as a slot beside -1 is.
  const placed = (column: number) =>
    `transform(wallet, [${known.map(([wallet]) => wallet)}], CAST([${known.map(([, other]) => other[column])}], 'Array(Int64)'), toInt64(-1))`
  const beyond =
    known.length === 0 ? '' : ` AND (${columns}) > (${place.map((_, column) => placed(column))})`
  return `(${isFirst}) OR (wallet IN (${wallets})${least < 0 ? '' : ` AND slot >= ${least}`}${beyond})`
}

/** The newest balance record of each wallet beyond a place, and how many there are. */
export async function readBalances(
  store: Store,
  beyond: ReadonlyMap<number, { readonly slot: number; readonly txIndex: number }>,
): Promise<{ wallet: number; slot: number; txIndex: number; lamports: bigint; records: number }[]> {
  const wallets = [...beyond]
  const found = []
  for (let at = 0; at < wallets.length; at += SHORT_PER_QUERY) {
    const places = new Map(
      wallets
        .slice(at, at + SHORT_PER_QUERY)
        .map(([wallet, { slot, txIndex }]) => [wallet, [slot, txIndex] as const]),
    )
    const rows = await store.query<{
      wallet: number
      newest_slot: string
      newest_tx_index: number
      newest_lamports: string
      records: string
    }>(
      `SELECT wallet, tupleElement(max((slot, tx_index)) AS place, 1) AS newest_slot, tupleElement(place, 2) AS newest_tx_index,
         argMax(lamports, (slot, tx_index, version)) AS newest_lamports, uniqExact(slot, tx_index) AS records
       FROM sol_balances WHERE ${beyondPlaces(places, 'slot, tx_index')} GROUP BY wallet ORDER BY wallet LIMIT ${SHORT_PER_QUERY}`,
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

/** A key in a table that has wallet, slot and transaction index; `eventIndex` 0 where the table has none. */
export interface StoredKey extends WalletPlace {
  readonly wallet: number
}

/** One text for one key. */
export const storedKeyText = (key: StoredKey): string =>
  `${key.wallet}/${key.slot}/${key.txIndex}/${key.eventIndex}`

/** Which of `keys` table `table` holds already, as `storedKeyText`. */
export async function findStored(
  store: Store,
  table: 'swaps' | 'transfers' | 'sol_transfers' | 'sol_balances',
  keys: readonly StoredKey[],
): Promise<Set<string>> {
  const found = new Set<string>()
  const pairs = [...new Set(keys.map((key) => `(${key.wallet}, ${key.slot})`))]
  const eventIndex = table === 'sol_balances' ? '0' : 'event_index'
  for (let at = 0; at < pairs.length; at += 1000) {
    const rows = await store.query<{ key: string }>(
      `SELECT DISTINCT concat(toString(wallet), '/', toString(slot), '/', toString(tx_index), '/', toString(${eventIndex})) AS key
       FROM ${table} WHERE (wallet, slot) IN (${pairs.slice(at, at + 1000).join(', ')}) LIMIT 1000000`,
    )
    for (const row of rows) found.add(row.key)
  }
  return found
}

/** Slot of the newest marker that a worker has stored of each partition. */
export async function readProgress(
  store: Store,
  worker: string,
): Promise<ReadonlyMap<number, number>> {
  const rows = await store.query<{ partition: number; slot: string }>(
    'SELECT partition, slot FROM progress FINAL WHERE worker = {worker:String} LIMIT 65536',
    { worker },
  )
  return new Map(rows.map(({ partition, slot }) => [partition, Number(slot)]))
}
