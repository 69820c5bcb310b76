import {
  Client,
  type ClientDuplexStream,
  credentials,
  type ServiceError as GrpcError,
  Metadata,
  status,
} from '@grpc/grpc-js'
import { SubscribeRequest } from '@triton-one/yellowstone-grpc'

/** One open subscription of a Yellowstone server. */
export interface UpdateStream {
  /** Replaces the filters, or pings. */
  send(request: SubscribeRequest): void
  /** Ends it; `onEnd` is not called any more. What the client holds in its queue is dropped. */
  close(): void
}

export interface UpdateStreamOptions {
  /** `http://` or `https://` (rule J2). */
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
 * Opens a stream with the codecs of @triton-one/yellowstone-grpc 7.0.1 over @grpc/grpc-js; the only file that talks to Yellowstone. The package's own
 * client hands each update over singly from a native queue that has no bound and no backpressure, at 60 to 75 us of CPU each before it is decoded;
 * grpc-js hands over encoded messages at 10 to 13 us, reads no more than is taken, and tells statuses as numbers
 * (`infra/decisions/yellowstone-transport.md`).
 */
export const openUpdateStream: OpenUpdateStream = async (options) => {
  const { endpoint, xToken, request, onUpdate, onEnd } = options
  const { protocol, hostname, port, host } = new URL(endpoint)
  const secure = protocol === 'https:'
  const client = new Client(
    port === '' ? `${hostname}:${secure ? 443 : 80}` : host,
    secure ? credentials.createSsl() : credentials.createInsecure(),
    CHANNEL,
  )
  const unreachable = await new Promise<Error | undefined>((resolve) => {
    client.waitForReady(Date.now() + CONNECT_MS, resolve)
  })
  if (unreachable !== undefined) {
    client.close()
    return { kind: 'failed', message: `no connection within ${CONNECT_MS} ms` }
  }
  const metadata = new Metadata()
  if (xToken !== null) metadata.set('x-token', xToken)
  const call: ClientDuplexStream<SubscribeRequest, Uint8Array> = client.makeBidiStreamRequest(
    '/geyser.Geyser/Subscribe',
    (message: SubscribeRequest) => Buffer.from(SubscribeRequest.encode(message).finish()),
    (bytes: Buffer) => bytes,
    metadata,
  )
  let open = true
  let refuse: (end: StreamEnd) => void = onEnd

  function finish(end: StreamEnd): void {
    if (!open) return
    close()
    refuse(end)
  }

  function close(): void {
    open = false
    call.cancel()
    client.close()
  }

  call.on('data', (bytes: Uint8Array) => {
    if (open) onUpdate(bytes)
  })
  call.on('error', (error: GrpcError) => finish(readEnd(error)))
  call.on('end', () => finish({ kind: 'failed', message: 'the server ended the stream' }))
  call.write(request)
  // Headers come when the server takes the call: a wrong token or a slot out of range is told before. Some send them with their first message only.
  const refused = await new Promise<StreamEnd | null>((resolve) => {
    refuse = resolve
    call.once('metadata', () => resolve(null))
    setTimeout(resolve, HEADERS_MS, null).unref()
  })
  if (refused !== null) return refused
  refuse = onEnd
  return {
    send(changed) {
      if (open) call.write(changed)
    },
    close,
  }
}

/** A start that reaches nobody is to fail in time (rule J1). */
const CONNECT_MS = 4000
const HEADERS_MS = 1000

const CHANNEL = {
  /** Larger updates than this end the stream; those of a transaction are kilobytes. */
  'grpc.max_receive_message_length': 256 * 1024 * 1024,
  /** HTTP/2's own window of 64 KiB would be 1.3 MB/s at 50 ms. It is also what is read at most without being taken. */
  'grpc-node.flow_control_window': 8 * 1024 * 1024,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.enable_retries': 0,
  // Two streams of one process are two connections: closing one is to leave nothing of the other.
  'grpc.use_local_subchannel_pool': 1,
}

/** Texts: yellowstone-grpc-geyser/src/grpc.rs and src/plugin/filter/limits.rs. */
function readEnd({ code, details }: Pick<GrpcError, 'code' | 'details'>): StreamEnd {
  if (code === status.OUT_OF_RANGE) {
    const oldest = /last available: ([0-9]+)/.exec(details)
    return { kind: 'out_of_range', oldest: oldest === null ? null : Number(oldest[1]) }
  }
  if (details.includes('from_slot is not supported')) return { kind: 'no_replay' }
  const most = /Max amount of Pubkeys reached, only ([0-9]+) allowed/.exec(details)
  if (most !== null) return { kind: 'too_many_addresses', most: Number(most[1]) }
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED) {
    return { kind: 'refused' }
  }
  return { kind: 'failed', message: `${status[code]}: ${details}` }
}
