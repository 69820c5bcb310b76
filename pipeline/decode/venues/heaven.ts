import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Heaven, launch pools that trade from the first block. WSOL moves by token transfers. Not swaps:
 * pool creation, creator and protocol fees, lending of reserves.
 *
 * Source: sevenlabs-hq/carbon `decoders/heaven-decoder` at 9dc3c3a5 (2026-04-30), generated from
 * the IDL on chain.
 */
export const heaven: Program = {
  name: 'heaven',
  id: address('HEAVENoP2qxoeuF8Dj2oT1GHEnu49U5mJYkdeC8BAX2o'),
  kind: 'venue',
  isSwap: anchorSwaps('buy', 'sell'),
}
