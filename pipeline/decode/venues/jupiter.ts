import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Jupiter aggregator v6. Not swaps: token ledgers, token accounts, fees, program authorities.
 *
 * Source: sevenlabs-hq/carbon `decoders/jupiter-swap-decoder` at 9dc3c3a5 (2026-04-30), generated
 * from the IDL on chain, including the `_v2` forms.
 */
const v6: Program = {
  name: 'jupiter',
  id: address('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'),
  kind: 'router',
  isSwap: anchorSwaps(
    'route',
    'route_with_token_ledger',
    'exact_out_route',
    'shared_accounts_route',
    'shared_accounts_route_with_token_ledger',
    'shared_accounts_exact_out_route',
    'route_v2',
    'exact_out_route_v2',
    'shared_accounts_route_v2',
    'shared_accounts_exact_out_route_v2',
  ),
}

/**
 * Jupiter aggregator v4 (2022 to 2023). Each venue that supports exact output has an instruction of
 * its own. Not swaps: token ledgers, open orders.
 *
 * Source: the instruction names of its IDL on chain, which public warehouses use as event types (in
 * camel case there; Anchor hashes snake case).
 */
const v4: Program = {
  name: 'jupiter',
  id: address('JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB'),
  kind: 'router',
  isSwap: anchorSwaps(
    'route',
    'whirlpool_swap_exact_output',
    'raydium_swap_exact_output',
    'raydium_clmm_swap_exact_output',
  ),
}

/** Jupiter's aggregators, newest first. */
export const jupiter: readonly Program[] = [v6, v4]
