import {
  type CommitmentLevel,
  GetVersionResponse,
  SubscribeUpdate,
} from '@triton-one/yellowstone-grpc'
import type { Address } from '../../../pipeline/domain/address.ts'
import type { SimulatedChain } from '../chain.ts'
import { chainWithForks, type Forks } from '../forks.ts'
import type { Omission, TroubleAt } from '../options.ts'
import { hash32 } from '../random.ts'
import { Omissions } from './omissions.ts'
import { type DuplexCall, GrpcCode, GrpcError, startGrpcServer } from './server.ts'
import { SlotStream } from './slot-stream.ts'
import { SlotUpdates } from './slot-updates.ts'
import { decodeSubscribeRequest } from './subscribe-request.ts'
import { Subscriber } from './subscriber.ts'
import { type CompiledSubscription, compileSubscription } from './subscription.ts'
import type { StreamUpdate } from './updates.ts'

/** A Yellowstone server over a chain. */
export interface Yellowstone {
  readonly port: number
  /** Sends the updates of a slot that is over to all subscribers. */
  onSlot(slot: number): void
  /** Jumps to a later slot without sending the slots in between. */
  leap(slot: number): void
  /** Number of streams that have subscribed. */
  followers(): number
  /** Leaves out all transactions of a tracked wallet from the next slot on; null: of none. */
  omit(wallet: Address | null): void
  /** The transactions of a block that the stream never sends, by index. */
  omitted(slot: number): ReadonlyMap<number, Omission>
  /** Cuts all connections. */
  disconnect(): void
  close(): Promise<void>
}

/** Settings of a Yellowstone server. */
export interface YellowstoneOptions {
  readonly host: string
  readonly port: number
  readonly xToken: string | undefined
  /** See `SimulatorOptions`. */
  readonly knowsCuckoo: boolean
  readonly seed: number
  /** Tracked wallets. */
  readonly wallets: readonly Address[]
  readonly troubleAt: TroubleAt
  /** The newest slot that is over when the server starts. */
  readonly startSlot: number
  /** Slots that `from_slot` can go back. */
  readonly replaySlots: number
  readonly maxQueuedUpdates: number
  /** Called at each subscription. */
  onFollow(): void
  /** Called with the slot that a subscription asks to be replayed from, before the replay. */
  beforeReplay(fromSlot: number): void
}

/** Average number of slots between two cuts. */
const CUT_EVERY = 40
/** Average number of slots between two losses of the replay window. */
const LOSS_EVERY = 150
/** Maximum number of slots whose encoded updates are cached. */
const CACHED_SLOTS = 2_000
/** Largest request, in bytes. */
const MOST_BYTES = 4 * 1024 * 1024
/** Milliseconds between two pings to a client. */
const PING_MS = 15_000

/**
 * Starts the server: the Geyser service of yellowstone-grpc, with the texts of its errors. `chain`
 * is the finalized one.
 */
export async function startYellowstone(
  chain: SimulatedChain,
  forks: Forks,
  options: YellowstoneOptions,
): Promise<Yellowstone> {
  const { troubleAt, seed, startSlot } = options
  const cached = Math.min(options.replaySlots, CACHED_SLOTS) + 64
  const omissions = new Omissions(seed, options.wallets, troubleAt)
  const view = chainWithForks(chain, forks, () => true)
  const chains = { chain, view, forks }
  const updates = new SlotUpdates({ ...chains, seed, troubleAt, omissions }, cached)
  const stream = new SlotStream(chains, updates, startSlot, options.replaySlots)
  const subscribers = new Set<Subscriber>()
  let newest = startSlot
  const disconnect = () => {
    for (const subscriber of subscribers) subscriber.cut()
  }
  const server = await startGrpcServer(
    {
      authorize(headers) {
        if (options.xToken === undefined || headers['x-token'] === options.xToken) return
        throw new GrpcError(GrpcCode.unauthenticated, 'No valid auth token')
      },
      unary: { '/geyser.Geyser/GetVersion': () => VERSION },
      duplex: {
        '/geyser.Geyser/Subscribe': (call) => serve(call, subscribers, view, stream, options),
      },
    },
    options,
  )
  return {
    port: server.port,
    followers: () => [...subscribers].filter(({ commitment }) => commitment !== null).length,
    omit: (wallet) => omissions.request(wallet, newest + 1),
    omitted: (slot) => updates.omitted(slot),
    disconnect,
    leap: (slot) => stream.moveTo(slot),
    onSlot(slot) {
      newest = slot
      stream.moveTo(slot)
      if (troubleAt('lostReplay', slot) && hash32(seed, 'loss', slot) % LOSS_EVERY === 0) {
        stream.forgetBefore(slot + 1)
        disconnect()
        return
      }
      const cuts = troubleAt('cuts', slot) && hash32(seed, 'cut', slot) % CUT_EVERY === 0
      broadcast(subscribers, stream, cuts ? hash32(seed, 'cut at', slot) : null)
    },
    close: () => server.close(),
  }
}

/** Serves one `Subscribe` call until it closes. */
function serve(
  call: DuplexCall,
  subscribers: Set<Subscriber>,
  chain: SimulatedChain,
  stream: SlotStream,
  options: YellowstoneOptions,
): void {
  const subscriber = new Subscriber(call, options.maxQueuedUpdates)
  subscribers.add(subscriber)
  const pings = setInterval(() => subscriber.sendNow(PING), PING_MS)
  call.onClose(() => {
    clearInterval(pings)
    subscribers.delete(subscriber)
  })
  call.onHalfClose(() => call.end(GrpcCode.ok))
  call.onMessage((message) => {
    try {
      refuseLarge(message)
      const request = decodeSubscribeRequest(message)
      if (request.ping !== undefined) {
        subscriber.sendNow(pong(request.ping.id))
        return
      }
      const subscription = compileSubscription(request, options)
      if (request.fromSlot === undefined) {
        subscriber.follow(subscription)
      } else {
        const fromSlot = Number(request.fromSlot)
        options.beforeReplay(fromSlot)
        replay(subscriber, subscription, fromSlot, chain, stream)
      }
      options.onFollow()
    } catch (error) {
      if (error instanceof GrpcError) call.end(error.code, error.message)
      else call.end(GrpcCode.invalidArgument, `failed to create filter: ${String(error)}`)
    }
  })
}

/** Refuses a request above the plugin's default of `max_decoding_message_size`, as tonic does. */
function refuseLarge({ length }: Buffer): void {
  if (length <= MOST_BYTES) return
  const text = `found ${length} bytes, the limit is: ${MOST_BYTES} bytes`
  throw new GrpcError(GrpcCode.outOfRange, `Error, decoded message length too large: ${text}`)
}

/**
 * Queues the slots from `fromSlot` on; throws `outOfRange` where they can no longer be replayed.
 */
function replay(
  subscriber: Subscriber,
  subscription: CompiledSubscription,
  fromSlot: number,
  chain: SimulatedChain,
  stream: SlotStream,
): void {
  const first = stream.firstAvailable()
  if (fromSlot < first) {
    const text = `broadcast from ${fromSlot} is not available, last available: ${first}`
    throw new GrpcError(GrpcCode.outOfRange, text)
  }
  const { commitment } = subscription
  subscriber.follow(subscription)
  const last = stream.reached(commitment)
  let next = chain.nextProduced(fromSlot, last)
  while (next !== null) {
    const slot = next
    subscriber.enqueue(() => stream.replay(slot, commitment), true)
    next = chain.nextProduced(slot + 1, last)
  }
}

/**
 * Queues the newest slot's updates for all subscribers. With `cutAt`, sends a part of them, whose
 * length is `cutAt` modulo the number of updates, and then cuts the connections.
 */
function broadcast(
  subscribers: Iterable<Subscriber>,
  stream: SlotStream,
  cutAt: number | null,
): void {
  const batches = new Map<CommitmentLevel, readonly StreamUpdate[]>()
  for (const subscriber of subscribers) {
    const { commitment } = subscriber
    if (commitment === null) continue
    let batch = batches.get(commitment)
    if (batch === undefined) {
      batch = stream.live(commitment)
      if (cutAt !== null) batch = batch.slice(0, cutAt % (batch.length + 1))
      batches.set(commitment, batch)
    }
    const updates = batch
    subscriber.enqueue(() => updates, false, updates.length)
    if (cutAt !== null) subscriber.cutWhenSent()
  }
}

const VERSION = GetVersionResponse.encode({
  version: JSON.stringify({
    version: { package: 'yellowstone-grpc-geyser', version: '13.0.0', proto: '13.0.0' },
    extra: { hostname: 'simulator' },
  }),
}).finish()

const PING = Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ping: {} })).finish())

function pong(id: number): Buffer {
  return Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ pong: { id } })).finish())
}
