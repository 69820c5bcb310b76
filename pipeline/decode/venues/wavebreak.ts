import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Wavebreak, Orca's bonding curves. A buy mints the token, a sale burns it. Entry points by
 * one-byte tag: 8 TokenBuyExactIn, 9 TokenBuyExactOut, 10 TokenSellExactIn, 11 TokenSellExactOut.
 * Not swaps: 12 TokenRefund, launches, graduations.
 *
 * Source: sevenlabs-hq/carbon `decoders/wavebreak-decoder` at 9dc3c3a5 (2026-04-30), generated from
 * the IDL on chain.
 */
export const wavebreak: Program = {
  name: 'wavebreak',
  id: address('waveQX2yP3H1pVU8djGvEHmYg8uamQ84AuyGtpsrXTF'),
  kind: 'venue',
  isSwap: tagSwaps(8, 9, 10, 11),
}
