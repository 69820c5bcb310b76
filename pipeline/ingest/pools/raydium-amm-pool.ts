import { addressFromBytes } from '../../domain/address.ts'
import { RESERVES_RATIO, type ReadPool } from './pool-account.ts'

// AmmInfo, 752 bytes, no discriminator (raydium-io/raydium-amm, program/src/state.rs at 27f461d):
//    0 u64 status   8 u64 nonce   16 14 x u64   128 Fees, 8 x u64   192 u64 need_take_pnl_coin
//  200 u64 need_take_pnl_pc   208 ... state_data   336 Pubkey coin_vault   368 Pubkey pc_vault
//  400 Pubkey coin_vault_mint   432 Pubkey pc_vault_mint   464 Pubkey lp_mint   ...
//  720 u64 lp_amount   ...
const SIZE = 752
/** AmmStatus: 1 Initialized to 7 WaitingTrade. 0 is an account that was never initialised. */
const LAST_STATUS = 7n

/**
 * Decodes a pool of Raydium AMM v4. Its price is the ratio of its vaults, without the profit that
 * the pool's owner may withdraw (`need_take_pnl`). Tokens in order book orders are not counted: the
 * program has placed no orders since July 2026 (raydium-amm 27f461d).
 */
export const readRaydiumAmmPool: ReadPool = (data) => {
  if (data.length !== SIZE) return 'malformed'
  const status = data.readBigUInt64LE(0)
  if (status === 0n || status > LAST_STATUS) return 'malformed'
  const key = (offset: number) => addressFromBytes(data.subarray(offset, offset + 32))
  return {
    mints: [key(400), key(432)],
    reserves: {
      kind: 'vaults',
      vaults: [key(336), key(368)],
      owed: [data.readBigUInt64LE(192), data.readBigUInt64LE(200)],
    },
    price: RESERVES_RATIO,
  }
}
