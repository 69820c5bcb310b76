import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Raydium concentrated liquidity. `swap_router_base_in` swaps along several of its own pools. Not swaps: positions, rewards, limit orders being opened.
 * Source: raydium-io/raydium-clmm `programs/amm/src/lib.rs`.
 */
export const raydiumClmm: Program = {
  name: 'raydium_clmm',
  id: address('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_v2', 'swap_router_base_in'),
}
