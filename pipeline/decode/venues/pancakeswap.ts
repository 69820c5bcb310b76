import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * PancakeSwap, a fork of Raydium's concentrated liquidity program.
 *
 * Source: sevenlabs-hq/carbon `decoders/pancake-swap-decoder` at 9dc3c3a5 (2026-04-30), generated
 * from the IDL on chain.
 */
export const pancakeswap: Program = {
  name: 'pancakeswap',
  id: address('HpNfyc2Saw7RKkQd8nEL4khUcuPhQ7WwY1B2qjx8jxFq'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_v2', 'swap_router_base_in'),
}
