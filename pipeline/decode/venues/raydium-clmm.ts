import { address } from '../../domain/address.ts'
import { startsWith } from '../bytes.ts'
import {
  anchorDiscriminator,
  anchorSwaps,
  type PoolReader,
  type Program,
  poolReader,
} from '../program.ts'

const SINGLE = ['swap', 'swap_v2'].map(anchorDiscriminator)
const ROUTE = anchorDiscriminator('swap_router_base_in')

/**
 * Raydium concentrated liquidity. `swap_router_base_in` swaps along several of its own pools. Not
 * swaps: positions, rewards, limit orders. An order of `open_limit_order` or `increase_limit_order`
 * lies in the vault of the pool; what was filled comes with `settle_limit_order` or
 * `decrease_limit_order`, which the program's keeper may sign. Both are transfers.
 *
 * Source: raydium-io/raydium-clmm `programs/amm/src/lib.rs` at 03b44b7f (2026-07-16); accounts:
 * `instructions/swap.rs`, `swap_v2.rs`, `swap_router_base_in.rs`.
 */
export const raydiumClmm: Program = {
  name: 'raydium_clmm',
  id: address('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_v2', 'swap_router_base_in'),
  poolOf: (instruction, move) =>
    startsWith(instruction.data, ROUTE)
      ? poolOfRoute(instruction, move)
      : poolOfSwap(instruction, move),
}

/**
 * Accounts: payer, amm_config, pool_state, input and output account, input_vault, output_vault, ...
 */
const poolOfSwap = poolReader([{ prefixes: SINGLE, pool: 2, vaults: [5, 6] }])

/**
 * After six accounts, for each hop: amm_config, pool_state, output account, input_vault,
 * output_vault, output mint, observation, and as many tick arrays as it needs. Only the data of the
 * accounts shows where a hop begins. The pool is therefore found from its vault backwards, by the
 * direction of the tokens.
 */
const poolOfRoute: PoolReader = ({ accounts }, { source, destination }) => {
  for (let index = 9; index < accounts.length; index++) {
    if (accounts[index] === destination) return accounts[index - 2]!
    if (index > 9 && accounts[index] === source) return accounts[index - 3]!
  }
  return null
}
