import { strict as assert } from 'node:assert'
import type { Address } from '../../pipeline/domain/address.ts'
import type { SolPrice } from '../../pipeline/domain/slot.ts'
import type { SimulatedChain } from './chain.ts'
import type { ChainShape } from './chain-shape.ts'
import { type ChainSource, createChainSource, seedOf } from './chain-source.ts'
import { createClock, type SlotClock } from './clock.ts'
import { chainWithForks, type Fork, Forks } from './forks.ts'
import { CONFIRM_DELAY_SLOTS, FINALIZE_DELAY_SLOTS } from './grpc/slot-stream.ts'
import { startYellowstone, type Yellowstone } from './grpc/yellowstone.ts'
import { LOOPBACK } from './listen.ts'
import { associatedTokenAccount, derivedSigner } from './market/key.ts'
import type { Market } from './market/market.ts'
import { solPricesOf } from './market/past.ts'
import { TOKEN, USDT_MINT } from './market/programs.ts'
import { GENESIS_MS, SLOT_MS } from './market/slot-time.ts'
import type { SlotTruth } from './market/slot-truth.ts'
import {
  NO_TROUBLE,
  type Omission,
  type SimulatorOptions,
  type Trouble,
  type TroubleAt,
} from './options.ts'
import { createPaidChain, type PaidChain, type SimulatedPayments } from './payments/paid-chain.ts'
import { paymentMethods } from './payments/payment-methods.ts'
import type { RpcWindow } from './rpc/ledger-view.ts'
import { createRpcMethods } from './rpc/methods.ts'
import { startRpcServer } from './rpc/server.ts'

/** A running simulator. */
export interface Simulator {
  /** URL of the gRPC server, for `YELLOWSTONE_ENDPOINT`. */
  readonly endpoint: string
  /** Value for `SOLANA_RPC_URL`. */
  readonly rpcUrl: string
  /** The tracked wallets, in the order of their numbers. */
  readonly wallets: readonly Address[]
  /** Value for `SOL_PRICE_POOL`. */
  readonly solPricePool: Address
  /** The market. With recorded blocks, only its price pool is used. */
  readonly market: Market
  /** Says which slots have a block, and which are on a dead fork. */
  readonly shape: ChainShape
  /** The newest slot that is over. */
  readonly slot: number
  /** The newest confirmed slot. */
  readonly confirmedSlot: number
  /** The newest finalized slot. */
  readonly finalizedSlot: number
  /** Number of gRPC streams that have subscribed. */
  readonly followers: number
  /**
   * The records that a decoder must find in a slot. The slot must have a block of the market;
   * throws for recorded blocks. Copies of wallets are left out.
   */
  truth(slot: number): SlotTruth
  /** Lets slots pass; only with a manual clock. */
  advance(slots: number): void
  /**
   * Addresses to pay USDT to, for `PAYMENT_ADDRESS_PRO` and `PAYMENT_ADDRESS_CREDITS`. Their keys
   * are functions of the seed.
   */
  readonly paymentAddresses: { readonly pro: Address; readonly credits: Address }
  /** Transactions that clients send over RPC. */
  readonly payments: SimulatedPayments
  /**
   * SOL in USD over the compressed history up to the start, in order of time; empty without one.
   */
  readonly pastSolPrices: readonly SolPrice[]
  /**
   * Leaves out of the stream all transactions of a tracked wallet from the next slot on, until it
   * is called again; null: of none. RPC has them.
   */
  omit(wallet: Address | null): void
  /** The transactions of a block that the stream never sends, by index. */
  omitted(slot: number): ReadonlyMap<number, Omission>
  /** The fork that nodes confirm in a slot and later give up; null for none. */
  forkAt(slot: number): Fork | null
  /** Cuts all gRPC connections. */
  disconnect(): void
  close(): Promise<void>
}

/**
 * Starts the simulator; resolves when both servers listen. Rejects when a port is taken or a
 * recorded file is bad. Recorded blocks begin with the first subscription. They leap ahead when a
 * subscription asks for a later slot, as a service that was restarted together with them does.
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const source = createChainSource(options)
  const { market, shape, recorded, compressed } = source
  let yellowstone: Yellowstone | undefined
  const clock = createClock(source.clock, {
    startSlot: source.startSlot,
    slotMs: SLOT_MS,
    slotZeroMs: GENESIS_MS + SLOT_MS,
    next: (slot) => source.chain.step(slot, 1),
    tick: (slot) => yellowstone?.onSlot(slot),
  })
  const paid = addPayments(source, seedOf(options), clock)
  const window = windowOf(source, clock)
  const { replacedBlocks, vanishedBlocks } = troubleOf(options)
  const forks = new Forks(paid.chain, {
    seed: seedOf(options),
    isOn: replacedBlocks || vanishedBlocks,
    troubleAt: troubleAtOf(options),
  })
  const stream = await startStream(paid.chain, forks, { source, clock, options })
  yellowstone = stream
  const known = chainWithForks(paid.chain, forks, ({ first }) => first > window.finalized())
  const methods = {
    ...createRpcMethods(known, window, { tellsIndex: compressed !== null }),
    ...paymentMethods(paid.payments),
  }
  const { host = LOOPBACK, rpcPort: port = 0 } = options
  const { rpcPerSecond: perSecond = Infinity } = options
  const ofRpc = { host, port, seed: seedOf(options), trouble: troubleOf(options), perSecond }
  const rpc = await startRpcServer(methods, ofRpc).catch(async (error: unknown) => {
    await stream.close()
    throw error
  })
  if (recorded === null) {
    // The first block takes longest to compute; the first client must not wait for it.
    market.block(shape.atOrAfter(clock.slot))
    clock.start()
  }
  return {
    endpoint: `http://${host}:${stream.port}`,
    rpcUrl: `http://${host}:${rpc.port}`,
    wallets: source.wallets,
    solPricePool: market.universe.pricePool.key('pool').address,
    market,
    shape,
    get slot() {
      return clock.slot
    },
    get confirmedSlot() {
      return window.confirmed()
    },
    get finalizedSlot() {
      return window.finalized()
    },
    get followers() {
      return stream.followers()
    },
    truth: (slot) => truthOf(source, slot),
    advance: (slots) => clock.advance(slots),
    payments: paid.payments,
    pastSolPrices:
      compressed === null ? [] : solPricesOf(market, { ...compressed, to: clock.slot }),
    paymentAddresses: paid.addresses,
    omit: stream.omit,
    omitted: stream.omitted,
    forkAt: (slot) => forks.at(slot),
    disconnect: stream.disconnect,
    async close() {
      clock.stop()
      await Promise.all([stream.close(), rpc.close()])
    },
  }
}

function truthOf({ market, recorded }: ChainSource, slot: number): SlotTruth {
  assert(recorded === null, 'recorded blocks have no truth of their own')
  return market.truth(slot)
}

/** Adds to the chain what clients send over RPC, and the addresses that the service is paid to. */
function addPayments(
  source: ChainSource,
  seed: number,
  clock: SlotClock,
): PaidChain & { addresses: Simulator['paymentAddresses'] } {
  const pro = derivedSigner(seed, 'payments/pro').key
  const credits = derivedSigner(seed, 'payments/credits').key
  const paid = createPaidChain(source.chain, {
    faucetSecret: derivedSigner(seed, 'faucet').secret,
    newest: () => clock.slot,
    absentKeys: [pro, credits].flatMap((key) => [
      key,
      associatedTokenAccount(key, USDT_MINT, TOKEN),
    ]),
    known: source.wallets,
  })
  return { ...paid, addresses: { pro: pro.address, credits: credits.address } }
}

async function startStream(
  chain: SimulatedChain,
  forks: Forks,
  from: {
    readonly source: ChainSource
    readonly clock: SlotClock
    readonly options: SimulatorOptions
  },
): Promise<Yellowstone> {
  const { source, clock, options } = from
  const stream = await startYellowstone(chain, forks, {
    host: options.host ?? LOOPBACK,
    port: options.port ?? 0,
    xToken: options.xToken,
    knowsCuckoo: options.knowsCuckoo ?? true,
    seed: seedOf(options),
    wallets: source.wallets,
    troubleAt: troubleAtOf(options),
    startSlot: clock.slot,
    replaySlots: options.replaySlots ?? 1_000,
    maxQueuedUpdates: options.maxQueuedUpdates ?? 100_000,
    onFollow: () => clock.start(),
    beforeReplay(fromSlot) {
      const to = chain.step(fromSlot, CONFIRM_DELAY_SLOTS - 1)
      if (source.recorded === null || source.clock.kind === 'manual' || to <= clock.slot) return
      clock.leap(to)
      stream.leap(to)
    },
  })
  return stream
}

/** The slots that RPC knows. */
function windowOf({ chain, compressed, historySlots }: ChainSource, clock: SlotClock): RpcWindow {
  return {
    processed: () => clock.slot,
    confirmed: () => chain.step(clock.slot, -CONFIRM_DELAY_SLOTS),
    finalized: () => chain.step(clock.slot, -FINALIZE_DELAY_SLOTS),
    first: () =>
      compressed?.from ?? Math.max(chain.firstSlot, chain.step(clock.slot, 1 - historySlots)),
  }
}

function troubleAtOf(options: SimulatorOptions): TroubleAt {
  const trouble = troubleOf(options)
  const { from, to } = options.troubleSlots ?? { from: 0, to: Number.POSITIVE_INFINITY }
  return (name, slot) => trouble[name] && slot >= from && slot <= to
}

function troubleOf(options: SimulatorOptions): Trouble {
  return { ...NO_TROUBLE, ...options.trouble }
}
