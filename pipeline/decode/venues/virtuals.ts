import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Virtuals, bonding curves of agent tokens against VIRTUAL. Everything moves by token transfers.
 * Not swaps: launches, migrations to a Meteora pool, fees.
 *
 * Source: sevenlabs-hq/carbon `decoders/virtuals-decoder` at 9dc3c3a5 (2026-04-30), generated from
 * the IDL on chain.
 */
export const virtuals: Program = {
  name: 'virtuals',
  id: address('5U3EU2ubXtK84QcRjWVmYt9RaDyA8gKxdUrPFXmZyaki'),
  kind: 'venue',
  isSwap: anchorSwaps('buy', 'sell'),
}
