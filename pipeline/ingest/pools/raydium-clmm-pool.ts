import { addressFromBytes } from '../../domain/address.ts'
import { type ReadPool, ratioOfSqrt, readU128 } from './pool-account.ts'

// PoolState, 1544 bytes, packed (raydium-io/raydium-clmm, programs/amm/src/states/pool.rs at
// 03b44b7):
//    0 [u8; 8] discriminator   8 u8 bump   9 Pubkey amm_config   41 Pubkey owner
//   73 Pubkey token_mint_0   105 Pubkey token_mint_1   137 Pubkey token_vault_0
//  169 Pubkey token_vault_1   201 Pubkey observation_key   233 u8 x 2 decimals
//  235 u16 tick_spacing   237 u128 liquidity   253 u128 sqrt_price_x64   269 i32 tick_current
//  273 u16 x 2   277 u128 x 2 fee growth   309 u64 protocol_fees_token_0   317 u64 .._1
//  325 [u128; 4]   389 u8 status   390 u8 x 7   397 3 x RewardInfo (169)
//  904 [u64; 16] tick_array_bitmap   1032 [u64; 4]   1064 u64 fund_fees_token_0   1072 u64 .._1
//      ...
const DISCRIMINATOR = Buffer.from('f7ede3f5d7c3de46', 'hex')
const SIZE = 1544

/**
 * Decodes a pool of Raydium CLMM, which stores a square root price. Its reserves are the vault
 * balances without the fees of protocol and fund. They include unclaimed fees of positions, because
 * the account does not state their amount.
 */
export const readRaydiumClmmPool: ReadPool = (data) => {
  if (data.length !== SIZE || !DISCRIMINATOR.equals(data.subarray(0, 8))) return 'malformed'
  const sqrtPrice = readU128(data, 253)
  if (sqrtPrice === 0n) return 'malformed'
  const key = (offset: number) => addressFromBytes(data.subarray(offset, offset + 32))
  const owed = (at: number) => data.readBigUInt64LE(309 + at) + data.readBigUInt64LE(1064 + at)
  return {
    mints: [key(73), key(105)],
    reserves: { kind: 'vaults', vaults: [key(137), key(169)], owed: [owed(0), owed(8)] },
    price: ratioOfSqrt(sqrtPrice),
  }
}
