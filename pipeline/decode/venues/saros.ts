import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Saros, a token-swap program. Entry point by one-byte tag: 1 Swap. Not swaps: 0 Initialize, 2 to 5
 * deposits and withdrawals (which mint or burn pool tokens).
 *
 * Source: solana-program-library `token-swap/program/src/instruction.rs`, of which it is a fork.
 */
export const saros: Program = {
  name: 'saros',
  id: address('SSwapUtytfBdBn1b9NUGG6foMVPtcWgpRU32HToDUZr'),
  kind: 'venue',
  isSwap: tagSwaps(1),
}
