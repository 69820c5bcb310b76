import { address } from '../../domain/address.ts'
import { anchorDiscriminator, anchorSwaps, type Program, poolReader } from '../program.ts'

/**
 * Orca Whirlpool, concentrated liquidity.
 *
 * Source: orca-so/whirlpools `programs/whirlpool/src/lib.rs`; accounts: `instructions/swap.rs`,
 * `two_hop_swap.rs`, `v2/swap.rs`, `v2/two_hop_swap.rs`.
 */
export const orcaWhirlpool: Program = {
  name: 'orca_whirlpool',
  id: address('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_v2', 'two_hop_swap', 'two_hop_swap_v2'),
  poolOf: poolReader([
    { prefixes: [anchorDiscriminator('swap')], pool: 2, vaults: [4, 6] },
    { prefixes: [anchorDiscriminator('swap_v2')], pool: 4, vaults: [8, 10] },
    // A two-hop swap has one layout per pool. The coin between the hops is not a base of the
    // wallet.
    { prefixes: [anchorDiscriminator('two_hop_swap')], pool: 2, vaults: [5, 7] },
    { prefixes: [anchorDiscriminator('two_hop_swap')], pool: 3, vaults: [9, 11] },
    { prefixes: [anchorDiscriminator('two_hop_swap_v2')], pool: 0, vaults: [9, 10] },
    { prefixes: [anchorDiscriminator('two_hop_swap_v2')], pool: 1, vaults: [11, 12] },
  ]),
}
