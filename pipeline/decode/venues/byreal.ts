import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Byreal, a fork of Raydium's concentrated liquidity program.
 *
 * Source: raydium-io/raydium-clmm `programs/amm/src/lib.rs`; `swap_v2` and `swap` were seen on
 * mainnet with its discriminators.
 */
export const byreal: Program = {
  name: 'byreal',
  id: address('REALQqNEomY6cQGZJUGwywTBD2UmDT32rZcNnfxQ5N2'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_v2', 'swap_router_base_in'),
}
