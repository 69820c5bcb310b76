import { addressFromBytes } from '../../domain/address.ts'
import { type ReadPool, readI128 } from './pool-account.ts'

// Pool (pump-fun/pump-public-docs, idl/pump_amm.json at 1b82215, 2026-05-19); later generations
// append, earlier ones are shorter:
//    0 [u8; 8] discriminator   8 u8 pool_bump   9 u16 index   11 Pubkey creator
//   43 Pubkey base_mint   75 Pubkey quote_mint   107 Pubkey lp_mint
//  139 Pubkey pool_base_token_account   171 Pubkey pool_quote_token_account   203 u64 lp_supply
//  211 Pubkey coin_creator   243 bool is_mayhem_mode   244 bool is_cashback_coin
//  245 i128 virtual_quote_reserves   ...
const DISCRIMINATOR = Buffer.from('f19a6d0411b16dbc', 'hex')
const FIRST_GENERATION = 211
const VIRTUAL_QUOTE = 245

/**
 * Decodes a pool of PumpSwap. Its quote reserve is the balance of the quote vault plus
 * `virtual_quote_reserves`. A negative value stands for fees that wait in the vault. A positive
 * value stands for reserves that were never deposited (docs/NEGATIVE_VIRTUAL_QUOTE_RESERVES.md and
 * VIRTUAL_QUOTE_RESERVES_FEE_ADJUSTMENT.md at 8cda1fa). Pools without the field have 0. In a
 * boosted pool waiting fees count as reserves.
 */
export const readPumpswapPool: ReadPool = (data) => {
  if (data.length < FIRST_GENERATION || !DISCRIMINATOR.equals(data.subarray(0, 8)))
    return 'malformed'
  const key = (offset: number) => addressFromBytes(data.subarray(offset, offset + 32))
  const virtual = data.length >= VIRTUAL_QUOTE + 16 ? readI128(data, VIRTUAL_QUOTE) : 0n
  return {
    mints: [key(43), key(75)],
    reserves: {
      kind: 'vaults',
      vaults: [key(139), key(171)],
      owed: [0n, virtual < 0n ? -virtual : 0n],
    },
    price: { kind: 'reserves', virtual: [0n, virtual > 0n ? virtual : 0n] },
  }
}
