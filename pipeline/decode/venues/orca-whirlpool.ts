import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Orca Whirlpool, concentrated liquidity.
 * Source: orca-so/whirlpools `programs/whirlpool/src/lib.rs`.
 */
export const orcaWhirlpool: Program = {
  name: 'orca_whirlpool',
  id: address('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_v2', 'two_hop_swap', 'two_hop_swap_v2'),
}
