import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * AlphaQ, a proprietary market maker. Its instruction data is not published: a call that moves two
 * mints is a swap. A call that moves none is a price update.
 */
export const alphaq: Program = {
  name: 'alphaq',
  id: address('ALPHAQmeA7bjrVuccPsYPiCvsi428SNwte66Srvs4pHA'),
  kind: 'venue',
  isSwap: opaqueSwaps,
}
