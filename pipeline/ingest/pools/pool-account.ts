import type { Address } from '../../domain/address.ts'

/** What belongs to a pool's first and second mint, in the order of its account. */
export type Pair<T> = readonly [first: T, second: T]

/** What the account of a pool says, whatever the program; amounts in raw units. */
export interface PoolAccount {
  readonly mints: Pair<Address>
  /** `vaults`: token accounts that hold the reserves, and what of their balances is none of the pool's. `told`: the account tells its reserves itself. */
  readonly holds:
    | { readonly kind: 'vaults'; readonly vaults: Pair<Address>; readonly owed: Pair<bigint> }
    | { readonly kind: 'told'; readonly reserves: Pair<bigint> }
  /** `ratio`: so much of the first is worth so much of the second. `reserves`: the ratio of the reserves, after so much is added that nobody has put in. */
  readonly price:
    | { readonly kind: 'ratio'; readonly amounts: Pair<bigint> }
    | { readonly kind: 'reserves'; readonly virtual: Pair<bigint> }
}

/** `closed`: a good account of a pool on which nobody trades any more. `malformed`: no account of the program's pools. */
export type PoolReading = PoolAccount | 'closed' | 'malformed'

/** Reads the data of an account of one program; never throws on bytes. `mint` is the token for which it is read: a bonding curve does not name its own. */
export type ReadPool = (data: Buffer, mint: Address) => PoolReading

/** The little-endian u128 at `offset`. */
export function readU128(data: Buffer, offset: number): bigint {
  return data.readBigUInt64LE(offset) | (data.readBigUInt64LE(offset + 8) << 64n)
}

/** The little-endian i128 at `offset`. */
export function readI128(data: Buffer, offset: number): bigint {
  return BigInt.asIntN(128, readU128(data, offset))
}

/** Price of a pool that keeps a square root, Q64.64, of the second mint for one of the first: its square, exactly. */
export function ratioOfSqrt(sqrtPriceX64: bigint): PoolAccount['price'] {
  return { kind: 'ratio', amounts: [1n << 128n, sqrtPriceX64 * sqrtPriceX64] }
}

/** Nothing is added to the reserves. */
export const OF_RESERVES: PoolAccount['price'] = { kind: 'reserves', virtual: [0n, 0n] }
