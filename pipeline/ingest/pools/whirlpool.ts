import { addressFromBytes } from '../../domain/address.ts'
import { type ReadPool, ratioOfSqrt, readU128 } from './pool-account.ts'

// Whirlpool, 653 bytes: the layout is in `../whirlpool-account.ts` (orca-so/whirlpools, programs/whirlpool/src/state/whirlpool.rs at 630c0e0).
const DISCRIMINATOR = Buffer.from('3f95d10ce1806309', 'hex')
const SIZE = 653

/** Orca Whirlpool: priced by its square root; its reserves are its vaults less what is owed to the protocol, fees that positions have not yet taken included. */
export const readWhirlpool: ReadPool = (data) => {
  if (data.length !== SIZE || !DISCRIMINATOR.equals(data.subarray(0, 8))) return 'malformed'
  const sqrtPrice = readU128(data, 65)
  if (sqrtPrice === 0n) return 'malformed'
  const key = (offset: number) => addressFromBytes(data.subarray(offset, offset + 32))
  return {
    mints: [key(101), key(181)],
    holds: {
      kind: 'vaults',
      vaults: [key(133), key(213)],
      owed: [data.readBigUInt64LE(85), data.readBigUInt64LE(93)],
    },
    price: ratioOfSqrt(sqrtPrice),
  }
}
