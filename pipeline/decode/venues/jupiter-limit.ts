import { address } from '../../domain/address.ts'
import { orderReader, type Program } from '../program.ts'

/**
 * Jupiter limit orders, version 1. The order's reserve holds what the maker sells. Anyone may fill,
 * at once or as a flash fill, which takes in one top-level instruction and settles in a later one.
 *
 * Source: sevenlabs-hq/carbon `decoders/jupiter-limit-order-decoder` at 9dc3c3a5 (2026-04-30),
 * generated from the IDL on chain.
 */
export const jupiterLimitV1: Program = {
  name: 'jupiter_limit_v1',
  id: address('jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu'),
  kind: 'order',
  readOrder: orderReader([
    { name: 'initialize_order', kind: 'other', owner: 1, order: 2, escrows: [3] },
    { name: 'cancel_order', kind: 'other', order: 0, escrows: [1], owner: 2 },
    { name: 'cancel_expired_order', kind: 'other', order: 0, escrows: [1], owner: 2 },
    { name: 'fill_order', kind: 'fill', order: 0, escrows: [1], owner: 2 },
    { name: 'pre_flash_fill_order', kind: 'take', order: 0, escrows: [1], owner: null },
    { name: 'flash_fill_order', kind: 'settle', order: 0, escrows: [1], owner: 2 },
  ]),
}

/**
 * Jupiter limit orders, version 2 (also called Trigger). Like version 1, with other account
 * layouts. The accounts of `fill_order` and `cancel_dust_order` begin like those of the two
 * published forms.
 *
 * Source: sevenlabs-hq/carbon `decoders/jupiter-limit-order-2-decoder` at 9dc3c3a5 (2026-04-30),
 * generated from the IDL on chain.
 */
export const jupiterLimitV2: Program = {
  name: 'jupiter_limit_v2',
  id: address('j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X'),
  kind: 'order',
  readOrder: orderReader([
    { name: 'initialize_order', kind: 'other', owner: 1, order: 2, escrows: [3] },
    { name: 'cancel_order', kind: 'other', owner: 1, order: 2, escrows: [3] },
    { name: 'cancel_dust_order', kind: 'other', owner: 1, order: 2, escrows: [3] },
    { name: 'fill_order', kind: 'fill', owner: 1, order: 2, escrows: [3] },
    { name: 'pre_flash_fill_order', kind: 'take', order: 1, escrows: [2], owner: null },
    { name: 'flash_fill_order', kind: 'settle', owner: 1, order: 2, escrows: [3] },
  ]),
}
