import { address } from '../../domain/address.ts'
import type { EntryPoints, Program } from '../program.ts'

/** Accounts of a swap. Other instructions with these tags name fewer. */
const MIN_ACCOUNTS = 11

const swaps: EntryPoints = (data, accounts) =>
  (data[0] === 1 || data[0] === 2) && accounts.length >= MIN_ACCOUNTS ? 'two_mints' : false

/**
 * Scorch, a market maker of one operator. This program holds the tokens; it asks
 * `ojh19ojaKduoJZuaJADhcVGp4xt1TcdAvZmpVsCorch` for the price, which moves none. The code is not
 * published, so an instruction with the tag of a swap counts only if it moved two mints.
 *
 * Source: duneanalytics/spellbook, raw swaps of `scorch_solana` (tags 1 and 2, more than ten
 * accounts).
 */
export const scorch: Program = {
  name: 'scorch',
  id: address('SCoRcH8c2dpjvcJD6FiPbCSQyQgu3PcUAWj2Xxx3mqn'),
  kind: 'venue',
  isSwap: swaps,
}
