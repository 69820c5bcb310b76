import type { Swap } from '../../domain/event.ts'
import type { DecodedRecord } from '../../domain/slot.ts'
import type { Row, Store } from '../../store/store.ts'
import { type DecodedKey, findDecodedKeys, rowKey } from '../../store/tables/decoded-rows.ts'
import { findStoredTransactions } from '../../store/tables/transactions.ts'
import { NO_DECIMALS } from '../ingest/decode-records.ts'
import { decodedRow } from './event-rows.ts'
import type { LoggedRecord } from './flush.ts'
import { compareRows, type RowChange, readStoredRows, type StoredRows } from './redecoded-rows.ts'

/** What storage has of some records. */
export interface StoredComparison {
  /** Those of the records that must not be stored as new. */
  readonly known: readonly LoggedRecord[]
  /** Rows to write, because a newer decoder made other events of stored transactions. */
  readonly changes: readonly RowChange[]
  /**
   * Wallets whose stored events change, to be folded again; and whether a backfill fetched all of
   * the transactions.
   */
  readonly amended: ReadonlyMap<number, boolean>
}

/**
 * Compares records with what is stored of their transactions, for each wallet and transaction (rule
 * K10):
 *
 * - Nothing: the records are new.
 * - Events of a newer decoder: the records are dropped.
 * - Events of an older decoder: the records replace all of them, as a redecode would. Keys that the
 *   newer decoder does not use get tombstones. A transaction may be cut into two flushes: the
 *   second one leaves rows of its own decoder, and takes back tombstones of the first.
 * - Events of the same decoder: those with the same key are dropped, of whatever kind. When the log
 *   is read again, those of a withdrawn block meet the events of the finalized one.
 *
 * An `undecoded` record ends when the transaction is decoded after all. One for lack of decimals
 * replaces no event, because it says nothing about the transaction.
 *
 * Tombstones of slots in `withdrawn` say nothing about the new block of the slot (rule K9).
 */
export async function compareWithStored(
  store: Store,
  records: readonly LoggedRecord[],
  withdrawn: ReadonlySet<number>,
): Promise<StoredComparison> {
  const kept = records.filter(({ record }) => record.kind === 'kept')
  const decoded = records.filter(isDecoded)
  const [keys, keptPlaces] = await Promise.all([
    findDecodedKeys(
      store,
      decoded.map(({ record }) => record),
    ),
    findStoredTransactions(
      store,
      kept.map(({ record }) => record),
    ),
  ])
  const places = new Set(keptPlaces.map(({ slot, txIndex }) => `${slot}/${txIndex}`))
  const known = kept.filter(({ record }) => places.has(`${record.slot}/${record.txIndex}`))
  const older: DecodedGroup[] = []
  const stored = byTransaction(keys, (row) => row)
  for (const [transaction, incoming] of byTransaction(decoded, ({ record }) => record)) {
    const group = { incoming, stored: stored.get(transaction) ?? [] }
    const valid = group.stored.filter((key) => !isVoid(key, withdrawn))
    const relation = relationOf({ incoming, stored: valid })
    if (relation === 'replaces') older.push(group)
    for (const one of incoming)
      if (isKnown(one, { incoming, stored: valid }, relation)) known.push(one)
  }
  return { known, ...(await replace(store, older, withdrawn)) }
}

/** Whether a row is a tombstone that a withdrawal may have left. */
function isVoid({ isDeleted, slot }: DecodedKey, withdrawn: ReadonlySet<number>): boolean {
  return isDeleted && withdrawn.has(slot)
}

interface DecodedLogged extends LoggedRecord {
  readonly record: DecodedRecord
}

function isDecoded(logged: LoggedRecord): logged is DecodedLogged {
  return logged.record.kind !== 'kept'
}

/** Records of one transaction and wallet, all of one decoder, and what is stored of it. */
interface DecodedGroup {
  readonly incoming: readonly DecodedLogged[]
  readonly stored: readonly DecodedKey[]
}

function byTransaction<T>(
  items: readonly T[],
  placeOf: (item: T) => Pick<DecodedRecord, 'wallet' | 'slot' | 'txIndex'>,
): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const { wallet, slot, txIndex } = placeOf(item)
    const key = `${wallet}/${slot}/${txIndex}`
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

const LACKS_DECIMALS: ReadonlySet<string> = new Set(NO_DECIMALS)

/** Tables of links, which are the same by any decoder. */
const LINKS: ReadonlySet<string> = new Set(['sol_balances', 'token_links'])

/** How the events of a group relate to the stored ones. */
function relationOf({ incoming, stored }: DecodedGroup): 'replaces' | 'superseded' | 'equal' {
  const version = incoming[0]?.decoderVersion ?? 0
  const rows = stored.filter(({ table }) => !LINKS.has(table))
  const alive = rows.filter(({ isDeleted }) => !isDeleted)
  const isGuess = incoming.some(
    ({ record }) => record.kind === 'undecoded' && LACKS_DECIMALS.has(record.reason),
  )
  if (rows.some((row) => row.decoderVersion > version)) return 'superseded'
  if (isGuess && alive.some(({ table }) => table !== 'undecoded')) return 'superseded'
  const keys = new Set(incoming.map(keyOf))
  const isOlder = rows.some(
    (row) => row.decoderVersion < version && (!row.isDeleted || keys.has(row.key)),
  )
  const isDecodedNow =
    alive.some(({ table }) => table === 'undecoded') &&
    incoming.some(({ record }) => 'eventIndex' in record)
  return isOlder || isDecodedNow ? 'replaces' : 'equal'
}

function isKnown(
  logged: DecodedLogged,
  { stored }: DecodedGroup,
  relation: ReturnType<typeof relationOf>,
): boolean {
  if (!isLink(logged.record) && relation !== 'equal') return true
  const key = keyOf(logged)
  if (stored.some((row) => row.key === key)) return true
  if (!('eventIndex' in logged.record)) return false
  const event = eventOf(key)
  return stored.some((row) => !row.isDeleted && eventOf(row.key) === event)
}

/** The key of an event without its table. Rows of other tables give another text. */
function eventOf(key: string): string {
  return key.replace(/^(swaps|transfers|sol_transfers):/, 'event:')
}

function isLink({ kind }: DecodedRecord): boolean {
  return kind === 'balance' || kind === 'token_link'
}

function keyOf({ record }: DecodedLogged): string {
  return rowKey(...decodedRow(record, null))
}

/** Transactions whose rows are read together. */
const PLACES_PER_QUERY = 1000

async function replace(
  store: Store,
  groups: readonly DecodedGroup[],
  withdrawn: ReadonlySet<number>,
): Promise<Pick<StoredComparison, 'changes' | 'amended'>> {
  const changes: RowChange[] = []
  const amended = new Map<number, boolean>()
  for (let start = 0; start < groups.length; start += PLACES_PER_QUERY) {
    const some = groups.slice(start, start + PLACES_PER_QUERY)
    const places = some.flatMap(({ incoming }) => incoming.slice(0, 1).map(({ record }) => record))
    const rows = await readStoredRows(store, places, { only: null, balancesOf: [] })
    for (const group of some) {
      const [first] = group.incoming
      if (first === undefined) continue
      const found = changesOf(group, rows, withdrawn)
      changes.push(...found)
      const { wallet } = first.record
      if (found.some(({ table, kind }) => table !== 'undecoded' && kind !== 'restamped'))
        amended.set(wallet, first.late === 'backfill' && amended.get(wallet) !== false)
    }
  }
  return { changes, amended }
}

/** The changes of one group. Rows that its own decoder made stay as they are. */
function changesOf(
  { incoming, stored }: DecodedGroup,
  rows: StoredRows,
  withdrawn: ReadonlySet<number>,
): readonly RowChange[] {
  const version = incoming[0]?.decoderVersion ?? 0
  const own = new Set<string>()
  const before = new Map<string, Row>()
  for (const found of stored) {
    const { key, table, decoderVersion } = found
    const row = rows.get(key)
    if (row === undefined || LINKS.has(table)) continue
    const isOwn = decoderVersion >= version && table !== 'undecoded' && !isVoid(found, withdrawn)
    if (isOwn) own.add(key)
    else before.set(key, row)
  }
  const records = incoming.filter((logged) => !isLink(logged.record) && !own.has(keyOf(logged)))
  const priced = records.map(({ record }) => withStoredPrice(record, before))
  return compareRows(before, priced, version, true)
}

/** A swap keeps the SOL price of the stored transaction (rule C1). */
function withStoredPrice(record: DecodedRecord, before: StoredRows): DecodedRecord {
  if (record.kind !== 'swap' || record.quoteMint === null) return record
  const swaps = [...before].filter(([key]) => key.startsWith('swaps:'))
  const own = before.get(rowKey(...decodedRow(record, null)))
  const prices = [own, ...swaps.map(([, row]) => row)].map((row) => row?.sol_price_usd_e9 ?? null)
  const price = prices.find((found) => found !== null)
  return price === undefined
    ? record
    : ({ ...record, solPriceUsdE9: BigInt(String(price)) } satisfies Swap)
}
