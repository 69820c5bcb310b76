import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * Tessera, a proprietary market maker. Its instruction data is not published: a call that moves two
 * mints is a swap. A call that moves none is a price update.
 */
export const tessera: Program = {
  name: 'tessera',
  id: address('TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH'),
  kind: 'venue',
  isSwap: opaqueSwaps,
}
