import type { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import { readEnvelope, type UpdateEnvelope } from '../wire/update-envelope.ts'
import { pingRequest } from './subscribe-request.ts'
import type { OpenUpdateStream, StreamEnd, UpdateStream } from './yellowstone.ts'

/** One stream from its opening to its end, watched. */
export interface StreamSession {
  /** Resolves once, never rejects. */
  readonly ended: Promise<SessionEnd>
  send(request: SubscribeRequest): void
  /** Ends it with this. */
  end(why: SessionEnd): void
}

/** `silent`: no slot for too long; `behind`: more is waiting than may; `closed`: the service stops. */
export type SessionEnd = StreamEnd | { readonly kind: 'silent' | 'behind' | 'closed' }

export interface StreamSessionOptions {
  readonly endpoint: string
  readonly xToken: string | null
  readonly request: SubscribeRequest
  readonly open: OpenUpdateStream
  readonly limits: SessionLimits
  /** Each update with its bytes; null for bytes that are none. */
  onUpdate(envelope: UpdateEnvelope | null, bytes: Uint8Array): void
}

export interface SessionLimits {
  /** A stream that brings neither a slot status nor a block meta for so long is silent, whatever pings it answers. */
  readonly idleMs: number
  readonly pingMs: number
}

/** Opens a stream and watches over it: pings and silence. */
export async function openSession(
  options: StreamSessionOptions,
): Promise<StreamSession | StreamEnd> {
  const { endpoint, xToken, request, open, limits, onUpdate } = options
  let lastSlotAt = performance.now()
  let pings = 0
  let stream: UpdateStream | null = null
  let isOver = false
  let resolveEnded: (end: SessionEnd) => void = () => {}
  const ended = new Promise<SessionEnd>((resolve) => {
    resolveEnded = resolve
  })
  const pinger = setInterval(ping, limits.pingMs)
  const watch = setInterval(() => {
    if (performance.now() - lastSlotAt > limits.idleMs) end({ kind: 'silent' })
  }, limits.idleMs / 10)

  function take(bytes: Uint8Array): void {
    const envelope = readEnvelope(bytes)
    onUpdate(envelope, bytes)
    if (envelope === null) return
    if (envelope.kind === 'ping') ping()
    if (envelope.kind === 'meta' || envelope.kind === 'slot') lastSlotAt = performance.now()
  }

  function ping(): void {
    stream?.send(pingRequest(++pings))
  }

  function end(why: SessionEnd): void {
    stream?.close()
    finish(why)
  }

  function finish(why: SessionEnd): void {
    clearInterval(pinger)
    clearInterval(watch)
    isOver = true
    resolveEnded(why)
  }

  const opened = await open({ endpoint, xToken, request, onUpdate: take, onEnd: finish })
  if ('kind' in opened) {
    finish(opened)
    return opened
  }
  stream = opened
  // Silent before it was open (a process that slept): nothing of it may go on beside the next.
  if (isOver) opened.close()
  return { ended, send: (changed) => opened.send(changed), end }
}
