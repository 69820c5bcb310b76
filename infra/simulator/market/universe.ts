import { memo } from '../memo.ts'
import { createRandom, hash32 } from '../random.ts'
import {
  associatedTokenAccount,
  derivedKey,
  derivedPumpMint,
  derivedSigner,
  type Key,
} from './key.ts'
import { WSOL_TOKEN } from './native.ts'
import { TOKEN, TOKEN_2022, USDC_MINT } from './programs.ts'
import type { Mint } from './transaction-builder.ts'

const VENUES = [
  'pumpfun',
  'pumpswap',
  'raydium_amm',
  'raydium_clmm',
  'orca_whirlpool',
  'meteora_dlmm',
] as const

/** Venues on which coins trade. */
export type VenueName = (typeof VENUES)[number]

/** USD Coin on mainnet. */
export const USDC_TOKEN: Mint = { key: USDC_MINT, decimals: 6, program: TOKEN }

/** The associated USDC account of a wallet. */
export function usdcAccountOf(wallet: Key): Key {
  return associatedTokenAccount(wallet, USDC_TOKEN.key, USDC_TOKEN.program)
}

/** A coin of the market, with its one pool. */
export interface Coin {
  readonly index: number
  readonly mint: Mint
  readonly name: string
  readonly symbol: string
  /** Supply in raw units. */
  readonly supply: bigint
  readonly venue: VenueName
  /** The quote token of the pool. */
  readonly quote: Mint
  /** Base price: raw quote units for one raw unit of the coin. */
  readonly basePrice: number
  /** Raw quote units in the pool at the base price. */
  readonly depth: number
  /**
   * How the price of a coin rises and falls over hours; null for a price that swings around its
   * base.
   */
  readonly life: CoinLife | null
  /**
   * Returns the key of a named account of the coin or its pool. The same name always gives the same
   * key.
   */
  key(name: string): Key
}

/** The state account of a coin's pool: its bonding curve, pool or pair. */
export function poolKeyOf(coin: Coin): Key {
  return coin.key(coin.venue === 'pumpfun' ? 'bonding-curve' : 'pool')
}

/** The constant parts of the market. */
export interface Universe {
  readonly seed: number
  /** Tracked wallets: number n is `wallets[n - 1]`. */
  readonly wallets: readonly Wallet[]
  /** The same by key id. */
  readonly walletsById: ReadonlyMap<string, Wallet>
  readonly coins: readonly Coin[]
  /** Keys of the untracked wallets that trade. */
  readonly untrackedKeys: readonly Key[]
  /** The SOL/USDC Whirlpool whose account the stream serves as the price. */
  readonly pricePool: Coin
}

/** A wallet that trades. */
export interface Wallet {
  readonly number: number
  readonly key: Key
  /** Ed25519 seed, by which the wallet can sign. */
  readonly secret: Uint8Array
  /** Balance of the wallet between episodes. */
  readonly baseLamports: bigint
  readonly baseUsdc: bigint
}

/** A coin's price rises quickly and falls slowly; then it begins again. */
export interface CoinLife {
  /** Length of a life in slots, and how many slots before slot 0 the first one began. */
  readonly slots: number
  readonly phase: number
  /** Fraction of a life in which the price rises. */
  readonly rise: number
  /** Half the logarithm of the ratio of the highest to the lowest price. */
  readonly height: number
}

/** Fraction of a coin's life that has passed at a slot. */
export function ageOf(life: CoinLife, slot: number): number {
  return ((slot + life.phase) % life.slots) / life.slots
}

/** Logarithm of the ratio of the price to its base. */
function courseOf(life: CoinLife, slot: number): number {
  const { rise, height } = life
  const age = ageOf(life, slot)
  if (age < rise) return -height * Math.cos((Math.PI * age) / rise)
  return height * (1 - 2 * ((age - rise) / (1 - rise)) ** 0.6)
}

/** Average of SOL's price in USD. */
const SOL_USD = 150

/**
 * Creates the universe of a market. The first wallets and coins of a seed do not depend on their
 * number. `livesOf` returns the life of a coin by its index.
 */
export function createUniverse(
  seed: number,
  walletCount: number,
  coinCount: number,
  livesOf: (index: number) => CoinLife | null = () => null,
): Universe {
  const wallets = Array.from({ length: walletCount }, (_, index): Wallet => {
    const random = createRandom(seed, 'wallet', index)
    const { key, secret } = derivedSigner(seed, `wallet/${index}`)
    const sol = Math.round(8 * Math.exp(random.between(0, 4)) * 1e6)
    return {
      number: index + 1,
      key,
      secret,
      baseLamports: BigInt(sol) * 1_000n,
      baseUsdc: BigInt(Math.round(sol * SOL_USD * random.between(0.5, 1))),
    }
  })
  return {
    seed,
    wallets,
    walletsById: new Map(wallets.map((wallet) => [wallet.key.id, wallet])),
    coins: Array.from({ length: coinCount }, (_, index) => createCoin(seed, index, livesOf(index))),
    // The label is a part of the seed: with another one the market changes.
    untrackedKeys: Array.from({ length: 200 }, (_, index) => derivedKey(seed, `stranger/${index}`)),
    pricePool: createPricePool(seed),
  }
}

function createCoin(seed: number, index: number, life: CoinLife | null): Coin {
  const random = createRandom(seed, 'coin', index)
  const venue = VENUES[index % VENUES.length]!
  const pump = venue === 'pumpfun' || venue === 'pumpswap'
  const decimals = pump ? 6 : random.pick([6, 6, 6, 9, 5])
  random.below(144) // drawn even if unused, so that later draws do not change
  const { name, symbol } = coinName(seed, index)
  const supply = 1_000_000_000n * 10n ** BigInt(decimals)
  const quote = !pump && venue !== 'raydium_amm' && random.chance(0.35) ? USDC_TOKEN : WSOL_TOKEN
  // Market cap in SOL. A bonding curve ends near 410 SOL, where pools begin.
  const marketSol =
    venue === 'pumpfun' ? random.between(120, 155) : 400 * Math.exp(random.between(0, 4))
  const quotePerSol = quote === WSOL_TOKEN ? 1e9 : SOL_USD * 1e6
  return {
    index,
    mint: {
      key: pump ? derivedPumpMint(seed, `mint/${index}`) : derivedKey(seed, `mint/${index}`),
      decimals,
      program: pump ? TOKEN_2022 : TOKEN,
    },
    name,
    symbol,
    supply,
    venue,
    quote,
    basePrice: (marketSol * quotePerSol) / Number(supply),
    depth: marketSol * quotePerSol * random.between(0.1, 0.2),
    life,
    key: memo((name) => derivedKey(seed, `coin/${index}/${name}`)),
  }
}

function createPricePool(seed: number): Coin {
  return {
    index: -1,
    mint: WSOL_TOKEN,
    name: 'Wrapped SOL',
    symbol: 'SOL',
    supply: 600_000_000_000_000_000n,
    venue: 'orca_whirlpool',
    quote: USDC_TOKEN,
    basePrice: (SOL_USD * 1e6) / 1e9,
    depth: 20_000_000e6,
    life: null,
    key: memo((name) => derivedKey(seed, `price-pool/${name}`)),
  }
}

/**
 * Raw quote units for one raw unit of the coin at a slot: its base price times a sum of three
 * waves, or times the path of its life.
 */
export function priceAt(coin: Coin, slot: number): number {
  const wave = (period: number, name: number) =>
    Math.sin(2 * Math.PI * (slot / period + hash32(coin.index, name) / 0x100000000))
  if (coin.index < 0) {
    return (
      coin.basePrice * Math.exp(0.04 * wave(20_000, 1) + 0.01 * wave(900, 2) + 0.003 * wave(90, 3))
    )
  }
  // A bonding curve has room for half the swing: it begins at 30 SOL and ends at 115.
  const swing = coin.venue === 'pumpfun' ? 0.5 : 1
  const { life } = coin
  const path =
    life === null
      ? 0.5 * wave(1_500, 1) + 0.3 * wave(260, 2) + 0.12 * wave(41, 3)
      : courseOf(life, slot) + 0.06 * wave(9_000, 1) + 0.04 * wave(1_500, 2) + 0.02 * wave(260, 3)
  return coin.basePrice * Math.exp(swing * path)
}

/** Reserves of the pool at a slot: a constant product at the price. */
export function reservesAt(coin: Coin, slot: number): { base: bigint; quote: bigint } {
  const factor = Math.sqrt(priceAt(coin, slot) / coin.basePrice)
  return {
    quote: BigInt(Math.round(coin.depth * factor)),
    base: BigInt(Math.round(coin.depth / coin.basePrice / factor)),
  }
}

/** Two words that no other coin of the market has, and the symbol that they make. */
function coinName(seed: number, index: number): { name: string; symbol: string } {
  const number = (index * 389 + (hash32(seed, 'names') % NAMES)) % NAMES
  const first = ADJECTIVES[Math.floor(number / NOUNS.length)]!
  const second = NOUNS[number % NOUNS.length]!
  const name = `${first} ${second}`
  const short = [second, `${first[0]}${second}`, `${first.slice(0, 2)}${second.slice(0, 3)}`]
  return { name, symbol: short[hash32(seed, 'symbol', index) % 3]!.slice(0, 8).toUpperCase() }
}

const ADJECTIVES =
  'Amber Brave Clever Cosmic Dapper Electric Fuzzy Gentle Golden Happy Icy Jolly Lazy Lucky Lunar Merry Mighty Misty Noble Nimble Polar Quiet Rapid Royal Salty Silent Sleepy Solar Spicy Stormy Sunny Velvet'.split(
    ' ',
  )
const NOUNS =
  'Acorn Badger Beacon Bison Cactus Canyon Comet Dolphin Falcon Ferret Gecko Glacier Harbor Heron Kiwi Lantern Lemur Lynx Mango Marmot Meteor Noodle Otter Panda Pebble Pepper Puffin Quokka Rocket Saffron Turnip Walrus'.split(
    ' ',
  )
const NAMES = ADJECTIVES.length * NOUNS.length
