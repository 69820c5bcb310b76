import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * FusionAMM of DefiTuna: concentrated liquidity with limit orders, made from Orca's Whirlpools. Not
 * swaps: positions, fees, limit orders (an order rests in the pool until it is decreased or
 * closed).
 *
 * Source: DefiTuna/fusionamm-sdk `target/idl/fusionamm.json` 1.1.4 at 683c52d6 (2026-06-28).
 */
export const defituna: Program = {
  name: 'defituna',
  id: address('fUSioN9YKKSa3CUC2YUc4tPkHJ5Y6XW1yz8y6F7qWz9'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'two_hop_swap'),
}
