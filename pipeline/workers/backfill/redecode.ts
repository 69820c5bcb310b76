import type { Decoder } from '../../decode/decoder.ts'
import type { Address } from '../../domain/address.ts'
import type { DecodedRecord } from '../../domain/slot.ts'
import type { Transaction } from '../../domain/transaction.ts'
import { normalize } from '../../ingest/wire/raw-transaction.ts'
import { readSolPrices } from '../../store/read-sol-prices.ts'
import { readStorageMarker } from '../../store/read-storage-marker.ts'
import type { Row, Store } from '../../store/store.ts'
import { insertRows } from '../fold/book-store.ts'
import { DECODED_TABLES, rowOf } from '../fold/event-rows.ts'
import { type KeptRow, readKept } from '../fold/kept-transactions.ts'
import {
  compareRows,
  type RowChange,
  readStoredRows,
  rowKey,
  type StoredRows,
} from './redecoded-rows.ts'
import { createStoredDecimals } from './stored-decimals.ts'

export interface RedecodeDeps {
  readonly store: Store
  /** For all tracked wallets. */
  readonly decoder: Decoder
  /** The one wallet whose events are looked at; null for all. */
  readonly only: { readonly wallet: number; readonly address: Address } | null
  readonly priceMaxAgeSeconds: number
  /** Transactions looked at together; half a megabyte each at most, some kilobytes mostly. By default 250, and 2500 for one wallet, which few of them name. */
  readonly rowsPerPage?: number
  /** Told the wallets whose events or balances are about to be changed, before anything is. */
  readonly onWallets: (wallets: readonly number[]) => Promise<void>
  /** Told how many transactions are done, of how many. */
  readonly onProgress: (done: number, total: number | null) => void
}

/** What a redecode found. */
export interface Redecoded {
  /** Read from `transactions`. */
  readonly transactions: number
  /** Of those left as they were: without bytes, unreadable, or with a mint whose decimals nothing stored tells. */
  readonly passedBy: number
  /** Of those that now give something else. */
  readonly changed: number
  /** Swaps, transfers and SOL transfers written. */
  readonly events: Readonly<Record<RowChange['kind'], number>>
  /** The same of what could not be decoded. */
  readonly undecoded: Readonly<Record<RowChange['kind'], number>>
}

/**
 * Decodes the stored transactions again and brings the event tables to what they give now (rule K4): newer rows, tombstones, rows that are new. Writes
 * nothing where nothing changes, so it may be run again, also after it was killed. The price of SOL that an event has is kept (rule C1). What lies beyond
 * the storage marker is left alone: it may be stored in part. Wallets are to be folded anew afterwards.
 */
export async function redecode(deps: RedecodeDeps): Promise<Redecoded> {
  const { store, only, onProgress, rowsPerPage = only ? 2500 : 250 } = deps
  const found = {
    transactions: 0,
    passedBy: 0,
    changed: 0,
    events: { added: 0, changed: 0, removed: 0 },
    undecoded: { added: 0, changed: 0, removed: 0 },
  }
  const marker = await readStorageMarker(store)
  if (marker === null) return found
  const decimals = createStoredDecimals(store)
  for await (const page of readKept(store, {
    to: marker.slot,
    naming: only?.address ?? null,
    rowsPerPage,
  })) {
    const { records, decoded } = await decodePage(deps, page.rows, decimals)
    const stored = await readStoredRows(store, decoded, {
      only: only?.wallet ?? null,
      balancesOf: [...new Set(records.flatMap((r) => (r.kind === 'balance' ? [r.wallet] : [])))],
    })
    const changes = compareRows(stored, await withPrices(deps, records, stored))
    await write(deps, changes)
    found.transactions += page.rows.length
    found.passedBy += page.rows.length - decoded.length
    found.changed += new Set(changes.map(({ row }) => `${row.slot}/${row.tx_index}`)).size
    for (const { table, kind } of changes) {
      if (table === 'undecoded') found.undecoded[kind]++
      else if (table !== 'sol_balances') found.events[kind]++
    }
    onProgress(page.passed, page.total)
  }
  return found
}

/** What the transactions of a page give, and which of them could be looked at. */
async function decodePage(
  { decoder, only }: RedecodeDeps,
  rows: readonly KeptRow[],
  decimals: ReturnType<typeof createStoredDecimals>,
): Promise<{ records: DecodedRecord[]; decoded: KeptRow[] }> {
  const readable = rows.flatMap((row) => {
    const tx = row.bytes === null ? null : normalize({ kind: 'kept', ...row, bytes: row.bytes })
    return tx?.kind === 'transaction' && tx.index === row.txIndex ? [{ row, tx }] : []
  })
  const decode = (tx: Transaction, row: KeptRow) =>
    decoder.decode(tx, row.blockTime, (mint) => decimals.of(mint))
  const wanted = readable.flatMap(({ row, tx }) => {
    const first = decode(tx, row)
    return first.kind === 'needs_decimals' ? first.mints : []
  })
  await decimals.load(wanted)
  const records: DecodedRecord[] = []
  const decoded: KeptRow[] = []
  for (const { row, tx } of readable) {
    const result = decode(tx, row)
    if (result.kind !== 'decoded') continue
    decoded.push(row)
    for (const record of result.records)
      if (only === null || record.wallet === only.wallet) records.push(record)
  }
  return { records, decoded }
}

/**
 * The prices of swaps: what the swap has, else what another swap of its transaction has; the newest then known for a swap that was none against a quote coin
 * before. One that has no price is left to whoever fills prices in.
 */
async function withPrices(
  { store, priceMaxAgeSeconds }: RedecodeDeps,
  records: readonly DecodedRecord[],
  stored: StoredRows,
): Promise<readonly DecodedRecord[]> {
  const known = new Map<string, bigint>()
  for (const [key, row] of stored) {
    if (key.startsWith('swaps:') && row.sol_price_usd_e9 !== null)
      known.set(`${row.slot}/${row.tx_index}`, BigInt(String(row.sol_price_usd_e9)))
  }
  const times = new Set<number>()
  const places = records.map((record) => {
    if (record.kind !== 'swap' || record.quoteMint === null) return null
    const before = stored.get(rowKey(...rowOf(record, null)))
    const own = before?.sol_price_usd_e9 ?? null
    const price = own !== null ? BigInt(String(own)) : known.get(`${record.slot}/${record.txIndex}`)
    const hadQuote = before !== undefined && before.is_deleted === 0 && before.quote_mint !== null
    if (price === undefined && !hadQuote) times.add(record.blockTime)
    return { price, hadQuote }
  })
  const prices = await readSolPrices(store, times, priceMaxAgeSeconds)
  return records.map((record, at) => {
    const place = places[at]
    if (record.kind !== 'swap' || !place) return record
    const found = place.hadQuote ? null : (prices.get(record.blockTime) ?? null)
    return { ...record, solPriceUsdE9: place.price ?? found }
  })
}

async function write({ store, onWallets }: RedecodeDeps, changes: readonly RowChange[]) {
  if (changes.length === 0) return
  const folded = changes.filter(({ table }) => table !== 'undecoded')
  await onWallets([...new Set(folded.map(({ row }) => Number(row.wallet)))])
  await Promise.all(
    DECODED_TABLES.map(async (name) => {
      const rowsOf = (isRemoved: boolean): Row[] =>
        changes.flatMap(({ table, kind, row }) =>
          table === name && (kind === 'removed') === isRemoved ? [row] : [],
        )
      // Rows of one insert have the same columns.
      await insertRows(store, name, rowsOf(false))
      await insertRows(store, name, rowsOf(true))
    }),
  )
}
