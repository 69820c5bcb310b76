import { address } from '../../../pipeline/domain/address.ts'
import type { Swap } from '../../../pipeline/domain/event.ts'
import { WSOL } from '../../../pipeline/domain/quote.ts'
import type { SlotMarker } from '../../../pipeline/domain/slot.ts'

/** The token of every trade of `tradesSlot`. */
export const TRADED = address('DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263')

/** A slot for the log with a trade of each of these wallets. Its block time is its number. */
export function tradesSlot(
  slot: number,
  wallets: readonly number[],
): { readonly marker: SlotMarker; readonly records: Swap[] } {
  const records = wallets.map(
    (wallet, txIndex): Swap => ({
      kind: 'swap',
      slot,
      txIndex,
      wallet,
      eventIndex: 0,
      blockTime: slot,
      signature: '5'.repeat(88),
      side: 'buy',
      baseMint: TRADED,
      baseAmount: 123_456_789_012n,
      baseDecimals: 6,
      quoteMint: WSOL,
      quoteAmount: 1_500_000_000n,
      program: 'pumpswap',
      programId: TRADED,
      pool: TRADED,
      confidence: 'high',
      quoteMismatch: false,
      feeLamports: 0n,
      solPriceUsdE9: null,
    }),
  )
  const marker = {
    slot,
    parent: slot - 1,
    blockTime: slot,
    solPrice: null,
    blockId: null,
    finalized: null,
  }
  return { marker, records }
}
