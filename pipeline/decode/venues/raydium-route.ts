import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * Raydium's own router over its pools. Its instruction data is not published (routes begin with 0
 * on mainnet), so an instruction that moves two mints is a swap.
 */
export const raydiumRoute: Program = {
  name: 'raydium_route',
  id: address('routeUGWgWzqBWFcrCfv8tritsqukccJPu3q5GPP3xS'),
  kind: 'router',
  isSwap: opaqueSwaps,
}
