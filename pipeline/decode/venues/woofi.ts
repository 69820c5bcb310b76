import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * WOOFi, pools priced by an oracle. Not swaps: `query` and `try_query`, which only tell a price,
 * liquidity, lending, fees.
 *
 * Source: woonetwork/WOOFi_Solana `programs/woofi/src/lib.rs` at ff5aa7a1 (2025-01-14).
 */
export const woofi: Program = {
  name: 'woofi',
  id: address('WooFif76YGRNjk1pA8wCsN67aQsD9f9iLsz4NcJ1AVb'),
  kind: 'venue',
  isSwap: anchorSwaps('swap'),
}
