import {
  SubscribeRequest,
  SubscribeUpdate,
  type SubscribeUpdateTransaction,
} from '@triton-one/yellowstone-grpc'
import { type DuplexStream, GrpcClient } from '@triton-one/yellowstone-grpc/napi'

/** One open subscription of a Yellowstone server. */
export interface UpdateStream {
  /** Replaces the filters, or pings. */
  send(request: SubscribeRequest): void
  /** Ends it; `onEnd` is not called any more. What the client holds in its queue is dropped. */
  close(): void
}

export interface UpdateStreamOptions {
  /** `http://` or `https://` (decisions J2). */
  readonly endpoint: string
  readonly xToken: string | null
  readonly request: SubscribeRequest
  /** Called for each update, encoded as it came: a `SubscribeUpdate`. */
  onUpdate(bytes: Uint8Array): void
  onEnd(end: StreamEnd): void
}

/** Why a stream ended or could not be opened. */
export type StreamEnd =
  /** The server does not have the slot asked for any more; `oldest` is the first that it has, where it tells. */
  | { readonly kind: 'out_of_range'; readonly oldest: number | null }
  /** The server replays nothing (`replay_stored_slots` 0). */
  | { readonly kind: 'no_replay' }
  /** The server takes this many addresses in one filter. */
  | { readonly kind: 'too_many_addresses'; readonly most: number }
  /** The token is missing or wrong. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly message: string }

/** Opens streams; a test may put another in its place. */
export type OpenUpdateStream = (options: UpdateStreamOptions) => Promise<UpdateStream | StreamEnd>

/**
 * Opens a stream through the native client of @triton-one/yellowstone-grpc 7.0.1; this is the only file that imports it. Its stream gives updates
 * as they are encoded; the wrapper around it decodes every field of every one, which costs as much again as receiving it (`npm run bench -- ingest`).
 * Reconnecting is the caller's: the client's own knows neither checkpoint nor gap.
 */
export const openUpdateStream: OpenUpdateStream = async (options) => {
  const { endpoint, xToken, request, onUpdate, onEnd } = options
  let stream: DuplexStream
  try {
    const client = await GrpcClient.new(endpoint, xToken, CHANNEL)
    stream = await client.subscribe(encodeRequest(request))
  } catch (error) {
    return readEnd(error)
  }
  let open = true

  async function pump(): Promise<void> {
    while (open) {
      let bytes: Uint8Array | null | undefined
      try {
        bytes = await stream.read()
      } catch (error) {
        return finish(readEnd(error))
      }
      if (!open) return
      if (!bytes) return finish({ kind: 'failed', message: 'the server ended the stream' })
      onUpdate(bytes)
    }
  }

  function finish(end: StreamEnd): void {
    if (!open) return
    close()
    onEnd(end)
  }

  function close(): void {
    open = false
    stream.close()
  }

  void pump()
  return {
    send(changed) {
      // A stream that cannot be written to has ended, and the next read tells why.
      if (open) stream.writeRaw(encodeRequest(changed)).catch(() => {})
    },
    close,
  }
}

/** Receive limit 256 MiB (the price of a message over it is the stream); connecting takes 3 s at most, so that a start fails in time. */
const CHANNEL = {
  grpcMaxDecodingMessageSize: 256 * 1024 * 1024,
  grpcConnectTimeout: 3000,
  grpcHttp2KeepAliveInterval: 10_000,
  grpcKeepAliveTimeout: 10_000,
  grpcKeepAliveWhileIdle: true,
}

function encodeRequest(request: SubscribeRequest): Buffer {
  return Buffer.from(SubscribeRequest.encode(request).finish())
}

/** gRPC statuses reach JavaScript only as text, somewhere in the chain of causes. Texts: yellowstone-grpc-geyser/src/grpc.rs, filter/limits.rs. */
export function readEnd(error: unknown): StreamEnd {
  const texts: string[] = []
  for (let cause = error; cause instanceof Error && texts.length < 8; cause = cause.cause) {
    texts.push(cause.message)
  }
  const text = texts.join(': ')
  const oldest = /is not available(?:, last available: ([0-9]+))?/.exec(text)
  if (oldest !== null) {
    return { kind: 'out_of_range', oldest: oldest[1] === undefined ? null : Number(oldest[1]) }
  }
  if (text.includes('from_slot is not supported')) return { kind: 'no_replay' }
  const most = /Max amount of Pubkeys reached, only ([0-9]+) allowed/.exec(text)
  if (most !== null) return { kind: 'too_many_addresses', most: Number(most[1]) }
  if (/valid authentication credentials|does not have permission/.test(text)) {
    return { kind: 'refused' }
  }
  return { kind: 'failed', message: texts.at(-1) ?? String(error) }
}

/** The transaction of an encoded update; null when the bytes are none. */
export function decodeTransaction(bytes: Uint8Array): SubscribeUpdateTransaction | null {
  try {
    return SubscribeUpdate.decode(bytes).transaction ?? null
  } catch {
    return null // the codec throws on bytes cut short
  }
}
