import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Raydium CPMM, constant product without an order book. Not swaps: `deposit`, `withdraw`, `initialize`, fees.
 * Source: raydium-io/raydium-cp-swap `programs/cp-swap/src/lib.rs`.
 */
export const raydiumCpmm: Program = {
  name: 'raydium_cpmm',
  id: address('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'),
  kind: 'venue',
  isSwap: anchorSwaps('swap_base_input', 'swap_base_output'),
}
