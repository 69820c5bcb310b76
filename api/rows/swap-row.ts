import type { Address } from '../../pipeline/domain/address.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { PublishedSwap } from '../items/trade.ts'

/** What of table `swaps` is served, and which version of a swap a row is. */
export const SWAP_COLUMNS = `slot, tx_index, wallet, event_index, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount,
    program, confidence, quote_mismatch, version, is_deleted`

/**
 * A row of table `swaps` as the store gives it: integers of 64 bits and more as decimal strings. Of
 * the rows of one key the highest version counts, and none when that is deleted.
 */
export interface SwapRow {
  readonly slot: string
  readonly tx_index: number
  readonly wallet: number
  readonly event_index: number
  readonly block_time: number
  readonly side: 'buy' | 'sell'
  readonly base_mint: string
  readonly base_amount: string
  readonly base_decimals: number
  readonly quote_mint: string | null
  readonly quote_amount: string
  readonly program: string
  readonly confidence: 'high' | 'delta_only'
  readonly quote_mismatch: boolean
  readonly version: string
  readonly is_deleted: number
}

/** What of a stored swap is published, with its key. */
export type StoredSwap = PublishedSwap &
  Pick<Swap, 'confidence' | 'quoteMismatch'> &
  EventKey & { readonly version: bigint }

/** Reads a row of the store. */
export function swapOfRow(row: SwapRow): StoredSwap {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    wallet: row.wallet,
    eventIndex: row.event_index,
    blockTime: row.block_time,
    side: row.side,
    baseMint: row.base_mint as Address, // was one when it was stored
    baseAmount: BigInt(row.base_amount),
    baseDecimals: row.base_decimals,
    quoteMint: row.quote_mint as Address | null, // likewise
    quoteAmount: BigInt(row.quote_amount),
    program: row.program,
    confidence: row.confidence,
    quoteMismatch: row.quote_mismatch,
    version: BigInt(row.version),
  }
}

/** The row that counts of each key, deleted or not; rows of one key lie side by side. */
export function newestVersions<R extends SwapRow>(rows: readonly R[]): R[] {
  const newest: R[] = []
  for (const row of rows) {
    const known = newest.at(-1)
    if (known === undefined || !isSameKey(known, row)) newest.push(row)
    else if (BigInt(row.version) > BigInt(known.version)) newest[newest.length - 1] = row
  }
  return newest
}

function isSameKey(a: SwapRow, b: SwapRow): boolean {
  return (
    a.slot === b.slot &&
    a.tx_index === b.tx_index &&
    a.wallet === b.wallet &&
    a.event_index === b.event_index
  )
}
