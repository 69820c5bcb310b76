import type { SubscribeRequest } from '@triton-one/yellowstone-grpc'
import { readEnvelope, type UpdateEnvelope } from '../wire/update-envelope.ts'
import { pingRequest } from './subscribe-request.ts'
import type { WalletFilter } from './wallet-filter.ts'
import type { OpenUpdateStream, StreamEnd, UpdateStream } from './yellowstone.ts'

/** One open stream with pings and an idle timeout. */
export interface StreamSession {
  /** How the stream ended. Resolves once and never rejects. */
  readonly ended: Promise<SessionEnd>
  /** Replaces the filters of the stream. */
  send(request: SubscribeRequest): void
  /** Closes the stream. `ended` resolves with `reason` unless the stream has ended before. */
  end(reason: SessionEnd): void
}

/**
 * Why a session ended. Besides the ends of the stream itself:
 * - `silent`: no slot came within the idle timeout.
 * - `behind`: more waits for the consumer than the limits allow.
 * - `closed`: the service stops.
 */
export type SessionEnd = StreamEnd | { readonly kind: 'silent' | 'behind' | 'closed' }

/** Options of `openSession`. */
export interface StreamSessionOptions {
  readonly endpoint: string
  readonly xToken: string | null
  readonly request: SubscribeRequest
  readonly open: OpenUpdateStream
  readonly limits: SessionLimits
  /** Drops transactions of others (rule K24). By default none is dropped. */
  readonly filter?: Pick<WalletFilter, 'judge'>
  /** Called with each update and its bytes; `envelope` is null for bytes that are not an update. */
  onUpdate(envelope: UpdateEnvelope | null, bytes: Uint8Array): void
}

/** Timeouts of a session. */
export interface SessionLimits {
  /**
   * Idle timeout: a stream without a slot status or a block meta for this long ends as `silent`,
   * even when it answers pings.
   */
  readonly idleMs: number
  /** Time between two pings. */
  readonly pingMs: number
}

/** Opens a stream. Returns how it ended instead when it cannot be opened. */
export async function openSession(
  options: StreamSessionOptions,
): Promise<StreamSession | StreamEnd> {
  const { endpoint, xToken, request, open, limits, filter, onUpdate } = options
  let lastSlotAt = performance.now()
  let pings = 0
  let stream: UpdateStream | null = null
  let isOver = false
  let resolveEnded: (end: SessionEnd) => void = () => {}
  const ended = new Promise<SessionEnd>((resolve) => {
    resolveEnded = resolve
  })
  const pinger = setInterval(ping, limits.pingMs)
  const idleCheck = setInterval(() => {
    if (performance.now() - lastSlotAt > limits.idleMs) end({ kind: 'silent' })
  }, limits.idleMs / 10)

  function receive(bytes: Uint8Array): void {
    const envelope = readEnvelope(bytes)
    const verdict = envelope?.kind === 'transaction' ? filter?.judge(bytes) : 'related'
    if (verdict === 'filter_unknown') end({ kind: 'filter_refused' })
    if (verdict === 'filter_unknown' || verdict === 'unrelated') return
    onUpdate(envelope, bytes)
    if (envelope === null) return
    if (envelope.kind === 'ping') ping()
    if (envelope.kind === 'meta' || envelope.kind === 'slot') lastSlotAt = performance.now()
  }

  function ping(): void {
    stream?.send(pingRequest(++pings))
  }

  function end(reason: SessionEnd): void {
    stream?.close()
    finish(reason)
  }

  function finish(reason: SessionEnd): void {
    clearInterval(pinger)
    clearInterval(idleCheck)
    isOver = true
    resolveEnded(reason)
  }

  const opened = await open({ endpoint, xToken, request, onUpdate: receive, onEnd: finish })
  if ('kind' in opened) {
    finish(opened)
    return opened
  }
  stream = opened
  // The idle timeout can pass while the stream opens, for example in a suspended process. Then
  // `end` had no stream to close.
  if (isOver) opened.close()
  return { ended, send: (changed) => opened.send(changed), end }
}
