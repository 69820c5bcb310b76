import type { Address } from '../../pipeline/domain/address.ts'
import type { SolPrice } from '../../pipeline/domain/slot.ts'
import { type ChainShape, createChainShape } from './chain-shape.ts'
import { type ClockOptions, createClock } from './clock.ts'
import { compressBefore } from './compressed-shape.ts'
import { startYellowstone, type Yellowstone } from './grpc/yellowstone.ts'
import { associatedTokenAccount, derivedSigner } from './market/key.ts'
import { createMarket, type Market } from './market/market.ts'
import { createMarketChain } from './market/market-chain.ts'
import { compressedSlots, solPricesOf } from './market/past.ts'
import { TOKEN, USDT_MINT } from './market/programs.ts'
import { BUSY_MARKET, CALM_MARKET } from './market/sizes.ts'
import { GENESIS_MS, SLOT_MS } from './market/slot-time.ts'
import type { SlotTruth } from './market/slot-truth.ts'
import { NO_TROUBLE, type SimulatorOptions, type Trouble } from './options.ts'
import { createPaidChain, type Payments } from './payments/paid-chain.ts'
import { paymentMethods } from './payments/payment-methods.ts'
import { feePayersOfTrades } from './recorded/fee-payers.ts'
import { loadBlocks } from './recorded/load.ts'
import { createRecordedChain } from './recorded/recorded-chain.ts'
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
  /** The market; of recorded blocks only its price pool is of use. */
  readonly market: Market
  /** Which slots of it have a block, and which left the chain. */
  readonly shape: ChainShape
  /** The newest slot that is over; `confirmedSlot` is the newest that is confirmed. */
  readonly slot: number
  readonly confirmedSlot: number
  /** How many gRPC streams follow. */
  readonly followers: number
  /** Of recorded blocks the last slot that holds transactions; null for the market. */
  readonly lastRecordedSlot: number | null
  /** What a produced slot of the market was meant to bring the tracked wallets; throws on recorded blocks. */
  truth(slot: number): SlotTruth
  /** With a manual clock: lets slots pass. */
  advance(slots: number): void
  /** Where USDT is paid to, for `PAYMENT_ADDRESS_PRO` and `PAYMENT_ADDRESS_CREDITS`; their keys are functions of the seed. */
  readonly paymentAddresses: { readonly pro: Address; readonly credits: Address }
  /** What people send over RPC. */
  readonly payments: Payments
  /** SOL in USD over the compressed history up to the start, in order of time; none without one. */
  readonly pastSolPrices: readonly SolPrice[]
  /** Cuts all gRPC connections. */
  disconnect(): void
  close(): Promise<void>
}

const FINALIZE_DELAY_SLOTS = 32

/**
 * Starts the simulator: returns when both servers listen. Rejects when a port is taken or a recorded file is bad. Recorded blocks wait for the first
 * subscription, and leap ahead when one asks for a slot that is still to come, as a service that was restarted together with them does.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1'
  const seed = options.seed ?? 1
  const trouble: Trouble = { ...NO_TROUBLE, ...options.trouble }
  const troubled = options.troubleSlots ?? { from: 0, to: Number.POSITIVE_INFINITY }
  const confirmDelaySlots = options.confirmDelaySlots ?? 1
  const hasPast = options.recorded === undefined && (options.historyHours ?? 0) > 0
  const historySlots = options.historySlots ?? (hasPast ? 3_000 : 9_000)
  const { recorded } = options
  const wallNow = Math.floor((Date.now() - GENESIS_MS) / SLOT_MS) - 1
  const compressed =
    hasPast && options.historyHours
      ? compressedSlots(startSlotOf(options.clock) ?? wallNow, historySlots, options.historyHours)
      : null
  const wholeShape = createChainShape(seed, trouble)
  const shape = compressed === null ? wholeShape : compressBefore(wholeShape, compressed.before)
  const size = hasPast ? CALM_MARKET : BUSY_MARKET
  const market = createMarket(
    {
      compressed: compressed ?? undefined,
      seed,
      wallets: recorded === undefined ? (options.wallets ?? size.wallets) : 0,
      coins: recorded === undefined ? (options.coins ?? size.coins) : 0,
      trackedPerSlot: options.trackedPerSlot ?? size.trackedPerSlot,
      othersPerSlot: options.othersPerSlot ?? size.othersPerSlot,
    },
    shape,
  )
  const blocks = recorded === undefined ? null : loadBlocks(recorded.files)
  const played =
    blocks === null || recorded === undefined ? null : createRecordedChain(blocks, recorded, shape)
  const clockOptions: ClockOptions =
    options.clock ?? (played === null ? { kind: 'wall' } : { kind: 'running', speed: 1 })

  const tracked =
    blocks === null
      ? market.universe.wallets.map((wallet) => wallet.key.address)
      : feePayersOfTrades(blocks, recorded?.wallets ?? 100)
  const paid = [
    derivedSigner(seed, 'payments/pro').key,
    derivedSigner(seed, 'payments/credits').key,
  ] as const
  let yellowstone: Yellowstone | undefined
  const clock = createClock(clockOptions, {
    startSlot: played?.before ?? wallNow,
    slotMs: SLOT_MS,
    slotZeroMs: GENESIS_MS + SLOT_MS,
    next: (slot) => chain.step(slot, 1),
    tick: (slot) => yellowstone?.onSlot(slot),
  })
  const { chain, payments } = createPaidChain(
    played ??
      createMarketChain(
        market,
        shape,
        compressed?.from ?? options.firstSlot ?? Math.max(1, clock.slot - historySlots),
      ),
    {
      faucetSecret: derivedSigner(seed, 'faucet').secret,
      newest: () => clock.slot,
      strangers: paid.flatMap((key) => [key, associatedTokenAccount(key, USDT_MINT, TOKEN)]),
      known: tracked,
    },
  )
  yellowstone = await startYellowstone(chain, {
    host,
    port: options.port ?? 0,
    xToken: options.xToken,
    seed,
    troubleAt: (name, slot) => trouble[name] && slot >= troubled.from && slot <= troubled.to,
    startSlot: clock.slot,
    confirmDelaySlots,
    finalizeDelaySlots: FINALIZE_DELAY_SLOTS,
    replaySlots: options.replaySlots ?? 1_000,
    maxQueuedUpdates: options.maxQueuedUpdates ?? 100_000,
    pingMs: options.pingMs ?? 15_000,
    onFollow: () => clock.start(),
    beforeReplay(fromSlot) {
      const to = chain.step(fromSlot, confirmDelaySlots - 1)
      if (played === null || clockOptions.kind === 'manual' || to <= clock.slot) return
      clock.leap(to)
      yellowstone?.leap(to)
    },
  })
  const confirmed = () => chain.step(clock.slot, -confirmDelaySlots)
  const window = {
    processed: () => clock.slot,
    confirmed,
    finalized: () => chain.step(clock.slot, -FINALIZE_DELAY_SLOTS),
    first: () =>
      compressed?.from ?? Math.max(chain.firstSlot, chain.step(clock.slot, 1 - historySlots)),
  }
  const methods = {
    ...createRpcMethods(chain, window, { tellsIndex: hasPast }),
    ...paymentMethods(payments),
  }
  const servers = [yellowstone]
  const rpcOptions = { host, port: options.rpcPort ?? 0, seed, trouble }
  const rpc = await startRpcServer(methods, rpcOptions).catch(async (error: unknown) => {
    for (const server of servers) await server.close()
    throw error
  })
  if (played === null) {
    // The first block is the dearest, so that it is not the first client that waits for it.
    market.block(shape.atOrAfter(clock.slot))
    clock.start()
  }
  const stream = yellowstone
  const pastSolPrices =
    compressed === null ? [] : solPricesOf(market, { ...compressed, to: clock.slot })
  return {
    endpoint: `http://${host}:${stream.port}`,
    rpcUrl: `http://${host}:${rpc.port}`,
    wallets: tracked,
    solPricePool: market.universe.pricePool.key('pool').address,
    market,
    shape,
    lastRecordedSlot: played?.last ?? null,
    get slot() {
      return clock.slot
    },
    get confirmedSlot() {
      return confirmed()
    },
    get followers() {
      return stream.followers()
    },
    truth(slot) {
      if (played !== null) throw new Error('recorded blocks have no truth of their own')
      return market.truth(slot)
    },
    advance: (slots) => clock.advance(slots),
    payments,
    pastSolPrices,
    paymentAddresses: {
      pro: paid[0].address,
      credits: paid[1].address,
    },
    disconnect: () => stream.disconnect(),
    async close() {
      clock.stop()
      await Promise.all([stream.close(), rpc.close()])
    },
  }
}

function startSlotOf(clock: ClockOptions | undefined): number | undefined {
  return clock === undefined || clock.kind === 'wall' ? undefined : clock.startSlot
}
