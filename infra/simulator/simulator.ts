import type { Address } from '../../pipeline/domain/address.ts'
import { createChainShape } from './chain-shape.ts'
import { type SlotClock, startClock } from './clock.ts'
import { startYellowstone } from './grpc/yellowstone.ts'
import { createMarket, GENESIS_MS, type Market, SLOT_MS, type SlotTruth } from './market/market.ts'
import { createMarketChain } from './market/market-chain.ts'
import { NO_TROUBLE, type SimulatorOptions } from './options.ts'
import { createRpcMethods } from './rpc/methods.ts'
import { startRpcServer } from './rpc/server.ts'

/** A running simulator. */
export interface Simulator {
  /** For `YELLOWSTONE_ENDPOINT`. */
  readonly endpoint: string
  /** For `SOLANA_RPC_URL`. */
  readonly rpcUrl: string
  /** The tracked wallets, in the order of their numbers. */
  readonly wallets: readonly Address[]
  /** For `SOL_PRICE_POOL`. */
  readonly solPricePool: Address
  readonly market: Market
  /** The newest slot that is over; `confirmedSlot` is the newest that is confirmed. */
  readonly slot: number
  readonly confirmedSlot: number
  /** What a produced slot was meant to bring the tracked wallets. */
  truth(slot: number): SlotTruth
  /** With a manual clock: lets slots pass. */
  advance(slots: number): void
  /** Cuts all gRPC connections. */
  disconnect(): void
  close(): Promise<void>
}

const FINALIZE_DELAY_SLOTS = 32

/** Starts the simulator: returns when both servers listen. Rejects when a port is taken. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1'
  const seed = options.seed ?? 1
  const trouble = { ...NO_TROUBLE, ...options.trouble }
  const confirmDelaySlots = options.confirmDelaySlots ?? 1
  const historySlots = options.historySlots ?? 9_000
  const shape = createChainShape(seed, trouble)
  const market = createMarket(
    {
      seed,
      wallets: options.wallets ?? 25,
      coins: options.coins ?? 200,
      trackedPerSlot: options.trackedPerSlot ?? 1.5,
      othersPerSlot: options.othersPerSlot ?? 6,
    },
    shape,
  )
  const slotNow = (now: number) => Math.floor((now - GENESIS_MS) / SLOT_MS) - 1
  const clockOptions = options.clock ?? { kind: 'wall' }
  let onSlot: (slot: number) => void = () => {}
  const clock: SlotClock = startClock(clockOptions, SLOT_MS, slotNow, (slot) => onSlot(slot))
  const chain = createMarketChain(market, shape, Math.max(1, clock.slot - historySlots))
  const yellowstone = await startYellowstone(chain, {
    host,
    port: options.port ?? 0,
    xToken: options.xToken,
    seed,
    trouble,
    startSlot: clock.slot,
    confirmDelaySlots,
    finalizeDelaySlots: FINALIZE_DELAY_SLOTS,
    replaySlots: options.replaySlots ?? 1_000,
    maxQueuedUpdates: options.maxQueuedUpdates ?? 100_000,
    pingMs: options.pingMs ?? 15_000,
  })
  const confirmed = () => clock.slot - confirmDelaySlots
  const methods = createRpcMethods(chain, {
    processed: () => clock.slot,
    confirmed,
    finalized: () => clock.slot - FINALIZE_DELAY_SLOTS,
    first: () => Math.max(chain.firstSlot, clock.slot - historySlots + 1),
  })
  const rpcPort = options.rpcPort ?? 0
  const rpc = await startRpcServer(methods, { host, port: rpcPort, seed, trouble }).catch(
    async (error: unknown) => {
      clock.stop()
      await yellowstone.close()
      throw error
    },
  )
  onSlot = (slot) => yellowstone.onSlot(slot)
  return {
    endpoint: `http://${host}:${yellowstone.port}`,
    rpcUrl: `http://${host}:${rpc.port}`,
    wallets: market.universe.wallets.map((wallet) => wallet.key.address),
    solPricePool: market.universe.pricePool.key('pool').address,
    market,
    get slot() {
      return clock.slot
    },
    get confirmedSlot() {
      return confirmed()
    },
    truth: (slot) => market.truth(slot),
    advance: (slots) => clock.advance(slots),
    disconnect: () => yellowstone.disconnect(),
    async close() {
      clock.stop()
      await Promise.all([yellowstone.close(), rpc.close()])
    },
  }
}
