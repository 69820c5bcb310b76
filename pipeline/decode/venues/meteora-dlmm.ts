import { address } from '../../domain/address.ts'
import { anchorDiscriminator, anchorSwaps, type Program, poolReader } from '../program.ts'

const SWAPS = [
  'swap',
  'swap2',
  'swap_exact_out',
  'swap_exact_out2',
  'swap_with_price_impact',
  'swap_with_price_impact2',
] as const

/**
 * Meteora DLMM, liquidity in price bins. Not swaps: positions, fees, limit orders. An order of
 * `place_limit_order` lies in the reserve of the pair, and `cancel_limit_order` returns what was
 * filled and what was not. Both are transfers.
 *
 * Source: MeteoraAg/dlmm-sdk `idls/dlmm.json` (lb_clmm 0.12) at fb02e51a (2026-07-23).
 */
export const meteoraDlmm: Program = {
  name: 'meteora_dlmm',
  id: address('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'),
  kind: 'venue',
  isSwap: anchorSwaps(...SWAPS),
  // lb_pair, bin_array_bitmap_extension, reserve_x, reserve_y, ...
  poolOf: poolReader([{ prefixes: SWAPS.map(anchorDiscriminator), pool: 0, vaults: [2, 3] }]),
}
