import { createHash } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { type Address, addressBytes, addressFromBytes } from '../../domain/address.ts'
import { USDC, WSOL } from '../../domain/quote.ts'
import { binPriceX64 } from './dlmm-pair.ts'
import { POOL_PROGRAMS, poolStateOf, readPool } from './pool-state.ts'
import { readVault } from './vault.ts'

const keyOf = (name: string): Address =>
  addressFromBytes(createHash('sha256').update(name).digest())
const COIN = keyOf('coin')
const [VAULT_A, VAULT_B] = [keyOf('vault a'), keyOf('vault b')]

/**
 * A field of an account as in the program's source: bits and value, a key, or a number of unused
 * bytes (0xa5 each).
 */
type Field = readonly [bits: 8 | 16 | 32 | 64 | 128, value: bigint | number] | Address | number

/**
 * An account of these fields without padding, as borsh and `#[repr(C, packed)]` lay them out. The
 * tests build accounts without offsets, so that they do not repeat the offsets of the code.
 */
function account(name: string | null, ...fields: readonly Field[]): Buffer {
  const start =
    name === null ? [] : [createHash('sha256').update(`account:${name}`).digest().subarray(0, 8)]
  return Buffer.concat([
    ...start,
    ...fields.map((field) => {
      if (typeof field === 'number') return Buffer.alloc(field, 0xa5)
      if (typeof field === 'string') return addressBytes(field)
      const [bits, value] = field
      const bytes = Buffer.alloc(bits / 8)
      for (let at = 0; at < bytes.length; at++)
        bytes[at] = Number((BigInt.asUintN(bits, BigInt(value)) >> BigInt(8 * at)) & 0xffn)
      return bytes
    }),
  ])
}

const u8 = (value: number): Field => [8, value]
const u64 = (value: bigint | number): Field => [64, value]
const u128 = (value: bigint | number): Field => [128, value]

const PUMPFUN = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
const PUMPSWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
const RAYDIUM_AMM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'
const RAYDIUM_CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'
const RAYDIUM_CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'
const WHIRLPOOL = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'
const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'

/** The state of a pool with these vault balances, and its vaults. */
function read(
  owner: string,
  data: Buffer,
  balances: readonly [bigint, bigint] | null = null,
  mint = COIN,
) {
  const pool = readPool(owner, data, mint)
  if (typeof pool === 'string') return pool
  const vaults = pool.reserves.kind === 'vaults' ? pool.reserves.vaults : null
  return { vaults, state: poolStateOf(pool, mint, balances) }
}

const curve = (complete: number, ...rest: readonly Field[]) =>
  account(
    'BondingCurve',
    ...[u64(1_073_000_000_000_000), u64(30_000_000_001), u64(793_100_000_000_000), u64(1)],
    ...[u64(1_000_000_000_000_000), u8(complete), ...rest],
  )

test('a bonding curve of any generation has the price of its virtual reserves and its real liquidity', (t) => {
  const state = (quoteMint: Address) => ({
    quoteMint,
    quoteReserve: 1n,
    price: { quote: 30_000_000_001n, base: 1_073_000_000_000_000n },
  })
  const creator = keyOf('creator')
  const zeros = addressFromBytes(new Uint8Array(32))
  t.deepEqual(read(PUMPFUN, curve(0)), { vaults: null, state: state(WSOL) })
  t.deepEqual(read(PUMPFUN, curve(0, creator, 69)), {
    vaults: null,
    state: state(addressFromBytes(new Uint8Array(32).fill(0xa5))),
  })
  t.deepEqual(read(PUMPFUN, curve(0, creator, u8(0), u8(0), zeros)), {
    vaults: null,
    state: state(WSOL),
  })
  t.deepEqual(read(PUMPFUN, curve(0, creator, u8(0), u8(0), USDC, 37)), {
    vaults: null,
    state: state(USDC),
  })
  t.is(read(PUMPFUN, curve(1)), 'closed')
  t.is(read(PUMPFUN, curve(2)), 'malformed')
})

const pumpswap = (base: Address, quote: Address, ...rest: readonly Field[]) =>
  account(
    'Pool',
    ...[u8(254), [16, 0] as const, keyOf('creator'), base, quote, keyOf('lp')],
    ...[VAULT_A, VAULT_B, u64(4_193_388_315_000), ...rest],
  )

test('the price of a PumpSwap pool includes virtual quote reserves; waiting fees are not liquidity', (t) => {
  const vaults = [VAULT_A, VAULT_B]
  const balances = [1000n, 110n] as const
  const tail = [keyOf('creator'), u8(0), u8(0)]
  const state = (quoteReserve: bigint, quote: bigint) => ({
    vaults,
    state: { quoteMint: WSOL, quoteReserve, price: { quote, base: 1000n } },
  })
  t.deepEqual(read(PUMPSWAP, pumpswap(COIN, WSOL), balances), state(110n, 110n))
  t.deepEqual(read(PUMPSWAP, pumpswap(COIN, WSOL, ...tail), balances), state(110n, 110n))
  t.deepEqual(
    read(PUMPSWAP, pumpswap(COIN, WSOL, ...tail, u128(-30), 40), balances),
    state(80n, 80n),
  )
  t.deepEqual(
    read(PUMPSWAP, pumpswap(COIN, WSOL, ...tail, u128(30), 40), balances),
    state(110n, 140n),
  )
  // Here the coin is the quote of the pool.
  t.deepEqual(read(PUMPSWAP, pumpswap(WSOL, COIN, ...tail, u128(-10)), balances), {
    vaults,
    state: { quoteMint: WSOL, quoteReserve: 1000n, price: { quote: 1000n, base: 100n } },
  })
})

const raydiumAmm = (status: number, coin: Address, pc: Address) =>
  account(
    null,
    ...[u64(status), 15 * 8, 8 * 8, u64(7), u64(3), 16, 8, 16, 8, 16, 16, 8, 16, 16, 8],
    ...[VAULT_A, VAULT_B, coin, pc, 32, 32, 32, 32, 32, 64, 32, 8, 8, 8, 8],
  )

test("the price of a Raydium AMM v4 pool is its vault ratio without the owner's profit", (t) => {
  t.deepEqual(read(RAYDIUM_AMM, raydiumAmm(6, COIN, WSOL), [107n, 53n]), {
    vaults: [VAULT_A, VAULT_B],
    state: { quoteMint: WSOL, quoteReserve: 50n, price: { quote: 50n, base: 100n } },
  })
  t.like(read(RAYDIUM_AMM, raydiumAmm(1, USDC, COIN), [107n, 53n]), {
    state: { quoteMint: USDC, quoteReserve: 100n, price: { quote: 100n, base: 50n } },
  })
  t.is(read(RAYDIUM_AMM, raydiumAmm(0, COIN, WSOL)), 'malformed')
  t.is(read(RAYDIUM_AMM, raydiumAmm(8, COIN, WSOL)), 'malformed')
})

const raydiumCpmm = (mint0: Address, mint1: Address) =>
  account(
    'PoolState',
    ...[keyOf('config'), keyOf('creator'), VAULT_A, VAULT_B, keyOf('lp'), mint0, mint1, 32, 32, 32],
    ...[5, u64(9), u64(1), u64(10), u64(2), u64(20), u64(9), u64(9), 8, u64(3), u64(30), 28 * 8],
  )

test('the price of a Raydium CPMM pool is its vault ratio without fees of protocol, fund and creator', (t) => {
  t.deepEqual(read(RAYDIUM_CPMM, raydiumCpmm(COIN, USDC), [106n, 160n]), {
    vaults: [VAULT_A, VAULT_B],
    state: { quoteMint: USDC, quoteReserve: 100n, price: { quote: 100n, base: 100n } },
  })
  t.like(read(RAYDIUM_CPMM, raydiumCpmm(WSOL, COIN), [106n, 161n]), {
    state: { quoteMint: WSOL, quoteReserve: 100n, price: { quote: 100n, base: 101n } },
  })
})

const raydiumClmm = (mint0: Address, mint1: Address, sqrt: bigint) =>
  account(
    'PoolState',
    ...[u8(255), keyOf('config'), keyOf('owner'), mint0, mint1, VAULT_A, VAULT_B],
    ...[keyOf('observation'), u8(6), u8(9), [16, 60] as const, u128(5), u128(sqrt)],
    ...[[32, -7] as const, 2, 2, 16, 16, u64(1), u64(10), 4 * 16, 1, 1, 6, 3 * 169, 16 * 8, 4 * 8],
    ...[u64(2), u64(20), 8, 8, 80, 14 * 8, 32 * 8],
  )

test('the price of a Raydium CLMM pool is its squared root price; its liquidity excludes fees', (t) => {
  const half = 1n << 63n
  t.deepEqual(read(RAYDIUM_CLMM, raydiumClmm(COIN, WSOL, half), [100n, 100n]), {
    vaults: [VAULT_A, VAULT_B],
    state: { quoteMint: WSOL, quoteReserve: 70n, price: { quote: half * half, base: 1n << 128n } },
  })
  t.like(read(RAYDIUM_CLMM, raydiumClmm(WSOL, COIN, half), [100n, 100n]), {
    state: { quoteReserve: 97n, price: { quote: 1n << 128n, base: half * half } },
  })
  t.is(read(RAYDIUM_CLMM, raydiumClmm(COIN, WSOL, 0n)), 'malformed')
})

const whirlpool = (mintA: Address, mintB: Address, sqrt: bigint) =>
  account(
    'Whirlpool',
    ...[keyOf('config'), 1, 2, 2, 2, 2, 16, u128(sqrt), 4, u64(4), u64(40)],
    ...[mintA, VAULT_A, 16, mintB, VAULT_B, 16, 8, 384],
  )

test('the price of a Whirlpool is its squared root price; its liquidity excludes protocol fees', (t) => {
  // The square root of 0.15, times 2^64: 150 USD for one SOL.
  const sqrt = 7_144_393_258_922_745_604n
  const sol = read(WHIRLPOOL, whirlpool(WSOL, USDC, sqrt), [1000n, 1000n], WSOL)
  t.like(sol, { vaults: [VAULT_A, VAULT_B], state: { quoteMint: USDC, quoteReserve: 960n } })
  const { quote, base } = typeof sol === 'string' || sol.state === null ? t.fail() : sol.state.price
  t.is((quote * 10n ** 15n + base / 2n) / base, 150_000_000_000_000n)
  t.like(read(WHIRLPOOL, whirlpool(USDC, COIN, sqrt), [1000n, 1000n]), {
    state: { quoteMint: USDC, quoteReserve: 996n, price: { quote: base, base: quote } },
  })
})

const dlmm = (mintX: Address, mintY: Address, id: number, step: number) =>
  account(
    'LbPair',
    ...[2, 2, 2, 2, 4, 4, 4, 4, 2, 1, 1, 1, 3],
    ...[4, 4, 4, 4, 8, 8, 1, 2, 1, [32, id] as const, [16, step] as const, 1, 1, 2, 1, 1],
    ...[mintX, mintY, VAULT_A, VAULT_B, u64(5), u64(50), 32, 2 * 144, 32, 128, 8, 32, 32, 32],
    ...[8, 8, 8, 8, 32, 1, 1, 1, 21],
  )

test('the price of a DLMM pair is that of its active bin; its liquidity excludes protocol fees', (t) => {
  t.deepEqual(read(DLMM, dlmm(COIN, WSOL, 0, 25), [1000n, 1000n]), {
    vaults: [VAULT_A, VAULT_B],
    state: { quoteMint: WSOL, quoteReserve: 950n, price: { quote: 1n << 64n, base: 1n << 64n } },
  })
  t.like(read(DLMM, dlmm(USDC, COIN, 0, 25), [1000n, 1000n]), { state: { quoteReserve: 995n } })
  t.is(read(DLMM, dlmm(COIN, WSOL, 0x80000, 1)), 'malformed')
  fc.assert(
    fc.property(
      fc.integer({ min: -2000, max: 2000 }),
      fc.integer({ min: 1, max: 100 }),
      (id, step) => {
        const price = binPriceX64(id, step)!
        const expected = (1 + step / 10_000) ** id
        // Each step of the program rounds off up to 2^-64 of a power below one.
        const slack = 1e-9 + 2 ** -50 * Math.max(expected, 1 / expected)
        t.true(Math.abs(Number(price) / 2 ** 64 / expected - 1) < slack, `${id} ${step}`)
      },
    ),
  )
})

test('a pool without reserves on both sides, or with less than its fees, has no state', (t) => {
  const data = raydiumCpmm(COIN, USDC)
  for (const balances of [
    [6n, 160n],
    [106n, 60n],
    [5n, 160n],
    [106n, 59n],
    [0n, 0n],
  ] as const)
    t.like(read(RAYDIUM_CPMM, data, balances), { state: null })
})

test('accounts of a wrong size, kind or token are malformed; no bytes throw (rule K7)', (t) => {
  const good: readonly [string, Buffer][] = [
    [PUMPFUN, curve(0)],
    [PUMPSWAP, pumpswap(COIN, WSOL)],
    [RAYDIUM_AMM, raydiumAmm(6, COIN, WSOL)],
    [RAYDIUM_CPMM, raydiumCpmm(COIN, WSOL)],
    [RAYDIUM_CLMM, raydiumClmm(COIN, WSOL, 1n)],
    [WHIRLPOOL, whirlpool(COIN, WSOL, 1n)],
    [DLMM, dlmm(COIN, WSOL, 0, 1)],
  ]
  t.deepEqual(
    [...POOL_PROGRAMS.keys()],
    good.map(([owner]) => owner),
  )
  for (const [owner, data] of good) {
    t.is(typeof read(owner, data), 'object', owner)
    t.is(read(owner, data.subarray(0, data.length - 1)), 'malformed', owner)
    if (owner !== PUMPFUN) t.is(read(owner, data, null, keyOf('another')), 'malformed', owner)
    if (owner !== RAYDIUM_AMM)
      t.is(read(owner, Buffer.from(data).fill(1, 0, 1)), 'malformed', owner)
    t.is(read(WSOL, data), 'other')
  }
  fc.assert(
    fc.property(
      fc.constantFrom(...good),
      fc.uint8Array({ maxLength: 40 }),
      fc.nat(2000),
      ([owner, data], noise, at) => {
        const damaged = Buffer.from(data)
        damaged.set(
          noise.subarray(0, Math.max(0, damaged.length - at)),
          Math.min(at, damaged.length),
        )
        const found = read(owner, damaged.subarray(0, damaged.length - (noise[0] ?? 0)), [
          1n << 64n,
          1n,
        ])
        t.true(found === 'malformed' || found === 'closed' || typeof found === 'object')
      },
    ),
  )
})

test('a vault is an initialised token account of either token program', (t) => {
  const token = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
  const token2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
  const vault = (state: number, ...rest: readonly Field[]) =>
    account(null, COIN, keyOf('pool'), u64(2n ** 64n - 1n), 36, u8(state), 12, 8, 36, ...rest)
  const found = { mint: COIN, amount: 2n ** 64n - 1n }
  t.deepEqual(readVault(token, vault(1)), found)
  t.deepEqual(readVault(token2022, vault(2, u8(2), 4)), found)
  t.is(readVault(token2022, vault(1, u8(1), 4)), null)
  t.is(readVault(token, vault(0)), null)
  t.is(readVault(token, vault(1).subarray(1)), null)
  t.is(readVault(WSOL, vault(1)), null)
})
