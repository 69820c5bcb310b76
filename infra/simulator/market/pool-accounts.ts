import type { SubscribeUpdateAccount } from '@triton-one/yellowstone-grpc'
import { memo } from '../memo.ts'
import { byteWriter } from './byte-writer.ts'
import type { Key } from './key.ts'
import { TOKEN_2022 } from './programs.ts'
import type { TokenAccount } from './transaction-builder.ts'
import { type Coin, poolKeyOf, priceAt, type Universe, type VenueName } from './universe.ts'
import { METEORA_DLMM_PROGRAM } from './venues/meteora-dlmm.ts'
import { pairOf, sqrtPriceX64, tickOf } from './venues/pool.ts'
import { curveAt, PUMPFUN_PROGRAM } from './venues/pumpfun.ts'
import { PUMPSWAP_PROGRAM } from './venues/pumpswap.ts'
import { RAYDIUM_AMM_PROGRAM } from './venues/raydium-amm.ts'
import { RAYDIUM_CLMM_PROGRAM } from './venues/raydium-clmm.ts'
import { VENUES } from './venues/registry.ts'
import { WHIRLPOOL_PROGRAM, whirlpoolData } from './whirlpool-account.ts'

/** A pool's state account or one of its vaults. */
export interface PoolStateAccount {
  readonly key: Key
  /** The program that owns the account. */
  readonly owner: Key
  lamports(slot: number): bigint
  /** The account's bytes at a slot whose block has this unix time. */
  data(slot: number, time: number): Buffer
}

/** Encodes the pool's state account. */
type Layout = (coin: Coin, slot: number, time: number) => Buffer

const PROGRAMS: Readonly<Record<VenueName, readonly [owner: Key, layout: Layout]>> = {
  pumpfun: [PUMPFUN_PROGRAM, curveData],
  pumpswap: [PUMPSWAP_PROGRAM, pumpswapData],
  raydium_amm: [RAYDIUM_AMM_PROGRAM, raydiumAmmData],
  raydium_clmm: [RAYDIUM_CLMM_PROGRAM, raydiumClmmData],
  orca_whirlpool: [WHIRLPOOL_PROGRAM, whirlpoolData],
  meteora_dlmm: [METEORA_DLMM_PROGRAM, dlmmData],
}

/**
 * The accounts of a coin's pool in the layout of mainnet's programs: its own first, then its
 * vaults, each in the state in which the slot's trades find it.
 */
export function poolAccounts(coin: Coin): readonly PoolStateAccount[] {
  const pool = poolKeyOf(coin)
  const [owner, layout] = PROGRAMS[coin.venue]
  const accounts = VENUES[coin.venue].accounts(coin)
  const curve = accounts.find(({ key }) => key === pool)
  const vaults = accounts.filter(({ key, token }) => isVault(coin, key) || token(0)?.owner === pool)
  return [
    {
      key: pool,
      owner,
      lamports: (slot) => curve?.lamports(slot) ?? 5_435_760n,
      data: (slot, time) => layout(coin, slot, time),
    },
    ...vaults.flatMap(({ key, lamports, token }): PoolStateAccount[] => {
      const program = token(0)?.mint.program
      if (program === undefined) return []
      return [{ key, owner: program, lamports, data: (slot) => tokenData(token(slot)!) }]
    }),
  ]
}

function isVault(coin: Coin, key: Key): boolean {
  return key === coin.key('vault-base') || key === coin.key('vault-quote')
}

/**
 * Creates a function that finds the pools whose keys a block names, and returns the updates of
 * their accounts.
 */
export function createPoolUpdates(
  universe: Universe,
): (keys: Iterable<Key>, slot: number, time: number) => SubscribeUpdateAccount[] {
  const pools = new Map(universe.coins.map((coin) => [poolKeyOf(coin).id, coin]))
  const known = memo(poolAccounts)
  return (keys, slot, time) => {
    const touched = new Set<Coin>()
    for (const { id } of keys) {
      const coin = pools.get(id)
      if (coin !== undefined) touched.add(coin)
    }
    return [...touched].flatMap((coin) => known(coin).map((one) => updateOf(one, slot, time)))
  }
}

/** The bytes are computed when the update is encoded. */
function updateOf(account: PoolStateAccount, slot: number, time: number): SubscribeUpdateAccount {
  return {
    account: {
      pubkey: account.key.bytes,
      owner: account.owner.bytes,
      executable: false,
      rentEpoch: '18446744073709551615',
      writeVersion: String(slot),
      txnSignature: undefined,
      get lamports() {
        return String(account.lamports(slot))
      },
      get data() {
        return account.data(slot, time)
      },
    },
    slot: String(slot),
    isStartup: false,
  }
}

/**
 * A token account, 165 bytes, or 170 of Token-2022 with the immutable-owner extension: 32 mint, 32
 * owner, u64 amount, ..., u8 state at 108.
 */
function tokenData({ mint, owner, amount }: TokenAccount): Buffer {
  const writer = byteWriter(170).key(mint.key, owner).u64(amount).zeros(36).u8(1).zeros(56)
  return (mint.program === TOKEN_2022 ? writer.u8(2).u16(7, 0) : writer).done()
}

/**
 * `BondingCurve` with its quote mint, 115 bytes: discriminator, u64 virtual tokens, virtual quote,
 * real tokens, real quote, supply, bool complete, ...
 */
function curveData(coin: Coin, slot: number): Buffer {
  const { virtualTokens, virtualSol, realTokens, realSol } = curveAt(coin, slot)
  return byteWriter(115)
    .hex('17b7f83760d8ac60')
    .u64(virtualTokens, virtualSol, realTokens, realSol, coin.supply)
    .bool(false)
    .key(coin.key('creator'))
    .bool(false, false)
    .zeros(32)
    .done()
}

/**
 * `Pool`, 301 bytes: discriminator, u8 bump, u16 index, keys creator, base, quote, lp, vaults, u64
 * lp supply, key creator of the coin, two bools, i128 virtual quote, room.
 */
function pumpswapData(coin: Coin): Buffer {
  return byteWriter(301)
    .hex('f19a6d0411b16dbc')
    .u8(254)
    .u16(0)
    .key(coin.key('creator'), coin.mint.key, coin.quote.key, coin.key('lp-mint'))
    .key(coin.key('vault-base'), coin.key('vault-quote'))
    .u64(4_193_388_315_000n)
    .key(coin.key('creator'))
    .zeros(2 + 16 + 40)
    .done()
}

/**
 * `AmmInfo`, 752 bytes: 16 x u64 from the status (6: swaps only), 8 x u64 fees, 144 of state, then
 * keys coin vault, pc vault, coin mint, pc mint, ...
 */
function raydiumAmmData(coin: Coin): Buffer {
  return byteWriter(752)
    .u64(6, 254, 7, 3, coin.mint.decimals, coin.quote.decimals)
    .zeros(80 + 64 + 144)
    .key(coin.key('vault-base'), coin.key('vault-quote'), coin.mint.key, coin.quote.key)
    .key(coin.key('lp-mint'), coin.key('open-orders'), coin.key('market'))
    .zeros(752 - 560)
    .done()
}

/**
 * `PoolState`, 1544 bytes: discriminator, u8 bump, keys config, owner, mints, vaults, observation,
 * u8 x 2 decimals, u16 spacing, u128 liquidity, u128 square root, i32 tick, ...
 */
function raydiumClmmData(coin: Coin, slot: number): Buffer {
  const { a, b, price } = pairOf(coin, slot)
  return byteWriter(1_544)
    .hex('f7ede3f5d7c3de46')
    .u8(255)
    .key(coin.key('config'), coin.key('creator'), a.mint.key, b.mint.key, a.vault, b.vault)
    .key(coin.key('observation'))
    .u8(a.mint.decimals, b.mint.decimals)
    .u16(60)
    .u128(BigInt(Math.round(coin.depth)), sqrtPriceX64(price))
    .i32(tickOf(price))
    .zeros(1_544 - 273)
    .done()
}

/**
 * `LbPair`, 904 bytes: discriminator, 64 of parameters, u8 x 4, i32 active bin, u16 bin step, u8 x
 * 6, keys mints, reserves, two u64 fees, ...
 */
function dlmmData(coin: Coin, slot: number): Buffer {
  return byteWriter(904)
    .hex('210b3162b565b10d')
    .zeros(64 + 4)
    .i32(Math.floor(Math.log(priceAt(coin, slot)) / Math.log(1 + BIN_STEP / 10_000)))
    .u16(BIN_STEP)
    .zeros(6)
    .key(coin.mint.key, coin.quote.key, coin.key('vault-base'), coin.key('vault-quote'))
    .zeros(904 - 216)
    .done()
}

/** In basis points, as in the pairs' swap events. */
const BIN_STEP = 20
