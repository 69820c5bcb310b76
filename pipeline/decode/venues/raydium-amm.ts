import { address } from '../../domain/address.ts'
import type { Instruction } from '../../domain/transaction.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Raydium AMM v4, constant product over an order book. The `v2` forms leave out the accounts of the
 * book. Entry points by one-byte tag: 9 SwapBaseIn, 11 SwapBaseOut, 16 SwapBaseInV2, 17
 * SwapBaseOutV2. Not swaps: 3 Deposit, 4 Withdraw, 1 Initialize2.
 *
 * Source: raydium-io/raydium-amm `program/src/instruction.rs` (`AmmInstruction::unpack`, and the
 * accounts of each form).
 */
export const raydiumAmm: Program = {
  name: 'raydium_amm',
  id: address('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'),
  kind: 'venue',
  isSwap: tagSwaps(9, 11, 16, 17),
  poolOf(instruction, { source, destination }) {
    const { accounts } = instruction
    const first = firstVault(instruction)
    for (const vault of [accounts[first], accounts[first + 1]])
      if (vault !== undefined && (vault === source || vault === destination))
        return accounts[1] ?? null
    return null
  },
}

/**
 * Position of the first vault. Accounts: 0 token program, 1 amm, 2 authority, 3 open orders, (4
 * target orders,) coin vault, pc vault, ... In the `v2` forms: 3 coin vault, 4 pc vault.
 */
function firstVault({ data, accounts }: Instruction): number {
  if (data[0] === 16 || data[0] === 17) return 3
  return accounts.length >= 18 ? 5 : 4
}
