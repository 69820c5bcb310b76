import { address } from '../../domain/address.ts'
import { orderReader, type Program } from '../program.ts'

/**
 * Jupiter DCA. `in_ata` of an order holds the tokens to sell. `out_ata` holds the tokens bought,
 * until `transfer` or the end of the order pays them to the user.
 *
 * Keepers fill by flash fills that do not name the user. The owner is known only if another
 * instruction of the transaction names it.
 *
 * Source: sevenlabs-hq/carbon `decoders/jupiter-dca-decoder` at 9dc3c3a5 (2026-04-30), generated
 * from the IDL on chain.
 */
export const jupiterDca: Program = {
  name: 'jupiter_dca',
  id: address('DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M'),
  kind: 'order',
  readOrder: orderReader([
    { name: 'open_dca', kind: 'other', order: 0, owner: 1, escrows: [5, 6] },
    { name: 'open_dca_v2', kind: 'other', order: 0, owner: 1, escrows: [6, 7] },
    { name: 'deposit', kind: 'other', owner: 0, order: 1, escrows: [2] },
    { name: 'withdraw', kind: 'other', owner: 0, order: 1, escrows: [4] },
    { name: 'close_dca', kind: 'other', owner: 0, order: 1, escrows: [4, 5] },
    // The intermediate account unwraps SOL on its way from `out_ata` to the user.
    { name: 'transfer', kind: 'other', order: 1, owner: 2, escrows: [4, 6] },
    { name: 'end_and_close', kind: 'other', order: 1, owner: 6, escrows: [4, 5, 9] },
    { name: 'initiate_flash_fill', kind: 'take', order: 1, owner: null, escrows: [4, 5] },
    { name: 'initiate_dlmm_fill', kind: 'take', order: 1, owner: null, escrows: [4, 5] },
    { name: 'fulfill_flash_fill', kind: 'settle', order: 1, owner: null, escrows: [5, 6] },
    { name: 'fulfill_dlmm_fill', kind: 'settle', order: 1, owner: null, escrows: [5, 6] },
  ]),
}
