import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Saros DLMM, liquidity in price bins. Not swaps: positions, pairs, fees.
 *
 * Source: saros-xyz/dlmm-saros-sdk `src/constants/idl/liquidity_book.json` at 5a228e78
 * (2025-11-19).
 */
export const sarosDlmm: Program = {
  name: 'saros_dlmm',
  id: address('1qbkdrr3z4ryLA7pZykqxvxWPoeifcVKo6ZG9CfkvVE'),
  kind: 'venue',
  isSwap: anchorSwaps('swap'),
}
