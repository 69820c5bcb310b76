import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Meteora DLMM, liquidity in price bins.
 * Source: MeteoraAg/dlmm-sdk `idls/dlmm.json` (lb_clmm 0.10).
 */
export const meteoraDlmm: Program = {
  name: 'meteora_dlmm',
  id: address('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'),
  kind: 'venue',
  isSwap: anchorSwaps(
    'swap',
    'swap2',
    'swap_exact_out',
    'swap_exact_out2',
    'swap_with_price_impact',
    'swap_with_price_impact2',
  ),
}
