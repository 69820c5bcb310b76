import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * BisonFi, a proprietary market maker. Its instruction data is not published: a call that moves two
 * mints is a swap. A call that moves none is a price update.
 */
export const bisonfi: Program = {
  name: 'bisonfi',
  id: address('BiSoNHVpsVZW2F7rx2eQ59yQwKxzU5NvBcmKshCSUypi'),
  kind: 'venue',
  isSwap: opaqueSwaps,
}
