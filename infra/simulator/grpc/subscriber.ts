import type { CommitmentLevel } from '@triton-one/yellowstone-grpc'
import { type DuplexCall, frame, GrpcCode } from './server.ts'
import type { Subscription } from './subscription.ts'
import type { Update } from './updates.ts'
import { writeVarint } from './varint.ts'

/** One client's end of a subscription: what waits for it, in order, and how far it may fall behind. */
export interface Subscriber {
  /** Null until it has asked for something. */
  readonly commitment: CommitmentLevel | null
  /** Takes new filters from here on. */
  follow(subscription: Subscription): void
  /** Puts updates at the end of the queue. Replayed ones are made when their turn comes and count for nothing. */
  enqueue(updates: () => readonly Update[], replayed: boolean, count?: number): void
  /** Sends one message past the queue. */
  sendNow(message: Buffer): void
  cut(): void
  /** Cuts the connection once the queue is empty. */
  cutWhenSent(): void
}

interface Waiting {
  readonly updates: () => readonly Update[]
  readonly subscription: Subscription
  readonly count: number
}

/** Bytes handed to the network at most before it has taken some. */
const HIGH_WATER = 4 * 1_048_576
/** Blocks are made when they are sent; a long replay leaves turns to whatever else this process does, the service itself in the demo. */
const LONGEST_TURN_MS = 10
/** Messages are joined up to about this size. */
const JOIN_BYTES = 256 * 1_024

/** Serves a call. A client that is more than `maxQueuedUpdates` behind is dropped with the plugin's words. */
export function createSubscriber(call: DuplexCall, maxQueuedUpdates: number): Subscriber {
  let subscription: Subscription | null = null
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
function sendWanted(call: DuplexCall, updates: readonly Update[], filters: Subscription): void {
  const created = createdAt()
  let parts: Buffer[] = []
  let size = 0
  for (const update of updates) {
    const names = filters.namesFor(update)
    if (names === null) continue
    const { body } = update
    const length = names.length + body.length + created.length
    const prefix = Buffer.allocUnsafe(5)
    prefix.writeUInt8(0, 0)
    prefix.writeUInt32BE(length, 1)
    parts.push(prefix, names, body, created)
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
