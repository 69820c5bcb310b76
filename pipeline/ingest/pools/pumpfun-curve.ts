import { addressFromBytes } from '../../domain/address.ts'
import { WSOL } from '../../domain/quote.ts'
import type { ReadPool } from './pool-account.ts'

// BondingCurve (pump-fun/pump-public-docs, idl/pump.json at 1b82215, 2026-05-19); later generations
// append, earlier ones are shorter:
//    0 [u8; 8] discriminator   8 u64 virtual_token_reserves   16 u64 virtual_quote_reserves
//   24 u64 real_token_reserves   32 u64 real_quote_reserves   40 u64 token_total_supply
//   48 bool complete   49 Pubkey creator   81 bool is_mayhem_mode   82 bool is_cashback_coin
//   83 Pubkey quote_mint   ...
const DISCRIMINATOR = Buffer.from('17b7f83760d8ac60', 'hex')
const COMPLETE = 48
const QUOTE_MINT = 83
const FIRST_GENERATION = 49
const WITH_QUOTE_MINT = QUOTE_MINT + 32

/**
 * Decodes a bonding curve of pump.fun. Its price is the ratio of its virtual reserves, which
 * exclude fees kept in the account (docs/instructions/TRADE_V3.md). A missing or zero quote mint
 * means SOL. A complete curve no longer trades.
 */
export const readPumpfunCurve: ReadPool = (data, mint) => {
  if (data.length < FIRST_GENERATION || !DISCRIMINATOR.equals(data.subarray(0, 8)))
    return 'malformed'
  const complete = data[COMPLETE]
  if (complete !== 0) return complete === 1 ? 'closed' : 'malformed'
  return {
    mints: [mint, quoteMintOf(data)],
    reserves: { kind: 'account', amounts: [data.readBigUInt64LE(24), data.readBigUInt64LE(32)] },
    price: { kind: 'ratio', amounts: [data.readBigUInt64LE(8), data.readBigUInt64LE(16)] },
  }
}

function quoteMintOf(data: Buffer) {
  if (data.length < WITH_QUOTE_MINT) return WSOL
  const key = data.subarray(QUOTE_MINT, WITH_QUOTE_MINT)
  return key.every((byte) => byte === 0) ? WSOL : addressFromBytes(key)
}
