import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Cropper, a fork of Whirlpool.
 *
 * Source: orca-so/whirlpools `programs/whirlpool/src/lib.rs`; `swap` with 42 bytes of data was seen
 * on mainnet.
 */
export const cropper: Program = {
  name: 'cropper',
  id: address('H8W3ctz92svYg6mkn1UtGfu2aQr2fnUFHM1RhScEtQDt'),
  kind: 'venue',
  isSwap: anchorSwaps('swap', 'swap_v2', 'two_hop_swap', 'two_hop_swap_v2'),
}
