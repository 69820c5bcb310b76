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
 * Moonshot (Moonit) bonding curves. A sell takes lamports from the curve and credits the sender
 * directly. Its trade event goes to the logs and does not say whether its amount is before or after
 * fees. The amount received is therefore read from the balance. Not swaps: `token_mint`,
 * `migrate_funds`.
 *
 * Source: sevenlabs-hq/carbon `decoders/moonshot-decoder` at 9dc3c3a5 (2026-04-30), generated from
 * the IDL on chain.
 */
export const moonshot: Program = {
  name: 'moonshot',
  id: address('MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG'),
  kind: 'venue',
  isSwap: anchorSwaps('buy', 'sell'),
  readCredit,
}

const SELL = anchorDiscriminator('sell')

/** `sell` accounts: @0 sender, @2 curve_account; data: token_amount u64 @8. */
function readCredit({ instructions, at }: ProgramCall): DirectCredit | null {
  const { data, accounts } = instructions[at]!
  const [destination, , source] = accounts
  if (!startsWith(data, SELL) || source === undefined || destination === undefined) return null
  return { source, destination, lamports: null, weight: readU64(data, 8) }
}
