import type { Address } from '../../domain/address.ts'
import { readDlmmPair } from './dlmm-pair.ts'
import type { Pair, PoolAccount, PoolReading, ReadPool } from './pool-account.ts'
import { readPumpfunCurve } from './pumpfun-curve.ts'
import { readPumpswapPool } from './pumpswap-pool.ts'
import { readRaydiumAmmPool } from './raydium-amm-pool.ts'
import { readRaydiumClmmPool } from './raydium-clmm-pool.ts'
import { readRaydiumCpmmPool } from './raydium-cpmm-pool.ts'
import { readWhirlpool } from './whirlpool.ts'

/** Price and liquidity of a token in its pool as of a slot. */
export interface PoolState {
  readonly mint: string
  readonly pool: string
  /** The newest slot that changed one of the accounts it was read from. */
  readonly slot: number
  readonly quoteMint: string
  /** Raw quote units in the pool. */
  readonly quoteReserve: bigint
  /** Price of one raw unit of `mint` in raw quote units is `quote / base`; both above zero, up to 256 bits. */
  readonly price: { readonly quote: bigint; readonly base: bigint }
}

/** Programs whose pools are read, by the owner of the account. To add one: write its file, name it here. */
export const POOL_PROGRAMS: ReadonlyMap<string, ReadPool> = new Map([
  ['6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P', readPumpfunCurve],
  ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA', readPumpswapPool],
  ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', readRaydiumAmmPool],
  ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C', readRaydiumCpmmPool],
  ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK', readRaydiumClmmPool],
  ['whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc', readWhirlpool],
  ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo', readDlmmPair],
])

/** Reads the account of a pool for one of its tokens; `other` for an account of any other program. Never throws on bytes. */
export function readPool(owner: string, data: Buffer, mint: Address): PoolReading | 'other' {
  const read = POOL_PROGRAMS.get(owner)
  if (read === undefined) return 'other'
  const reading = read(data, mint)
  if (typeof reading !== 'string' && !reading.mints.includes(mint)) return 'malformed'
  return reading
}

/** Price and liquidity of a token by its pool's account and the balances of its vaults (null for a pool that tells its reserves); null when one of them is not above zero. */
export function stateOf(
  { mints, holds, price }: PoolAccount,
  mint: Address,
  balances: Pair<bigint> | null,
): Pick<PoolState, 'quoteMint' | 'quoteReserve' | 'price'> | null {
  const [base, quote] = mints[0] === mint ? ([0, 1] as const) : ([1, 0] as const)
  const reserve = (side: 0 | 1) =>
    holds.kind === 'told' ? holds.reserves[side] : (balances?.[side] ?? 0n) - holds.owed[side]
  const amount = (side: 0 | 1) =>
    price.kind === 'ratio' ? price.amounts[side] : reserve(side) + price.virtual[side]
  const quoteReserve = reserve(quote)
  const ratio = { quote: amount(quote), base: amount(base) }
  if (quoteReserve < 0n || ratio.quote <= 0n || ratio.base <= 0n) return null
  return { quoteMint: mints[quote], quoteReserve, price: ratio }
}
