import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Raydium LaunchLab bonding curves. WSOL moves by token transfers. Not swaps: `initialize*`,
 * `migrate_to_*`, vesting, fees.
 *
 * Source: sevenlabs-hq/carbon `decoders/raydium-launchpad-decoder` at 9dc3c3a5 (2026-04-30),
 * generated from the IDL on chain.
 */
export const raydiumLaunchlab: Program = {
  name: 'raydium_launchlab',
  id: address('LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj'),
  kind: 'venue',
  isSwap: anchorSwaps('buy_exact_in', 'buy_exact_out', 'sell_exact_in', 'sell_exact_out'),
}
