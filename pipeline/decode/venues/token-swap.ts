import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * The Solana Program Library's token-swap. Entry point by one-byte tag: 1 Swap. Not swaps: 0
 * Initialize, 2 to 5 deposits and withdrawals (which mint or burn pool tokens).
 *
 * Source: solana-program-library `token-swap/program/src/instruction.rs`, of which it is a
 * deployment.
 */
export const tokenSwap: Program = {
  name: 'token_swap',
  id: address('SwaPpA9LAaLfeLi3a68M4DjnLqgtticKg6CnyNwgAC8'),
  kind: 'venue',
  isSwap: tagSwaps(1),
}
