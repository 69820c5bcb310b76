import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * OpenBook v2 order book. A taker order settles at once. Not swaps: orders that rest or fill within
 * an open orders account, whose funds move when they are settled.
 *
 * Source: openbook-dex/openbook-v2 `programs/openbook-v2/src/lib.rs`.
 */
export const openbookV2: Program = {
  name: 'openbook_v2',
  id: address('opnb2LAfJYbRMAHHvqjCwQxanZn7ReEHp1k81EohpZb'),
  kind: 'venue',
  isSwap: anchorSwaps('place_take_order'),
}
