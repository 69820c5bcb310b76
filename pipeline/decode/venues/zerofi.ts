import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * ZeroFi, a proprietary market maker. Its instruction data is not published: a call that moves two
 * mints is a swap. A call that moves none is a price update.
 */
export const zerofi: Program = {
  name: 'zerofi',
  id: address('ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY'),
  kind: 'venue',
  isSwap: opaqueSwaps,
}
