import type { VenueName } from '../universe.ts'
import { meteoraDlmmVenue } from './meteora-dlmm.ts'
import { orcaWhirlpoolVenue } from './orca-whirlpool.ts'
import type { Venue } from './pool.ts'
import { pumpfunVenue } from './pumpfun.ts'
import { pumpswapVenue } from './pumpswap.ts'
import { raydiumAmmVenue } from './raydium-amm.ts'
import { raydiumClmmVenue } from './raydium-clmm.ts'

/** The venues of the market. */
export const VENUES: Readonly<Record<VenueName, Venue>> = {
  pumpfun: pumpfunVenue,
  pumpswap: pumpswapVenue,
  raydium_amm: raydiumAmmVenue,
  raydium_clmm: raydiumClmmVenue,
  orca_whirlpool: orcaWhirlpoolVenue,
  meteora_dlmm: meteoraDlmmVenue,
}
