import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * GoonFi, a proprietary market maker, versions 1 and 2. Its instruction data is not published: a
 * call that moves two mints is a swap. A call that moves none is a price update.
 */
export const goonfi: readonly Program[] = [
  'goonERTdGsjnkZqWuVjs73BZ3Pb9qoCUdBUL17BnS5j',
  'goonuddtQRrWqqn5nFyczVKaie28f3kDkHWkHtURSLE',
].map((id) => ({
  name: 'goonfi',
  id: address(id),
  kind: 'venue',
  isSwap: opaqueSwaps,
}))
