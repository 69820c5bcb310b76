import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Invariant, concentrated liquidity. Not swaps: positions, fees.
 *
 * Source: invariant-labs/protocol `programs/invariant/src/lib.rs`.
 */
export const invariant: Program = {
  name: 'invariant',
  id: address('HyaB3W9q6XdA5xwpU4XnSZV94htfmbmqJXZcEbRaJutt'),
  kind: 'venue',
  isSwap: anchorSwaps('swap'),
}
