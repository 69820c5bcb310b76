import type { Address } from '../../pipeline/domain/address.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import type { PublishedSwap } from '../items/trade.ts'

/** A row of table `swaps` as the store gives it: integers of 64 bits and more as decimal strings. */
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
}

/** What of a stored swap is published, with its key. */
export type StoredSwap = PublishedSwap & Pick<Swap, 'confidence' | 'quoteMismatch'> & EventKey

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
  }
}
