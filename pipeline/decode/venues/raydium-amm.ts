import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Raydium AMM v4, constant product over an order book (until the `v2` forms, which leave the book's accounts out).
 * Entry points by one-byte tag: 9 SwapBaseIn, 11 SwapBaseOut, 16 SwapBaseInV2, 17 SwapBaseOutV2. Not swaps: 3 Deposit, 4 Withdraw, 1 Initialize2.
 * Source: raydium-io/raydium-amm `program/src/instruction.rs` (`AmmInstruction::unpack`).
 */
export const raydiumAmm: Program = {
  name: 'raydium_amm',
  id: address('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'),
  kind: 'venue',
  isSwap: tagSwaps(9, 11, 16, 17),
}
