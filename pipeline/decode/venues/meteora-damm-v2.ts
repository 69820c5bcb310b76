import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Meteora dynamic AMM v2. Not swaps: positions, liquidity, fees, rewards.
 *
 * Source: sevenlabs-hq/carbon `decoders/meteora-damm-v2-decoder` at 9dc3c3a5 (2026-04-30),
 * generated from the IDL on chain.
 */
export const meteoraDammV2: Program = {
  name: 'meteora_damm_v2',
  id: address('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap2'),
}
