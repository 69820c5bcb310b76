import { address } from '../../domain/address.ts'
import { readU32 } from '../bytes.ts'
import type { EntryPoints, Program } from '../program.ts'

/**
 * Data layout: 0 version u8 (0), 1 tag u32. 13 SendTake settles at once. 10 NewOrderV3 leaves what
 * it bought in the open orders account until 5 SettleFunds. It is a trade when the same top-level
 * instruction settles too, as wrappers for takers do.
 *
 * Source: openbook-dex/program and project-serum/serum-dex `dex/src/instruction.rs`
 * (`MarketInstruction::unpack`).
 */
const takes: EntryPoints = (data) => {
  if (data.length < 5 || data[0] !== 0) return false
  const tag = readU32(data, 1)
  return tag === 10 ? 'two_mints_around' : tag === 13
}

/**
 * OpenBook v1 and the Serum v3 order book that it continues. Not swaps: resting orders, cancels,
 * cranks, settling alone.
 */
export const openbookV1: readonly Program[] = [
  {
    name: 'openbook_v1',
    id: address('srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX'),
    kind: 'venue',
    isSwap: takes,
  },
  {
    name: 'serum_v3',
    id: address('9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin'),
    kind: 'venue',
    isSwap: takes,
  },
]
