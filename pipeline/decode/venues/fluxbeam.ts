import { address } from '../../domain/address.ts'
import { type Program, tagSwaps } from '../program.ts'

/**
 * FluxBeam, a token-swap program that supports Token-2022. Entry point by one-byte tag: 1 Swap. Not
 * swaps: 0 Initialize, 2 to 5 deposits and withdrawals (which mint or burn pool tokens).
 *
 * Source: solana-program-library `token-swap/program/src/instruction.rs`, of which it is a fork.
 */
export const fluxbeam: Program = {
  name: 'fluxbeam',
  id: address('FLUXubRmkEi2q6K3Y9kBPg9248ggaZVsoSFhtJHSrm1X'),
  kind: 'venue',
  isSwap: tagSwaps(1),
}
