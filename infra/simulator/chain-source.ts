import type { Address } from '../../pipeline/domain/address.ts'
import type { SimulatedChain } from './chain.ts'
import { type ChainShape, createChainShape } from './chain-shape.ts'
import type { ClockOptions } from './clock.ts'
import { type CompressedSlots, compressBefore } from './compressed-shape.ts'
import { copyWallets } from './copied-chain.ts'
import { createMarket, type Market } from './market/market.ts'
import { createMarketChain } from './market/market-chain.ts'
import { compressedSlots } from './market/past.ts'
import { BUSY_MARKET, CALM_MARKET } from './market/sizes.ts'
import { GENESIS_MS, SLOT_MS } from './market/slot-time.ts'
import { NO_TROUBLE, type RecordedOptions, type SimulatorOptions } from './options.ts'
import { feePayersOfTrades } from './recorded/fee-payers.ts'
import { loadBlocks } from './recorded/load.ts'
import { createRecordedChain, type RecordedChain } from './recorded/recorded-chain.ts'

/** The chain that a simulator's options describe, and its market. */
export interface ChainSource {
  /** With recorded blocks, only the price pool of the market is used. */
  readonly market: Market
  readonly shape: ChainShape
  readonly chain: SimulatedChain
  /** The chain, if it replays recorded blocks; else null. */
  readonly recorded: RecordedChain | null
  /** The slots of the compressed history; null without one. */
  readonly compressed: CompressedSlots | null
  /** The tracked wallets, in the order of their numbers. */
  readonly wallets: readonly Address[]
  readonly clock: ClockOptions
  /** The newest slot that is over when the clock starts. */
  readonly startSlot: number
  /** Number of slots that RPC serves before the newest one. */
  readonly historySlots: number
}

/** Default number of slots that RPC serves before the newest one. */
const HISTORY_SLOTS = 9_000
/** The default with a compressed history: the number of its uncompressed slots. */
const WHOLE_SLOTS = 3_000
/** Number of fee payers of recorded blocks that are tracked as wallets. */
const TRACKED_FEE_PAYERS = 100

/** Creates the chain; throws a ServiceError `bad_config` that names a bad recorded file. */
export function createChainSource(options: SimulatorOptions): ChainSource {
  const { recorded } = options
  return recorded === undefined ? marketSource(options) : recordedSource(options, recorded)
}

function marketSource(options: SimulatorOptions): ChainSource {
  const hours = options.historyHours ?? 0
  const historySlots = options.historySlots ?? (hours > 0 ? WHOLE_SLOTS : HISTORY_SLOTS)
  const clock = options.clock ?? { kind: 'wall' }
  const startSlot = startSlotOf(clock) ?? wallSlot()
  const past = hours > 0 ? compressedSlots(startSlot, historySlots, hours) : null
  const compressed = options.compressed ?? past
  const whole = shapeOf(options)
  const shape = compressed === null ? whole : compressBefore(whole, compressed.before)
  const size = compressed === null ? BUSY_MARKET : CALM_MARKET
  const market = createMarket(
    {
      seed: seedOf(options),
      compressed: compressed ?? undefined,
      wallets: options.wallets ?? size.wallets,
      coins: options.coins ?? size.coins,
      trackedPerSlot: options.trackedPerSlot ?? size.trackedPerSlot,
      othersPerSlot: options.othersPerSlot ?? size.othersPerSlot,
    },
    shape,
  )
  const first = compressed?.from ?? options.firstSlot ?? Math.max(1, startSlot - historySlots)
  const chain = createMarketChain(market, shape, first)
  const keys = market.universe.wallets.map((wallet) => wallet.key)
  const { copies } = options
  const wallets = keys.map(({ address }) => address)
  return {
    market,
    shape,
    ...(copies === undefined ? { chain, wallets } : copyWallets(chain, keys, copies)),
    recorded: null,
    compressed,
    clock,
    startSlot,
    historySlots,
  }
}

function recordedSource(options: SimulatorOptions, recording: RecordedOptions): ChainSource {
  const shape = shapeOf(options)
  const blocks = loadBlocks(recording.files)
  const chain = createRecordedChain(blocks, recording, shape)
  const clock = options.clock ?? { kind: 'running', speed: 1 }
  const noWallets = { ...BUSY_MARKET, wallets: 0, coins: 0 }
  return {
    market: createMarket({ ...noWallets, seed: seedOf(options) }, shape),
    shape,
    chain,
    recorded: chain,
    compressed: null,
    wallets: feePayersOfTrades(blocks, TRACKED_FEE_PAYERS),
    clock,
    startSlot: startSlotOf(clock) ?? chain.before,
    historySlots: options.historySlots ?? HISTORY_SLOTS,
  }
}

/** The seed of the market and of trouble. */
export function seedOf(options: SimulatorOptions): number {
  return options.seed ?? 1
}

function shapeOf(options: SimulatorOptions): ChainShape {
  const trouble = { ...NO_TROUBLE, ...options.trouble }
  const forks = trouble.forks || trouble.vanishedBlocks
  return createChainShape(seedOf(options), { ...trouble, forks })
}

function startSlotOf(clock: ClockOptions): number | undefined {
  return clock.kind === 'wall' ? undefined : clock.startSlot
}

/** The newest slot that is over by the wall clock. */
function wallSlot(): number {
  return Math.floor((Date.now() - GENESIS_MS) / SLOT_MS) - 1
}
