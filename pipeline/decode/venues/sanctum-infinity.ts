import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * Sanctum Infinity, one pool of liquid staking tokens. Entry points by one-byte tag: 1 SwapExactIn,
 * 2 SwapExactOut, 23 SwapExactInV2, 24 SwapExactOutV2 (which also swap against INF, the pool's own
 * token, and mint or burn it). Not swaps: 3 AddLiquidity, 4 RemoveLiquidity, 19 and 20 rebalancing.
 *
 * Source: igneous-labs/inf-1.5 `controller/core/src/instructions` at f17cbf1e (2026-03-23), and its
 * predecessor igneous-labs/S `idl/s_controller.json` at 9fc17034.
 */
export const sanctumInfinity: Program = {
  name: 'sanctum_infinity',
  id: address('5ocnV1qiCgaQR8Jb8xWnVbApfaygJ8tNoZfgPwsgx9kx'),
  kind: 'venue',
  isSwap: tagSwaps(1, 2, 23, 24),
}
