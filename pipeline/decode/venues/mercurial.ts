import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Mercurial stable pools. Entry point by one-byte tag: 4 Exchange (in_amount u64, minimum_out u64).
 * Not swaps: liquidity.
 *
 * Source: mercurial-finance/stable-swap-n-pool-js `src/instruction/exchange.ts`.
 */
export const mercurial: Program = {
  name: 'mercurial',
  id: address('MERLuDFBMmsHnsBPZw2sDQZHvXFMwp8EdjudcU2HKky'),
  kind: 'venue',
  isSwap: tagSwaps(4),
}
