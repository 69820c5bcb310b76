import type { Socket } from 'node:net'
import {
  type ChannelCredentials,
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
  /** Closes the stream and drops updates that the client has queued. `onEnd` is not called. */
  close(): void
}

/** Options of `OpenUpdateStream`. */
export interface UpdateStreamOptions {
  /** `http://` or `https://` (rule J2). */
  readonly endpoint: string
  readonly xToken: string | null
  readonly request: SubscribeRequest
  /** Called with each update: the bytes of a `SubscribeUpdate`. */
  onUpdate(bytes: Uint8Array): void
  /** Called once when an open stream ends, unless `close` ended it. */
  onEnd(end: StreamEnd): void
}

/** Why a stream ended or could not be opened. */
export type StreamEnd =
  /**
   * The server no longer has the requested slot. `oldest` is the lowest slot that it can replay;
   * null when the server does not say.
   */
  | { readonly kind: 'out_of_range'; readonly oldest: number | null }
  /** The server replays no slots (`replay_stored_slots` is 0). */
  | { readonly kind: 'no_replay' }
  /** A filter has too many addresses. The server accepts `most` of them. */
  | { readonly kind: 'too_many_addresses'; readonly most: number }
  /** The server does not take the filters, or ignores one: too large, or unknown (rule K24). */
  | { readonly kind: 'filter_refused' }
  /** The token is missing or wrong. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly message: string }

/** Opens a stream, or returns why it cannot be opened. Tests pass another implementation. */
export type OpenUpdateStream = (options: UpdateStreamOptions) => Promise<UpdateStream | StreamEnd>

/**
 * Opens a stream with the codecs of @triton-one/yellowstone-grpc 7.0.1 over @grpc/grpc-js. No other
 * file imports a Yellowstone client.
 *
 * The client of the package is not used. It queues updates without bound or backpressure and costs
 * several times the CPU per update. grpc-js delivers encoded messages, applies backpressure and
 * reports status codes as numbers (`infra/decisions/yellowstone-transport.md`).
 */
export const openUpdateStream: OpenUpdateStream = async (options) => {
  const { xToken, request, onUpdate, onEnd } = options
  const connection = await connect(options.endpoint)
  if (connection === null) {
    return { kind: 'failed', message: `no connection within ${CONNECT_TIMEOUT_MS} ms` }
  }
  const { client, close: disconnect } = connection
  const metadata = new Metadata()
  if (xToken !== null) metadata.set('x-token', xToken)
  const call: ClientDuplexStream<SubscribeRequest, Uint8Array> = client.makeBidiStreamRequest(
    '/geyser.Geyser/Subscribe',
    (message: SubscribeRequest) => Buffer.from(SubscribeRequest.encode(message).finish()),
    (bytes: Buffer) => bytes,
    metadata,
  )
  let open = true
  let reportEnd: (end: StreamEnd) => void = onEnd

  function finish(end: StreamEnd): void {
    if (!open) return
    close()
    reportEnd(end)
  }

  function close(): void {
    open = false
    call.cancel()
    disconnect()
  }

  call.on('data', (bytes: Uint8Array) => {
    if (open) onUpdate(bytes)
  })
  call.on('error', (error: GrpcError) => finish(readEnd(error)))
  call.on('end', () => finish({ kind: 'failed', message: 'the server ended the stream' }))
  call.write(request)
  // A server sends headers when it accepts the call, so a refusal comes before them. Some servers
  // send headers only with the first message; the timeout accepts those.
  const refused = await new Promise<StreamEnd | null>((resolve) => {
    reportEnd = resolve
    call.once('metadata', () => resolve(null))
    setTimeout(resolve, HEADERS_TIMEOUT_MS, null).unref()
  })
  if (refused !== null) return refused
  reportEnd = onEnd
  return {
    send(changed) {
      if (open) call.write(changed)
    },
    close,
  }
}

interface Connection {
  readonly client: Client
  /** Ends what is under way, also while the server does not answer. */
  close(): void
}

/** Connects to a server; null when it cannot be reached in time. */
async function connect(endpoint: string): Promise<Connection | null> {
  const { protocol, hostname, port, host } = new URL(endpoint)
  const secure = protocol === 'https:'
  const sockets = new Set<Socket>()
  let isClosed = false
  const onSocket = (socket: Socket) => {
    if (isClosed) socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  const client = new Client(
    port === '' ? `${hostname}:${secure ? 443 : 80}` : host,
    noting(secure ? credentials.createSsl() : credentials.createInsecure(), onSocket),
    CHANNEL_OPTIONS,
  )
  const error = await new Promise<Error | undefined>((resolve) => {
    client.waitForReady(Date.now() + CONNECT_TIMEOUT_MS, resolve)
  })
  const close = () => {
    isClosed = true
    client.close()
    for (const socket of sockets) socket.destroy()
  }
  if (error === undefined) return { client, close }
  close()
  return null
}

/**
 * Credentials that hand out each socket of their client once it is connected. grpc-js 1.14.7 closes
 * none to which the server has not said anything yet, and waits for ever for the end of one whose
 * server hangs.
 */
function noting(of: ChannelCredentials, onSocket: (socket: Socket) => void): ChannelCredentials {
  const create = of._createSecureConnector.bind(of)
  of._createSecureConnector = (...args) => {
    const connector = create(...args)
    const connect = connector.connect.bind(connector)
    connector.connect = (socket) => {
      onSocket(socket)
      return connect(socket)
    }
    return connector
  }
  return of
}

/** A start that cannot reach the server must fail in time (rule J1). */
const CONNECT_TIMEOUT_MS = 4000
const HEADERS_TIMEOUT_MS = 1000

const CHANNEL_OPTIONS = {
  /** A larger update ends the stream. Updates of transactions have kilobytes. */
  'grpc.max_receive_message_length': 256 * 1024 * 1024,
  /**
   * HTTP/2's default window of 64 KiB allows 1.3 MB/s at a latency of 50 ms. The window is also the
   * most that is received before the consumer reads it.
   */
  'grpc-node.flow_control_window': 8 * 1024 * 1024,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.enable_retries': 0,
  // Each stream has a separate connection, so that closing a stream closes its connection.
  'grpc.use_local_subchannel_pool': 1,
}

/**
 * Error texts: yellowstone-grpc-geyser/src/grpc.rs and src/plugin/filter/limits.rs; of a request
 * above the server's limit of bytes: tonic, src/codec/decode.rs, with the code `OUT_OF_RANGE`.
 */
function readEnd({ code, details }: Pick<GrpcError, 'code' | 'details'>): StreamEnd {
  if (FILTER_REFUSED.test(details)) return { kind: 'filter_refused' }
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

const FILTER_REFUSED =
  /message length too large|larger than max|Max amount of filters|full stream with `any`/
