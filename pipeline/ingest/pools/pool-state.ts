import type { Address } from '../../domain/address.ts'
import { readDlmmPair } from './dlmm-pair.ts'
import type { DecodedPool, Pair, PoolReading, ReadPool } from './pool-account.ts'
import { readPumpfunCurve } from './pumpfun-curve.ts'
import { readPumpswapPool } from './pumpswap-pool.ts'
import { readRaydiumAmmPool } from './raydium-amm-pool.ts'
import { readRaydiumClmmPool } from './raydium-clmm-pool.ts'
import { readRaydiumCpmmPool } from './raydium-cpmm-pool.ts'
import { readWhirlpool } from './whirlpool.ts'

/** Price and liquidity of a token in its pool at a slot. */
export interface PoolState {
  readonly mint: string
  readonly pool: string
  /** The newest slot that changed the pool's account or one of its vaults. */
  readonly slot: number
  readonly quoteMint: string
  /** Raw quote units in the pool. */
  readonly quoteReserve: bigint
  /**
   * The price of one raw unit of `mint` is `quote / base` raw quote units. Both are above zero and
   * have up to 256 bits.
   */
  readonly price: { readonly quote: bigint; readonly base: bigint }
}

/** Decoders of pool accounts by program, which is the owner of the account. */
export const POOL_PROGRAMS: ReadonlyMap<string, ReadPool> = new Map([
  ['6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P', readPumpfunCurve],
  ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA', readPumpswapPool],
  ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', readRaydiumAmmPool],
  ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C', readRaydiumCpmmPool],
  ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK', readRaydiumClmmPool],
  ['whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc', readWhirlpool],
  ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo', readDlmmPair],
])

/**
 * Decodes the account of a pool for one of its tokens. `other`: an account of an unknown program.
 * Never throws on bytes.
 */
export function readPool(owner: string, data: Buffer, mint: Address): PoolReading | 'other' {
  const read = POOL_PROGRAMS.get(owner)
  if (read === undefined) return 'other'
  const reading = read(data, mint)
  if (typeof reading !== 'string' && !reading.mints.includes(mint)) return 'malformed'
  return reading
}

/**
 * Price and liquidity of a token in a pool; null when one of the amounts is not above zero.
 * `balances` are those of the vaults, or null for a pool without vaults.
 */
export function poolStateOf(
  { mints, reserves, price }: DecodedPool,
  mint: Address,
  balances: Pair<bigint> | null,
): Pick<PoolState, 'quoteMint' | 'quoteReserve' | 'price'> | null {
  const [base, quote] = mints[0] === mint ? ([0, 1] as const) : ([1, 0] as const)
  const reserve = (side: 0 | 1) =>
    reserves.kind === 'account'
      ? reserves.amounts[side]
      : (balances?.[side] ?? 0n) - reserves.owed[side]
  const amount = (side: 0 | 1) =>
    price.kind === 'ratio' ? price.amounts[side] : reserve(side) + price.virtual[side]
  const quoteReserve = reserve(quote)
  const ratio = { quote: amount(quote), base: amount(base) }
  if (quoteReserve < 0n || ratio.quote <= 0n || ratio.base <= 0n) return null
  return { quoteMint: mints[quote], quoteReserve, price: ratio }
}
