import type { Address } from '../../domain/address.ts'

/** A value for each of a pool's two mints, in the order of the pool's account. */
export type Pair<T> = readonly [first: T, second: T]

/** The decoded account of a pool of any program. Amounts are raw units. */
export interface DecodedPool {
  readonly mints: Pair<Address>
  /**
   * Location of the reserves.
   * - `vaults`: in two token accounts. `owed` is the part of their balances that is not the pool's,
   *   such as fees of the protocol.
   * - `account`: the pool's account states them.
   */
  readonly reserves:
    | { readonly kind: 'vaults'; readonly vaults: Pair<Address>; readonly owed: Pair<bigint> }
    | { readonly kind: 'account'; readonly amounts: Pair<bigint> }
  /**
   * How the price is computed.
   * - `ratio`: `amounts[0]` of the first mint is worth `amounts[1]` of the second.
   * - `reserves`: the ratio of the reserves, each increased by its `virtual` amount.
   */
  readonly price:
    | { readonly kind: 'ratio'; readonly amounts: Pair<bigint> }
    | { readonly kind: 'reserves'; readonly virtual: Pair<bigint> }
}

/**
 * A decoded pool. `closed`: a valid pool that no longer trades. `malformed`: no pool account of the
 * program.
 */
export type PoolReading = DecodedPool | 'closed' | 'malformed'

/**
 * Decodes a pool account of one program. Never throws on bytes. `mint` is a token of the pool: the
 * account of a bonding curve does not name its token.
 */
export type ReadPool = (data: Buffer, mint: Address) => PoolReading

/** The little-endian u128 at `offset`. */
export function readU128(data: Buffer, offset: number): bigint {
  return data.readBigUInt64LE(offset) | (data.readBigUInt64LE(offset + 8) << 64n)
}

/** The little-endian i128 at `offset`. */
export function readI128(data: Buffer, offset: number): bigint {
  return BigInt.asIntN(128, readU128(data, offset))
}

/**
 * The exact price of a pool that stores a square root price: the square root, as Q64.64, of the
 * amount of the second mint for one of the first.
 */
export function ratioOfSqrt(sqrtPriceX64: bigint): DecodedPool['price'] {
  return { kind: 'ratio', amounts: [1n << 128n, sqrtPriceX64 * sqrtPriceX64] }
}

/** The price is the ratio of the reserves, without virtual amounts. */
export const RESERVES_RATIO: DecodedPool['price'] = { kind: 'reserves', virtual: [0n, 0n] }
