import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Aldrin AMM, versions 1 and 2 (stable curves). Not swaps: liquidity in baskets (`create_basket`,
 * `redeem_basket`), farming.
 *
 * Source: aldrin-exchange/aldrin-sdk `src/pools/` (Anchor, `swap(tokens, min_tokens, side)`).
 */
export const aldrin: readonly Program[] = [
  {
    name: 'aldrin_v1',
    id: address('AMM55ShdkoGRB5jVYPjWziwk8m5MpwyDgsMWHaMSQWH6'),
    kind: 'venue',
    isSwap: anchorSwaps('swap'),
  },
  {
    name: 'aldrin_v2',
    id: address('CURVGoZn8zycx6FXwwevgBTB2gVvdbGTEpvMJDbgs2t4'),
    kind: 'venue',
    isSwap: anchorSwaps('swap'),
  },
]
