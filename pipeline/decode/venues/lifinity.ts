import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Lifinity, a proactive market maker with oracle prices, versions 2 and 1. Not swaps: liquidity,
 * oracle and parameter updates.
 *
 * Source: sevenlabs-hq/carbon `decoders/lifinity-amm-v2-decoder` at 9dc3c3a5 (2026-04-30),
 * generated from the IDL on chain. Version 1 has the same entry point (Lifinity-Labs
 * `lifinity-amm-v1` IDL).
 */
export const lifinity: readonly Program[] = [
  {
    name: 'lifinity_v2',
    id: address('2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c'),
    kind: 'venue',
    isSwap: anchorSwaps('swap'),
  },
  {
    name: 'lifinity_v1',
    id: address('EewxydAPCCVuNEyrVN68PuSYdQ7wKn27V9Gjeoi8dy3S'),
    kind: 'venue',
    isSwap: anchorSwaps('swap'),
  },
]
