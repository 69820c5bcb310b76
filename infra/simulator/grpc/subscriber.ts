import type { CommitmentLevel } from '@triton-one/yellowstone-grpc'
import { type DuplexCall, frame, framePrefix, GrpcCode } from './server.ts'
import type { CompiledSubscription } from './subscription.ts'
import type { StreamUpdate } from './updates.ts'
import { writeVarint } from './varint.ts'

/** One client's subscription: a queue of updates, and a limit on its length. */
export interface Subscriber {
  /** The commitment of the subscription; null before the first request. */
  readonly commitment: CommitmentLevel | null
  /** Applies new filters to the updates that are enqueued from now on. */
  follow(subscription: CompiledSubscription): void
  /**
   * Enqueues updates. Replayed ones are computed when they are sent, and do not count towards the
   * limit.
   */
  enqueue(updates: () => readonly StreamUpdate[], replayed: boolean, count?: number): void
  /** Sends one message ahead of the queue. */
  sendNow(message: Buffer): void
  cut(): void
  /** Cuts the connection once the queue is empty. */
  cutWhenSent(): void
}

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
 * Serves a call. A client that is more than `maxQueuedUpdates` behind is dropped, with the error
 * text of the plugin.
 */
export function createSubscriber(call: DuplexCall, maxQueuedUpdates: number): Subscriber {
  let subscription: CompiledSubscription | null = null
  const queue: Waiting[] = []
  let queued = 0
  let cutting = false
  let timer: NodeJS.Timeout | undefined

  const pump = () => {
    timer = undefined
    const until = performance.now() + LONGEST_TURN_MS
    while (
      queue.length > 0 &&
      call.pendingBytes < HIGH_WATER &&
      !call.closed &&
      performance.now() < until
    ) {
      const { updates, subscription: filters, count } = queue.shift()!
      queued -= count
      sendWanted(call, updates(), filters)
    }
    if (call.closed) return
    if (queue.length > 0) timer ??= setTimeout(pump, 2)
    else if (cutting) call.cut()
  }

  call.onClose(() => {
    clearTimeout(timer)
    queue.length = 0
  })

  return {
    get commitment() {
      return subscription?.commitment ?? null
    },
    follow(next) {
      subscription = next
    },
    enqueue(updates, replayed, count = 0) {
      if (subscription === null || call.closed) return
      queued += replayed ? 0 : count
      if (queued > maxQueuedUpdates) {
        queue.length = 0
        call.end(GrpcCode.internal, 'lagged to send an update')
        return
      }
      queue.push({ updates, subscription, count: replayed ? 0 : count })
      if (timer === undefined) {
        if (replayed) timer = setTimeout(pump, 0)
        else pump()
      }
    },
    sendNow: (message) => call.send(frame(message)),
    cut: () => call.cut(),
    cutWhenSent() {
      cutting = true
      if (queue.length === 0) call.cut()
    },
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
