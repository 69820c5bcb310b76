import { addressFromBytes } from '../../domain/address.ts'
import { USDC, WSOL } from '../../domain/quote.ts'

// Account of an Orca Whirlpool, 653 bytes (orca-so/whirlpools,
// programs/whirlpool/src/state/whirlpool.rs):
//    0 [u8; 8] discriminator, the start of sha256("account:Whirlpool")   8 Pubkey whirlpools_config
//   40 u8 bump   41 u16 tick_spacing   43 [u8; 2] fee_tier_index_seed   45 u16 fee_rate
//   47 u16 protocol_fee_rate   49 u128 liquidity   65 u128 sqrt_price (Q64.64)
//   81 i32 tick_current_index   85 u64 protocol_fee_owed_a   93 u64 protocol_fee_owed_b
//  101 Pubkey token_mint_a   133 Pubkey token_vault_a   165 u128 fee_growth_global_a
//  181 Pubkey token_mint_b   213 Pubkey token_vault_b   245 u128 fee_growth_global_b   ...
const DISCRIMINATOR = Buffer.from('3f95d10ce1806309', 'hex')
const SQRT_PRICE = 65
const MINT_A = 101
const MINT_B = 181
const SIZE = 653
/** Prices are stored as 64-bit integers. */
const PRICE_LIMIT = 1n << 64n

/**
 * The price of one SOL in a Whirlpool of WSOL (9 decimals) and USDC (6 decimals), in either order:
 * USD × 10^9, rounded half up (rule J7). Null for another account, and for a price that is 0 or
 * does not fit into 64 bits.
 */
export function readSolPrice(account: Uint8Array): bigint | null {
  if (account.length < SIZE || !DISCRIMINATOR.equals(account.subarray(0, 8))) return null
  const bytes = Buffer.from(account.buffer, account.byteOffset, account.byteLength)
  const sqrtPrice =
    bytes.readBigUInt64LE(SQRT_PRICE) | (bytes.readBigUInt64LE(SQRT_PRICE + 8) << 64n)
  if (sqrtPrice === 0n) return null
  const mintA = addressFromBytes(account.subarray(MINT_A, MINT_A + 32))
  const mintB = addressFromBytes(account.subarray(MINT_B, MINT_B + 32))
  // Raw units of B for one raw unit of A: sqrt_price^2 / 2^128. One SOL is 10^9 lamports and one
  // USD is 10^6 units of USDC, hence the factor 10^3. The result has 9 decimals, hence the factor
  // 10^9.
  const squared = sqrtPrice * sqrtPrice
  const price =
    mintA === WSOL && mintB === USDC
      ? divideHalfUp(squared * 10n ** 12n, 1n << 128n)
      : mintA === USDC && mintB === WSOL
        ? divideHalfUp((1n << 128n) * 10n ** 12n, squared)
        : 0n
  return price > 0n && price < PRICE_LIMIT ? price : null
}

function divideHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend * 2n + divisor) / (divisor * 2n)
}
