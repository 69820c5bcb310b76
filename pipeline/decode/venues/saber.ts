import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Saber stable swap. Entry point by one-byte tag: 1 Swap. Not swaps: 0 Initialize, 2 Deposit, 3
 * Withdraw, 4 WithdrawOne.
 *
 * Source: saber-hq/stable-swap `stable-swap-client/src/instruction.rs`.
 */
export const saber: Program = {
  name: 'saber',
  id: address('SSwpkEEcbUqx4vtoEByFjSkhKdCT862DNVb52nZg1UZ'),
  kind: 'venue',
  isSwap: tagSwaps(1),
}
