import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Perena's Numeraire, pools of stablecoins. Not swaps: liquidity, and `swap_exact_in_quote`, which
 * only tells a price.
 *
 * Source: IDL on chain, as in cpkt9762/solana-idls `idls/perena.json` at 681ab4cc (2026-04-07).
 */
export const perena: Program = {
  name: 'perena',
  id: address('NUMERUNsFCP3kuNmWZuXtm1AaQCPj9uw6Guv2Ekoi5P'),
  kind: 'venue',
  isSwap: anchorSwaps(
    'swap_exact_in',
    'swap_exact_in_hinted',
    'swap_exact_out',
    'swap_exact_out_hinted',
  ),
}
