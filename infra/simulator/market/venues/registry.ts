import type { VenueName } from '../universe.ts'
import { meteoraDlmm } from './meteora-dlmm.ts'
import { orcaWhirlpool } from './orca-whirlpool.ts'
import type { Venue } from './pool.ts'
import { pumpfun } from './pumpfun.ts'
import { pumpswap } from './pumpswap.ts'
import { raydiumAmm } from './raydium-amm.ts'
import { raydiumClmm } from './raydium-clmm.ts'

/** The venues of the market. */
export const VENUES: Readonly<Record<VenueName, Venue>> = {
  pumpfun,
  pumpswap,
  raydium_amm: raydiumAmm,
  raydium_clmm: raydiumClmm,
  orca_whirlpool: orcaWhirlpool,
  meteora_dlmm: meteoraDlmm,
}
