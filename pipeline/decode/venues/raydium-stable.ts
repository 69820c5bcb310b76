import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Raydium stable swap, a curve over an order book. Entry points by one-byte tag: 9 SwapBaseIn, 11
 * SwapBaseOut. Not swaps: 3 Deposit, 4 Withdraw.
 *
 * Source: sevenlabs-hq/carbon `decoders/raydium-stable-swap-decoder` at 9dc3c3a5 (2026-04-30),
 * generated from the IDL on chain.
 */
export const raydiumStable: Program = {
  name: 'raydium_stable',
  id: address('5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h'),
  kind: 'venue',
  isSwap: tagSwaps(9, 11),
}
