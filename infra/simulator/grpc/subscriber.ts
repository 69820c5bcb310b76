import type { CommitmentLevel } from '@triton-one/yellowstone-grpc'
import { type DuplexCall, frame, framePrefix, GrpcCode } from './server.ts'
import type { CompiledSubscription } from './subscription.ts'
import type { StreamUpdate } from './updates.ts'
import { writeVarint } from './varint.ts'

interface Waiting {
  readonly updates: () => readonly StreamUpdate[]
  readonly subscription: CompiledSubscription
  readonly count: number
}

/** Bytes given to the network before it must drain. */
const HIGH_WATER = 4 * 1_048_576
/**
 * Longest time that sending blocks the event loop. Blocks are computed when they are sent, and in
 * the demo the service runs in the same process.
 */
const LONGEST_TURN_MS = 10
/** Messages are joined into writes of about this size. */
const JOIN_BYTES = 256 * 1_024

/**
 * One client's subscription on a call: a queue of updates. A client that is more than
 * `maxQueuedUpdates` behind is dropped, with the error text of the plugin.
 */
export class Subscriber {
  readonly #call: DuplexCall
  readonly #maxQueuedUpdates: number
  readonly #queue: Waiting[] = []
  #subscription: CompiledSubscription | null = null
  #queued = 0
  #isCutting = false
  #timer: NodeJS.Timeout | undefined

  constructor(call: DuplexCall, maxQueuedUpdates: number) {
    this.#call = call
    this.#maxQueuedUpdates = maxQueuedUpdates
    call.onClose(() => {
      clearTimeout(this.#timer)
      this.#queue.length = 0
    })
  }

  /** The commitment of the subscription; null before the first request. */
  get commitment(): CommitmentLevel | null {
    return this.#subscription?.commitment ?? null
  }

  /** Applies new filters to the updates that are enqueued from now on. */
  follow(subscription: CompiledSubscription): void {
    this.#subscription = subscription
  }

  /**
   * Enqueues updates. Replayed ones are computed when they are sent, and do not count towards the
   * limit.
   */
  enqueue(updates: () => readonly StreamUpdate[], replayed: boolean, count = 0): void {
    const subscription = this.#subscription
    if (subscription === null || this.#call.closed) return
    const counted = replayed ? 0 : count
    this.#queued += counted
    if (this.#queued > this.#maxQueuedUpdates) {
      this.#queue.length = 0
      this.#call.end(GrpcCode.internal, 'lagged to send an update')
      return
    }
    this.#queue.push({ updates, subscription, count: counted })
    if (this.#timer !== undefined) return
    if (replayed) this.#timer = setTimeout(() => this.#pump(), 0)
    else this.#pump()
  }

  /** Sends one message ahead of the queue. */
  sendNow(message: Buffer): void {
    this.#call.send(frame(message))
  }

  cut(): void {
    this.#call.cut()
  }

  /** Closes the connection once the queue is empty. */
  cutWhenSent(): void {
    this.#isCutting = true
    if (this.#queue.length === 0) this.#call.cut()
  }

  #pump(): void {
    const [call, queue] = [this.#call, this.#queue]
    this.#timer = undefined
    const until = performance.now() + LONGEST_TURN_MS
    while (
      queue.length > 0 &&
      call.pendingBytes < HIGH_WATER &&
      !call.closed &&
      performance.now() < until
    ) {
      const { updates, subscription, count } = queue.shift()!
      this.#queued -= count
      sendWanted(call, updates(), subscription)
    }
    if (call.closed) return
    if (queue.length > 0) this.#timer ??= setTimeout(() => this.#pump(), 2)
    else if (this.#isCutting) call.cut()
  }
}

/** Sends the updates that the filters want, many to a write. */
function sendWanted(
  call: DuplexCall,
  updates: readonly StreamUpdate[],
  filters: CompiledSubscription,
): void {
  const created = createdAt()
  let parts: Buffer[] = []
  let size = 0
  for (const update of updates) {
    const names = filters.namesFor(update)
    if (names === null) continue
    const { body } = update
    const length = names.length + body.length + created.length
    parts.push(framePrefix(length), names, body, created)
    size += length + 5
    if (size >= JOIN_BYTES) {
      call.send(Buffer.concat(parts, size))
      parts = []
      size = 0
    }
  }
  if (size > 0) call.send(Buffer.concat(parts, size))
}

/** Field 11 of `SubscribeUpdate`: `Timestamp {1: seconds, 2: nanos}` of now. */
function createdAt(): Buffer {
  const now = Date.now()
  const seconds = Math.floor(now / 1_000)
  const nanos = (now - seconds * 1_000) * 1_000_000
  const inner = Buffer.concat([
    Buffer.of(0x08),
    writeVarint(seconds),
    Buffer.of(0x10),
    writeVarint(nanos),
  ])
  return Buffer.concat([Buffer.of(0x5a, inner.length), inner])
}
