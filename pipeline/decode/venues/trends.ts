import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Trends, bonding curves against WSOL. Not swaps: pools, fees of creators and of the protocol.
 *
 * Source: IDL on chain, as in cpkt9762/solana-idls `idls/trends.json` at 681ab4cc (2026-04-07);
 * jup-ag/trends-jup-sdk at ba03e595 (2026-04-30) has the same accounts.
 */
export const trends: Program = {
  name: 'trends',
  id: address('CURVEmPpijXDTNdqrA9PGP1io2rkgiVXH26xdXVGLLfz'),
  kind: 'venue',
  isSwap: anchorSwaps('swap'),
}
