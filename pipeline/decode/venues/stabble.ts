import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Stabble's stable and weighted pools. Not swaps: `deposit`, `withdraw`, pool parameters.
 *
 * Source: sevenlabs-hq/carbon `decoders/stabble-stable-swap-decoder` and
 * `stabble-weighted-swap-decoder` at 9dc3c3a5 (2026-04-30), generated from the IDL on chain.
 */
export const stabble: readonly Program[] = [
  {
    name: 'stabble',
    id: address('swapNyd8XiQwJ6ianp9snpu4brUqFxadzvHebnAXjJZ'),
    kind: 'venue',
    isSwap: anchorSwaps('swap', 'swap_v2'),
  },
  {
    name: 'stabble_weighted',
    id: address('swapFpHZwjELNnjvThjajtiVmkz3yPQEHjLtka2fwHW'),
    kind: 'venue',
    isSwap: anchorSwaps('swap', 'swap_v2'),
  },
]
