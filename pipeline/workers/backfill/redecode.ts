import type { Decoder } from '../../decode/decoder.ts'
import type { Address } from '../../domain/address.ts'
import type { DecodedRecord } from '../../domain/slot.ts'
import type { Transaction } from '../../domain/transaction.ts'
import { normalize } from '../../ingest/wire/raw-transaction.ts'
import type { Store } from '../../store/store.ts'
import { rowKey } from '../../store/tables/decoded-rows.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { readSolPrices } from '../../store/tables/sol-prices.ts'
import { readStoredTransactions, type StoredTransaction } from '../../store/tables/transactions.ts'
import { decodedRow } from '../fold/event-rows.ts'
import {
  compareRows,
  insertChanges,
  type RowChange,
  readStoredRows,
  type StoredRows,
} from '../fold/redecoded-rows.ts'
import { createStoredDecimals } from './stored-decimals.ts'

/** Dependencies of a redecode. */
export interface RedecodeDeps {
  readonly store: Store
  /** A decoder for all tracked wallets. */
  readonly decoder: Decoder
  /** The one wallet whose events are compared; null for all. */
  readonly only: { readonly wallet: number; readonly address: Address } | null
  readonly priceMaxAgeSeconds: number
  /**
   * Transactions read together: a few kilobytes each, at most half a megabyte. By default 250; 2500
   * for one wallet, because few transactions name it.
   */
  readonly rowsPerPage?: number
  /** Called with wallets before any of their events or balances is changed. */
  readonly onWallets: (wallets: readonly number[]) => Promise<void>
  /** Called after each page with the number of transactions done, of how many. */
  readonly onProgress: (done: number, total: number | null) => void
}

/** The counts of a redecode. */
export interface RedecodeSummary {
  /** Transactions read from table `transactions`. */
  readonly transactions: number
  /**
   * Number of transactions left unchanged: without bytes, unreadable, or with a mint of unknown
   * decimals.
   */
  readonly passedBy: number
  /** Number of transactions whose rows changed. */
  readonly changed: number
  /** Rows of swaps, transfers and SOL transfers written. */
  readonly events: Readonly<Record<ChangeKind, number>>
  /** Rows of table `undecoded` written. */
  readonly undecoded: Readonly<Record<ChangeKind, number>>
}

type ChangeKind = Exclude<RowChange['kind'], 'restamped'>

/**
 * Decodes the stored transactions again and updates the event tables (rule K4): new rows, newer
 * versions, tombstones. Writes only differences, so it may run again, also after a crash. An event
 * keeps its SOL price (rule C1). Slots beyond the storage marker are left out, because they may be
 * stored in part. The caller refolds the wallets afterwards.
 */
export async function redecode(deps: RedecodeDeps): Promise<RedecodeSummary> {
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
  for await (const page of readStoredTransactions(store, {
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
      if (kind === 'restamped') continue
      if (table === 'undecoded') found.undecoded[kind]++
      else if (table !== 'sol_balances') found.events[kind]++
    }
    onProgress(page.passed, page.total)
  }
  return found
}

/** Decodes a page. `decoded` are the transactions that could be decoded. */
async function decodePage(
  { decoder, only }: RedecodeDeps,
  rows: readonly StoredTransaction[],
  decimals: ReturnType<typeof createStoredDecimals>,
): Promise<{ records: DecodedRecord[]; decoded: StoredTransaction[] }> {
  const readable = rows.flatMap((row) => {
    const tx = row.bytes === null ? null : normalize({ kind: 'kept', ...row, bytes: row.bytes })
    return tx?.kind === 'transaction' && tx.index === row.txIndex ? [{ row, tx }] : []
  })
  const decode = (tx: Transaction, row: StoredTransaction) =>
    decoder.decode(tx, row.blockTime, (mint) => decimals.of(mint))
  const wanted = readable.flatMap(({ row, tx }) => {
    const first = decode(tx, row)
    return first.kind === 'needs_decimals' ? first.mints : []
  })
  await decimals.load(wanted)
  const records: DecodedRecord[] = []
  const decoded: StoredTransaction[] = []
  for (const { row, tx } of readable) {
    const result = decode(tx, row)
    if (result.kind !== 'decoded') continue
    decoded.push(row)
    // Only some transactions are kept, and a chain of links with holes would look broken.
    for (const record of result.records)
      if (record.kind !== 'token_link' && (only === null || record.wallet === only.wallet))
        records.push(record)
  }
  return { records, decoded }
}

/**
 * Adds SOL prices to swaps: the price of the stored swap, else of another swap of its transaction.
 * A swap that had no quote coin before gets the newest price at its time. The worker of
 * `price-fill.ts` adds prices to the others.
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
  const priceSources = records.map((record) => {
    if (record.kind !== 'swap' || record.quoteMint === null) return null
    const before = stored.get(rowKey(...decodedRow(record, null)))
    const own = before?.sol_price_usd_e9 ?? null
    const price = own !== null ? BigInt(String(own)) : known.get(`${record.slot}/${record.txIndex}`)
    const hadQuote = before !== undefined && before.is_deleted === 0 && before.quote_mint !== null
    if (price === undefined && !hadQuote) times.add(record.blockTime)
    return { price, hadQuote }
  })
  const prices = await readSolPrices(store, times, priceMaxAgeSeconds)
  return records.map((record, at) => {
    const source = priceSources[at]
    if (record.kind !== 'swap' || !source) return record
    const found = source.hadQuote ? null : (prices.get(record.blockTime) ?? null)
    return { ...record, solPriceUsdE9: source.price ?? found }
  })
}

async function write({ store, onWallets }: RedecodeDeps, changes: readonly RowChange[]) {
  if (changes.length === 0) return
  const folded = changes.filter(({ table }) => table !== 'undecoded')
  await onWallets([...new Set(folded.map(({ row }) => Number(row.wallet)))])
  await insertChanges(store, changes)
}
