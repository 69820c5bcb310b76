import { addressFromBytes } from '../../domain/address.ts'
import type { ReadPool } from './pool-account.ts'

// LbPair, 904 bytes (MeteoraAg/dlmm-sdk, idls/dlmm.json, lb_clmm 0.12.0 at fb02e51):
//    0 [u8; 8] discriminator   8 StaticParameters (32)   40 VariableParameters (32)
//   72 u8 bump_seed   73 [u8; 2] bin_step_seed   75 u8 pair_type   76 i32 active_id
//   80 u16 bin_step   82 u8 status   83 u8 x 5   88 Pubkey token_x_mint   120 Pubkey token_y_mint
//  152 Pubkey reserve_x   184 Pubkey reserve_y   216 u64 protocol_fee.amount_x   224 u64 .amount_y
//  232 ...
const DISCRIMINATOR = Buffer.from('210b3162b565b10d', 'hex')
const SIZE = 904

/**
 * Decodes a pair of Meteora DLMM. Its price is that of the active bin; all trades within a bin have
 * the same price. Reserves are those of all bins without the protocol's fees. They include
 * unclaimed fees of positions.
 */
export const readDlmmPair: ReadPool = (data) => {
  if (data.length !== SIZE || !DISCRIMINATOR.equals(data.subarray(0, 8))) return 'malformed'
  const price = binPriceX64(data.readInt32LE(76), data.readUInt16LE(80))
  if (price === null) return 'malformed'
  const key = (offset: number) => addressFromBytes(data.subarray(offset, offset + 32))
  return {
    mints: [key(88), key(120)],
    reserves: {
      kind: 'vaults',
      vaults: [key(152), key(184)],
      owed: [data.readBigUInt64LE(216), data.readBigUInt64LE(224)],
    },
    price: { kind: 'ratio', amounts: [ONE, price] },
  }
}

const ONE = 1n << 64n
const MAX_U128 = (1n << 128n) - 1n
/** The program rejects larger exponents. */
const MAX_EXPONENT = 0x80000

/**
 * The price of a bin: raw units of Y for one of X as Q64.64, (1 + bin_step / 10000) ^ id. Rounds
 * each step as the program does, so the result is the program's price
 * (commons/src/math/price_math.rs, u64x64_math.rs). Null for a bin that the program cannot price.
 */
export function binPriceX64(id: number, binStep: number): bigint | null {
  const exponent = Math.abs(id)
  if (binStep === 0 || exponent >= MAX_EXPONENT) return null
  if (id === 0) return ONE
  // The base is above one. The powers of its inverse are below one and do not overflow.
  let squared = MAX_U128 / (ONE + (BigInt(binStep) << 64n) / 10_000n)
  let result = ONE
  for (let bits = exponent; bits > 0; bits >>>= 1) {
    if ((bits & 1) === 1) result = (result * squared) >> 64n
    squared = (squared * squared) >> 64n
  }
  if (result === 0n) return null
  return id > 0 ? MAX_U128 / result : result
}
