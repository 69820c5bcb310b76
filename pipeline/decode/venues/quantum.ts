import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * Quantum, a proprietary market maker. Its instruction data is not published: a call that moves two
 * mints is a swap. A call that moves none is a price update.
 */
export const quantum: Program = {
  name: 'quantum',
  id: address('QuaNtZsgYRe5Z9Bk4LZ4cTD9tbkVoyCNf1R2BN9bBDv'),
  kind: 'venue',
  isSwap: opaqueSwaps,
}
