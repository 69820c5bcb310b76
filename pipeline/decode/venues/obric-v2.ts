import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * Obric, a proprietary market maker. Its instruction data is not published: a call that moves two
 * mints is a swap. A call that moves none is a price update.
 */
export const obricV2: Program = {
  name: 'obric_v2',
  id: address('obriQD1zbpyLz95G5n7nJe6a4DPjpFwa5XYPoNm113y'),
  kind: 'venue',
  isSwap: opaqueSwaps,
}
