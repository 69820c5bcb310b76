import { address } from '../../domain/address.ts'
import { anchorDiscriminator, anchorSwaps, type Program, poolReader } from '../program.ts'

const SWAPS = ['swap_base_input', 'swap_base_output'] as const

/**
 * Raydium CPMM, constant product without an order book. Not swaps: `deposit`, `withdraw`,
 * `initialize`, fees.
 *
 * Source: raydium-io/raydium-cp-swap `programs/cp-swap/src/lib.rs`; accounts:
 * `instructions/swap_base_input.rs`.
 */
export const raydiumCpmm: Program = {
  name: 'raydium_cpmm',
  id: address('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'),
  kind: 'venue',
  isSwap: anchorSwaps(...SWAPS),
  // payer, authority, amm_config, pool_state, input and output account, input_vault, output_vault,
  // ...
  poolOf: poolReader([{ prefixes: SWAPS.map(anchorDiscriminator), pool: 3, vaults: [6, 7] }]),
}
