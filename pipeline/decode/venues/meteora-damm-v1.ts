import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Meteora dynamic AMM v1. Its reserves lie in Meteora vaults: a swap deposits into one vault and
 * withdraws from the other. Not swaps: liquidity, pool creation, locks.
 *
 * Source: sevenlabs-hq/carbon `decoders/meteora-pools-decoder` at 9dc3c3a5 (2026-04-30), generated
 * from the IDL on chain.
 */
export const meteoraDammV1: Program = {
  name: 'meteora_damm_v1',
  id: address('Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'),
  kind: 'venue',
  isSwap: anchorSwaps('swap'),
}
