import { addressFromBytes } from '../../domain/address.ts'
import { RESERVES_RATIO, type ReadPool } from './pool-account.ts'

// PoolState, 637 bytes (raydium-io/raydium-cp-swap, programs/cp-swap/src/states/pool.rs at
// 609780f):
//    0 [u8; 8] discriminator   8 Pubkey amm_config   40 Pubkey pool_creator
//   72 Pubkey token_0_vault   104 Pubkey token_1_vault   136 Pubkey lp_mint
//  168 Pubkey token_0_mint   200 Pubkey token_1_mint   232 Pubkey x 3   328 u8 x 5
//  333 u64 lp_supply   341 u64 protocol_fees_token_0   349 u64 .._1   357 u64 fund_fees_token_0
//  365 u64 .._1   373 u64 open_time   381 u64 recent_epoch   389 u8 x 8
//  397 u64 creator_fees_token_0   405 u64 .._1   413 padding
const DISCRIMINATOR = Buffer.from('f7ede3f5d7c3de46', 'hex')
const SIZE = 637

/**
 * Decodes a pool of Raydium CPMM. Its price is the ratio of its vaults without the unclaimed fees
 * of protocol, fund and creator (`PoolState::vault_amount_without_fee`).
 */
export const readRaydiumCpmmPool: ReadPool = (data) => {
  if (data.length !== SIZE || !DISCRIMINATOR.equals(data.subarray(0, 8))) return 'malformed'
  const key = (offset: number) => addressFromBytes(data.subarray(offset, offset + 32))
  const owed = (at: number) =>
    data.readBigUInt64LE(341 + at) + data.readBigUInt64LE(357 + at) + data.readBigUInt64LE(397 + at)
  return {
    mints: [key(168), key(200)],
    reserves: { kind: 'vaults', vaults: [key(72), key(104)], owed: [owed(0), owed(8)] },
    price: RESERVES_RATIO,
  }
}
