import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Omnipair, pools that also lend. Not swaps: liquidity, collateral, borrowing, flash loans.
 *
 * Source: omnipair/omnipair-rs `programs/omnipair/src/lib.rs`; `swap` was seen on mainnet.
 */
export const omnipair: Program = {
  name: 'omnipair',
  id: address('omnixgS8fnqHfCcTGKWj6JtKjzpJZ1Y5y9pyFkQDkYE'),
  kind: 'venue',
  isSwap: anchorSwaps('swap'),
}
