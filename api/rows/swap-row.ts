import type { Address } from '../../pipeline/domain/address.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { PublishedSwap } from '../items/trade.ts'

/** Columns of table `swaps` that are read for serving, with those that tell versions apart. */
export const SWAP_COLUMNS = `slot, tx_index, wallet, event_index, block_time, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount,
    program, confidence, quote_mismatch, version, is_deleted`

/**
 * A row of table `swaps`. Integers of 64 bits and more are decimal strings. The highest version of
 * a key counts; if it is deleted, the key has no swap.
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

/** A stored swap: the published fields and its key. */
export type StoredSwap = PublishedSwap &
  Pick<Swap, 'confidence' | 'quoteMismatch'> &
  EventKey & { readonly version: bigint }

/** Converts a row. */
export function swapOfRow(row: SwapRow): StoredSwap {
  return {
    slot: Number(row.slot),
    txIndex: row.tx_index,
    wallet: row.wallet,
    eventIndex: row.event_index,
    blockTime: row.block_time,
    side: row.side,
    baseMint: row.base_mint as Address, // was validated before it was stored
    baseAmount: BigInt(row.base_amount),
    baseDecimals: row.base_decimals,
    quoteMint: row.quote_mint as Address | null, // also validated
    quoteAmount: BigInt(row.quote_amount),
    program: row.program,
    confidence: row.confidence,
    quoteMismatch: row.quote_mismatch,
    version: BigInt(row.version),
  }
}

/**
 * Returns the row with the highest version of each key, deleted or not. Rows of one key must be
 * adjacent.
 */
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
