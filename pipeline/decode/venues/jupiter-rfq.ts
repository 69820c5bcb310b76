import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Jupiter RFQ: a market maker and a taker exchange by token transfers. Either may be the tracked
 * wallet, and the maker signs too.
 *
 * Sources: jup-ag/rfq-webhook-toolkit `order-engine-sdk` IDL (order engine); jup-ag/rfq-v2-sdk
 * `fill-decoder/src/decode.rs` at b111be71 (version 2).
 */
export const jupiterRfq: readonly Program[] = [
  {
    name: 'jupiter_rfq',
    id: address('61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH'),
    kind: 'venue',
    isSwap: anchorSwaps('fill'),
  },
  {
    name: 'jupiter_rfq',
    id: address('fd3nMFYTQjX1yr5ER8u7tPdHJB7qt8RpDpNtLQX2Br5'),
    kind: 'venue',
    isSwap: anchorSwaps('fill_exact_in'),
  },
]
