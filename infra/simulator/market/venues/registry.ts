import type { Key } from '../key.ts'
import type { VenueName } from '../universe.ts'
import type { Venue } from './pool.ts'
import { PUMPFUN, pumpfun } from './pumpfun.ts'

/** The venues of the market with the program whose instruction they are. */
export const VENUES: Partial<Record<VenueName, { readonly venue: Venue; readonly program: Key }>> =
  {
    pumpfun: { venue: pumpfun, program: PUMPFUN },
  }
