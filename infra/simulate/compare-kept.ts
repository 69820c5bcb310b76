import bs58 from 'bs58'
import { normalize } from '../../pipeline/ingest/wire/raw-transaction.ts'
import type { Difference, Query } from './compare.ts'
import type { TrueChain } from './true-chain.ts'

const ROWS_PER_QUERY = 500

interface KeptRow {
  readonly slot: string
  readonly tx_index: number
  readonly block_time: number
  readonly signature: string
  readonly format: string
  readonly base64: string
}

/**
 * Differences of the kept transactions (rule K4): there is one for each transaction that gave an
 * event or counts as undecodable. Its bytes are those of a transaction at this place with this
 * signature.
 */
export async function compareKept(
  query: Query,
  chain: TrueChain,
): Promise<{ differences: Difference[]; rows: number }> {
  const undecoded = await query<{ slot: string; tx_index: number; signature: string }>(
    'SELECT slot, tx_index, signature FROM undecoded FINAL',
  )
  const due = new Map<string, string>()
  for (const row of undecoded) due.set(`${row.slot}/${row.tx_index}`, row.signature)
  for (const event of chain.events) due.set(`${event.slot}/${event.txIndex}`, event.signature)
  const differences: Difference[] = []
  const differs = (row: Omit<KeptRow, 'base64'>, expected: Difference['expected']) => {
    const { slot, tx_index, block_time, signature, format } = row
    const stored = { slot, tx_index, block_time, signature, format }
    differences.push({ table: 'transactions', expected, stored })
  }
  let rows = 0
  for (let at = 0; ; at += ROWS_PER_QUERY) {
    const page = await query<KeptRow>(
      `SELECT slot, tx_index, block_time, signature, format, base64Encode(bytes) AS base64 FROM transactions FINAL WHERE is_deleted = 0
       ORDER BY slot, tx_index LIMIT ${ROWS_PER_QUERY} OFFSET ${at}`,
    )
    for (const row of page) {
      const key = `${row.slot}/${row.tx_index}`
      const signature = due.get(key)
      due.delete(key)
      if (signature === undefined) differs(row, null)
      else if (signature !== row.signature || !isReadable(row))
        differs(row, { slot: row.slot, tx_index: row.tx_index, signature, readable: true })
    }
    rows += page.length
    if (page.length < ROWS_PER_QUERY) break
  }
  for (const [key, signature] of due) {
    const [slot, txIndex] = key.split('/')
    const expected = { slot, tx_index: txIndex, signature }
    differences.push({ table: 'transactions', expected, stored: null })
  }
  return { differences, rows }
}

/** Whether the bytes decode to the transaction of the row. */
function isReadable(row: KeptRow): boolean {
  if (row.format !== 'yellowstone') return false
  const bytes = Buffer.from(row.base64, 'base64')
  const read = normalize({ kind: 'kept', slot: Number(row.slot), bytes })
  if (read.kind !== 'transaction' || read.index !== row.tx_index) return false
  return bs58.encode(read.signature) === row.signature
}
