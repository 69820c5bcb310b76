import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * GooseFX GAMMA, constant product pools with a fee that follows the market. Not swaps: liquidity,
 * rewards, migrations from other venues, `quote_swap`.
 *
 * Source: GooseFX1/gamma-swap `programs/gamma/src/lib.rs` at 2d26a7fa (2025-07-10).
 */
export const goosefxGamma: Program = {
  name: 'goosefx_gamma',
  id: address('GAMMA7meSFWaBXF25oSUgmGRwaW6sCMFLmBNiMSdbHVT'),
  kind: 'venue',
  isSwap: anchorSwaps('swap_base_input', 'swap_base_output', 'oracle_based_swap_base_input'),
}
