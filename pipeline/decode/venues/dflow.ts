import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * DFlow aggregator v4. Not swaps: orders that others open, fill and close later, wrapping, fee
 * transfers, referral accounts.
 *
 * Source: sevenlabs-hq/carbon `decoders/dflow-aggregator-v4-decoder` at 9dc3c3a5 (2026-04-30),
 * generated from the IDL on chain.
 */
export const dflow: Program = {
  name: 'dflow',
  id: address('DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH'),
  kind: 'router',
  isSwap: anchorSwaps(
    'swap',
    'swap2',
    'swap_with_destination',
    'swap2_with_destination',
    'swap_with_destination_native',
    'swap2_with_destination_native',
  ),
}
