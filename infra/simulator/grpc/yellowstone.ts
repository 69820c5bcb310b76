import {
  CommitmentLevel,
  GetBlockHeightRequest,
  GetBlockHeightResponse,
  GetLatestBlockhashRequest,
  GetLatestBlockhashResponse,
  GetSlotRequest,
  GetSlotResponse,
  GetVersionResponse,
  IsBlockhashValidRequest,
  IsBlockhashValidResponse,
  PingRequest,
  PongResponse,
  SlotStatus,
  SubscribeReplayInfoResponse,
  SubscribeUpdate,
} from '@triton-one/yellowstone-grpc'
import type { Chain } from '../chain.ts'
import type { TroubleAt } from '../options.ts'
import { hash32 } from '../random.ts'
import { type DuplexCall, GrpcCode, GrpcError, type GrpcServer, startGrpcServer } from './server.ts'
import { createSlotUpdates } from './slot-updates.ts'
import { decodeSubscribeRequest } from './subscribe-request.ts'
import { createSubscriber, type Subscriber } from './subscriber.ts'
import { compileSubscription, type Subscription } from './subscription.ts'
import type { Update } from './updates.ts'

/** A Yellowstone server over a chain. */
export interface Yellowstone {
  readonly port: number
  /** Sends what the end of a slot brings to everybody who follows. */
  onSlot(slot: number): void
  /** The clock went on to a slot without what lies between. */
  leap(slot: number): void
  /** How many streams follow. */
  followers(): number
  /** The first slot that `from_slot` can ask for now. */
  firstAvailable(): number
  /** Cuts all connections. */
  disconnect(): void
  close(): Promise<void>
}

export interface YellowstoneOptions {
  readonly host: string
  readonly port: number
  readonly xToken: string | undefined
  readonly seed: number
  readonly troubleAt: TroubleAt
  /** The newest slot that is over when the server starts. */
  readonly startSlot: number
  readonly confirmDelaySlots: number
  readonly finalizeDelaySlots: number
  readonly replaySlots: number
  readonly maxQueuedUpdates: number
  readonly pingMs: number
  /** Called when a client follows for the first time, and with the slot that it asks to be replayed from. */
  onFollow(): void
  beforeReplay(fromSlot: number): void
}

/** Slots between two cuts, and between two losses of the replay window, on average. */
const CUT_EVERY = 40
const LOSS_EVERY = 150

/** Starts the server: the Geyser service of yellowstone-grpc, with the texts of its errors. */
export async function startYellowstone(
  chain: Chain,
  options: YellowstoneOptions,
): Promise<Yellowstone> {
  const { troubleAt, seed } = options
  let newest = options.startSlot
  let lostBefore = 0
  const slots = createSlotUpdates(chain, seed, troubleAt, Math.min(options.replaySlots, 2_000) + 64)
  const subscribers = new Set<Subscriber>()

  const reached = (commitment: CommitmentLevel | undefined): number => {
    if (commitment === CommitmentLevel.CONFIRMED)
      return chain.step(newest, -options.confirmDelaySlots)
    if (commitment === CommitmentLevel.FINALIZED)
      return chain.step(newest, -options.finalizeDelaySlots)
    return newest
  }
  const firstAvailable = () =>
    Math.max(chain.step(newest, 1 - options.replaySlots), lostBefore, chain.firstSlot)
  const produced = (slot: number): boolean =>
    slot >= chain.firstSlot && chain.kind(slot) === 'produced'
  /** The newest produced slot that has reached a commitment. */
  const tip = (commitment: CommitmentLevel | undefined): number => {
    const slot = reached(commitment)
    return produced(slot) ? slot : chain.parent(slot)
  }

  /** What a slot brings when it reaches a commitment. */
  const dataOf = (slot: number): readonly Update[] => {
    if (slot < chain.firstSlot) return []
    if (chain.kind(slot) === 'skipped') return slots.late(slot)
    return [...slots.late(slot), ...slots.data(slot, slot)]
  }

  /** Everything that the end of slot `newest` brings to a subscriber of this commitment. */
  const liveBatch = (commitment: CommitmentLevel): Update[] => {
    const updates: Update[] = []
    const confirmed = reached(CommitmentLevel.CONFIRMED)
    const finalized = reached(CommitmentLevel.FINALIZED)
    if (newest >= chain.firstSlot && chain.kind(newest) !== 'skipped') {
      for (const status of BEGINNINGS) updates.push(slots.status(newest, status))
      if (commitment === CommitmentLevel.PROCESSED) updates.push(...dataOf(newest))
      updates.push(slots.status(newest, SlotStatus.SLOT_PROCESSED))
    }
    if (commitment === CommitmentLevel.CONFIRMED) {
      updates.push(...dataOf(confirmed))
    }
    if (produced(confirmed)) updates.push(slots.status(confirmed, SlotStatus.SLOT_CONFIRMED))
    else if (confirmed >= chain.firstSlot && chain.kind(confirmed) === 'dead') {
      updates.push(slots.status(confirmed, SlotStatus.SLOT_DEAD))
    }
    if (commitment === CommitmentLevel.FINALIZED && produced(finalized)) {
      updates.push(...dataOf(finalized))
    }
    if (produced(finalized)) updates.push(slots.status(finalized, SlotStatus.SLOT_FINALIZED))
    return updates
  }

  /** A slot again, as `from_slot` brings it: data, meta, then each status that it has reached. */
  const replayBatch = (slot: number, commitment: CommitmentLevel): readonly Update[] => {
    if (!produced(slot)) return []
    const updates = [...slots.data(slot, reached(commitment))]
    updates.push(slots.status(slot, SlotStatus.SLOT_PROCESSED))
    if (slot <= reached(CommitmentLevel.CONFIRMED)) {
      updates.push(slots.status(slot, SlotStatus.SLOT_CONFIRMED))
    }
    if (slot <= reached(CommitmentLevel.FINALIZED)) {
      updates.push(slots.status(slot, SlotStatus.SLOT_FINALIZED))
    }
    return updates
  }

  const subscribe = (call: DuplexCall) => {
    const subscriber = createSubscriber(call, options.maxQueuedUpdates)
    subscribers.add(subscriber)
    const pings = setInterval(() => subscriber.sendNow(PING), options.pingMs)
    call.onClose(() => {
      clearInterval(pings)
      subscribers.delete(subscriber)
    })
    call.onHalfClose(() => call.end(GrpcCode.ok))
    call.onMessage((message) => {
      try {
        const request = decodeSubscribeRequest(message)
        if (request.ping !== undefined) {
          subscriber.sendNow(pong(request.ping.id))
          return
        }
        const subscription = compileSubscription(request)
        if (request.fromSlot === undefined) subscriber.follow(subscription)
        else replay(subscriber, subscription, Number(request.fromSlot))
        options.onFollow()
      } catch (error) {
        if (error instanceof GrpcError) call.end(error.code, error.message)
        else call.end(GrpcCode.invalidArgument, `failed to create filter: ${String(error)}`)
      }
    })
  }

  const replay = (subscriber: Subscriber, subscription: Subscription, fromSlot: number) => {
    options.beforeReplay(fromSlot)
    const first = firstAvailable()
    if (fromSlot < first) {
      const text = `broadcast from ${fromSlot} is not available, last available: ${first}`
      throw new GrpcError(GrpcCode.outOfRange, text)
    }
    const { commitment } = subscription
    subscriber.follow(subscription)
    const last = reached(commitment)
    let next = chain.nextProduced(fromSlot, last)
    while (next !== null) {
      const slot = next
      subscriber.enqueue(() => replayBatch(slot, commitment), true)
      next = chain.nextProduced(slot + 1, last)
    }
  }

  const server: GrpcServer = await startGrpcServer(
    {
      authorize(headers) {
        if (options.xToken === undefined || headers['x-token'] === options.xToken) return
        throw new GrpcError(GrpcCode.unauthenticated, 'No valid auth token')
      },
      unary: {
        '/geyser.Geyser/GetVersion': () => GetVersionResponse.encode({ version: VERSION }).finish(),
        '/geyser.Geyser/Ping': (request) =>
          PongResponse.encode({ count: PingRequest.decode(request).count }).finish(),
        '/geyser.Geyser/GetSlot': (request) => {
          const { commitment } = GetSlotRequest.decode(request)
          return GetSlotResponse.encode({ slot: String(tip(commitment)) }).finish()
        },
        '/geyser.Geyser/GetBlockHeight': (request) => {
          const { commitment } = GetBlockHeightRequest.decode(request)
          const { height } = chain.block(tip(commitment))
          return GetBlockHeightResponse.encode({ blockHeight: String(height) }).finish()
        },
        '/geyser.Geyser/GetLatestBlockhash': (request) => {
          const { commitment } = GetLatestBlockhashRequest.decode(request)
          const { slot, blockhash, height } = chain.block(tip(commitment))
          return GetLatestBlockhashResponse.encode({
            slot: String(slot),
            blockhash,
            lastValidBlockHeight: String(height + 150),
          }).finish()
        },
        '/geyser.Geyser/IsBlockhashValid': (request) => {
          const { blockhash, commitment } = IsBlockhashValidRequest.decode(request)
          let slot = tip(commitment)
          const answer = { slot: String(slot), valid: false }
          for (let i = 0; i < 150 && !answer.valid && produced(slot); i += 1) {
            answer.valid = chain.block(slot).blockhash === blockhash
            slot = chain.parent(slot)
          }
          return IsBlockhashValidResponse.encode(answer).finish()
        },
        '/geyser.Geyser/SubscribeReplayInfo': () =>
          SubscribeReplayInfoResponse.encode({ firstAvailable: String(firstAvailable()) }).finish(),
      },
      duplex: { '/geyser.Geyser/Subscribe': subscribe },
    },
    options.host,
    options.port,
  )

  const disconnect = () => {
    for (const subscriber of subscribers) subscriber.cut()
  }

  return {
    port: server.port,
    followers: () => [...subscribers].filter(({ commitment }) => commitment !== null).length,
    firstAvailable,
    disconnect,
    leap(slot) {
      newest = slot
    },
    onSlot(slot) {
      newest = slot
      const losing = troubleAt('lostReplay', slot) && hash32(seed, 'loss', slot) % LOSS_EVERY === 0
      if (losing) {
        lostBefore = slot + 1
        disconnect()
        return
      }
      const cutting = troubleAt('cuts', slot) && hash32(seed, 'cut', slot) % CUT_EVERY === 0
      const batches = new Map<CommitmentLevel, readonly Update[]>()
      for (const subscriber of subscribers) {
        const commitment = subscriber.commitment
        if (commitment === null) continue
        let batch = batches.get(commitment)
        if (batch === undefined) {
          batch = liveBatch(commitment)
          if (cutting) batch = batch.slice(0, hash32(seed, 'cut at', slot) % (batch.length + 1))
          batches.set(commitment, batch)
        }
        const updates = batch
        subscriber.enqueue(() => updates, false, updates.length)
        if (cutting) subscriber.cutWhenSent()
      }
    },
    close: () => server.close(),
  }
}

const BEGINNINGS = [
  SlotStatus.SLOT_FIRST_SHRED_RECEIVED,
  SlotStatus.SLOT_CREATED_BANK,
  SlotStatus.SLOT_COMPLETED,
] as const

const VERSION = JSON.stringify({
  version: { package: 'yellowstone-grpc-geyser', version: '13.0.0', proto: '13.0.0' },
  extra: { hostname: 'simulator' },
})

const PING = Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ping: {} })).finish())

function pong(id: number): Buffer {
  return Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ pong: { id } })).finish())
}
