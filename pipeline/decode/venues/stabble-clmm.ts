import { address } from '../../domain/address.ts'
import { anchorSwaps, type Program } from '../program.ts'

/**
 * Stabble's concentrated liquidity, a fork of Raydium's without the oldest `swap`. Not swaps:
 * positions, rewards.
 *
 * Source: stabbleorg/clmm `sdk/idl/stabble_clmm.json` at d33e714b (2026-01-20).
 */
export const stabbleClmm: Program = {
  name: 'stabble_clmm',
  id: address('6dMXqGZ3ga2dikrYS9ovDXgHGh5RUsb2RTUj6hrQXhk6'),
  kind: 'venue',
  isSwap: anchorSwaps('swap_v2', 'swap_router_base_in'),
}
