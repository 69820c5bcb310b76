import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * HumidiFi, a proprietary market maker. Its instruction data is not published: a call that moves
 * two mints is a swap. A call that moves none is a price update.
 */
export const humidifi: Program = {
  name: 'humidifi',
  id: address('9H6tua7jkLhdm3w8BvgpTn5LZNU7g4ZynDmCiNN3q6Rp'),
  kind: 'venue',
  isSwap: opaqueSwaps,
}
