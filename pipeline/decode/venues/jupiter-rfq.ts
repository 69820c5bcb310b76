import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Jupiter RFQ (order engine): a market maker and a taker exchange by token transfers. Either may be
 * the tracked wallet, and the maker signs too.
 *
 * Source: jup-ag/rfq-webhook-toolkit `order-engine-sdk` IDL.
 */
export const jupiterRfq: Program = {
  name: 'jupiter_rfq',
  id: address('61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH'),
  kind: 'venue',
  isSwap: anchorSwaps('fill'),
}
