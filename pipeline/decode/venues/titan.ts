import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * Titan aggregator. Its instruction data is not published (routes begin with 0x2a on mainnet), so
 * an instruction that moves two mints is a route.
 */
export const titan: Program = {
  name: 'titan',
  id: address('T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT'),
  kind: 'router',
  isSwap: opaqueSwaps,
}
