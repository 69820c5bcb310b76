import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Manifest order book. Entry points by one-byte tag: 4 Swap, 13 SwapV2. Not swaps: 2 Deposit, 3
 * Withdraw, 6 BatchUpdate (orders within a seat), global accounts.
 *
 * Source: CKS-Systems/manifest `programs/manifest/src/program/instruction.rs`.
 */
export const manifest: Program = {
  name: 'manifest',
  id: address('MNFSTqtC93rEfYHB6hF82sKdZpUDFWkViLByLd1k1Ms'),
  kind: 'venue',
  isSwap: tagSwaps(4, 13),
}
