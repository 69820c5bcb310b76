import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Meteora dynamic bonding curves. Not swaps: pool creation, migration, fees.
 *
 * Source: sevenlabs-hq/carbon `decoders/meteora-dbc-decoder` at 9dc3c3a5 (2026-04-30), generated
 * from the IDL on chain.
 */
export const meteoraDbc: Program = {
  name: 'meteora_dbc',
  id: address('dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap2'),
}
