import { anchorSwaps, type Program } from '../decode/program.ts'
import { address } from '../domain/address.ts'

/**
 * Example, a venue of constant product pools. Everything moves by token transfers. Not swaps:
 * `add_liquidity`, `remove_liquidity`.
 *
 * Source: the program's IDL on chain, version 0.3.0.
 */
export const example: Program = {
  name: 'example',
  id: address('EXAMPLEvenue11111111111111111111111111111111'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_exact_out'),
}
