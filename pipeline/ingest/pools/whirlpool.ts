import { addressFromBytes } from '../../domain/address.ts'
import { type ReadPool, ratioOfSqrt, readU128 } from './pool-account.ts'

// Whirlpool, 653 bytes: `whirlpool-account.ts` documents the layout (orca-so/whirlpools,
// programs/whirlpool/src/state/whirlpool.rs at 630c0e0).
const DISCRIMINATOR = Buffer.from('3f95d10ce1806309', 'hex')
const SIZE = 653

/**
 * Decodes an Orca Whirlpool, which stores a square root price. Its reserves are the vault balances
 * without the protocol's fees. They include unclaimed fees of positions.
 */
export const readWhirlpool: ReadPool = (data) => {
  if (data.length !== SIZE || !DISCRIMINATOR.equals(data.subarray(0, 8))) return 'malformed'
  const sqrtPrice = readU128(data, 65)
  if (sqrtPrice === 0n) return 'malformed'
  const key = (offset: number) => addressFromBytes(data.subarray(offset, offset + 32))
  return {
    mints: [key(101), key(181)],
    reserves: {
      kind: 'vaults',
      vaults: [key(133), key(213)],
      owed: [data.readBigUInt64LE(85), data.readBigUInt64LE(93)],
    },
    price: ratioOfSqrt(sqrtPrice),
  }
}
