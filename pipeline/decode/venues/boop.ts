import { address } from '../../domain/address.ts'
import { readU64, startsWith } from '../bytes.ts'
import {
  anchorDiscriminator,
  anchorSwaps,
  type DirectCredit,
  type Program,
  type ProgramCall,
} from '../program.ts'

/**
 * boop.fun bonding curves. A sell pays the recipient out of the curve's SOL vault. Where no System
 * transfer shows the amount, the balance does. Not swaps: creation, graduation, fees.
 *
 * Source: sevenlabs-hq/carbon `decoders/boop-decoder` at 9dc3c3a5 (2026-04-30), generated from the
 * IDL on chain.
 */
export const boop: Program = {
  name: 'boop',
  id: address('boop8hVGQGqehUK2iVEMEnMrL5RbjywRzHKBmBE7ry4'),
  kind: 'venue',
  isSwap: anchorSwaps('buy_token', 'sell_token'),
  readCredit,
}

const SELL = anchorDiscriminator('sell_token')

/** `sell_token` accounts: @4 bonding_curve_sol_vault, @7 recipient; data: sell_amount u64 @8. */
function readCredit({ instructions, at }: ProgramCall): DirectCredit | null {
  const { data, accounts } = instructions[at]!
  const source = accounts[4]
  const destination = accounts[7]
  if (!startsWith(data, SELL) || source === undefined || destination === undefined) return null
  return { source, destination, lamports: null, weight: readU64(data, 8) }
}
