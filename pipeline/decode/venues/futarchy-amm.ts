import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * MetaDAO's futarchy AMM: spot swaps of a DAO's token, and swaps of conditional tokens while a
 * proposal runs. Not swaps: liquidity, proposals, staking.
 *
 * Source: metaDAOproject/programs `programs/futarchy/src/lib.rs`.
 */
export const futarchyAmm: Program = {
  name: 'futarchy_amm',
  id: address('FUTARELBfJfQ8RDGhg1wdhddq1odMAJUePHFuBYfUxKq'),
  kind: 'venue',
  isSwap: anchorSwaps('spot_swap', 'conditional_swap'),
}
