import {
  constants,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { type ListeningServer, listen } from '../listen.ts'

/** Status codes of gRPC that the simulator uses. */
export const GrpcCode = {
  ok: 0,
  invalidArgument: 3,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unauthenticated: 16,
} as const

/** Ends a call with a status other than OK. */
export class GrpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** A stream of messages in both directions. */
export interface DuplexCall {
  /** Bytes accepted by `send` that the network has not taken yet. */
  readonly pendingBytes: number
  readonly closed: boolean
  onMessage(handler: (message: Buffer) => void): void
  /** Called when the client has closed its side. */
  onHalfClose(handler: () => void): void
  onClose(handler: () => void): void
  /**
   * Sends messages that already have their 5-byte prefix, joined into as few frames as possible.
   */
  send(framed: Buffer): void
  /** Ends the call with a status, after the messages sent before. */
  end(code: number, message?: string): void
  /** Destroys the connection, as a failing network does. */
  cut(): void
}

/** The methods of a gRPC server. */
export interface GrpcServerHandlers {
  /** Handlers of unary methods by path; they get the bytes of the request. */
  readonly unary: Readonly<Record<string, (request: Buffer) => Uint8Array>>
  /** Handlers of streaming methods by path. */
  readonly duplex: Readonly<Record<string, (call: DuplexCall) => void>>
  /** Throws a GrpcError to refuse a call. */
  authorize(headers: IncomingHttpHeaders): void
}

/**
 * Starts a gRPC server on plain HTTP/2. It uses node:http2 because @grpc/grpc-js writes one frame
 * per message, which makes the Yellowstone client hang up (`too_many_data_frames`). Here one write
 * holds any number of messages.
 */
export function startGrpcServer(
  handlers: GrpcServerHandlers,
  address: { readonly host: string; readonly port: number },
): Promise<ListeningServer> {
  const server = createServer({ settings: { initialWindowSize: 1_048_576 } })
  const sessions = new Set<Http2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => session.destroy())
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.destroy())
    serve(stream, headers, handlers)
  })
  return listen(server, address, () => {
    for (const session of sessions) session.destroy()
  })
}

/** Serves one call: a unary method, a streaming one, or a refusal. */
function serve(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  handlers: GrpcServerHandlers,
): void {
  const answer = createCallAnswer(stream)
  try {
    handlers.authorize(headers)
  } catch (error) {
    answer.finish(...statusOf(error))
    return
  }
  const path = headers[':path'] ?? ''
  const unary = handlers.unary[path]
  const duplex = handlers.duplex[path]
  if (unary !== undefined) {
    readMessages(stream, (message) => {
      try {
        const reply = unary(message)
        answer.open()
        stream.write(frame(reply))
        answer.finish(GrpcCode.ok, '')
      } catch (error) {
        answer.finish(...statusOf(error))
      }
    })
  } else if (duplex === undefined) {
    answer.finish(GrpcCode.unimplemented, `unknown method ${path}`)
  } else {
    answer.open()
    duplex(duplexCall(stream, answer))
  }
}

/** Headers and status of the response to a call. */
interface CallAnswer {
  /** Sends the headers, once. */
  open(): void
  /** Ends the call with a status. */
  finish(code: number, message: string): void
}

function createCallAnswer(stream: ServerHttp2Stream): CallAnswer {
  const trailers: Record<string, string> = {}
  let isOpen = false
  return {
    open() {
      if (isOpen) return
      isOpen = true
      stream.respond(RESPONSE_HEADERS, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    },
    finish(code, message) {
      if (stream.destroyed || stream.writableEnded) return
      const status = {
        'grpc-status': String(code),
        ...(message === '' ? {} : { 'grpc-message': encodeURIComponent(message) }),
      }
      if (!isOpen) {
        // Nothing was sent yet, so that status and headers are one block.
        stream.respond({ ...RESPONSE_HEADERS, ...status }, { endStream: true })
        return
      }
      Object.assign(trailers, status)
      stream.end()
    },
  }
}

function duplexCall(stream: ServerHttp2Stream, answer: CallAnswer): DuplexCall {
  return {
    get pendingBytes() {
      return stream.writableLength
    },
    get closed() {
      return stream.destroyed || stream.closed
    },
    onMessage: (handler) => readMessages(stream, handler),
    onHalfClose: (handler) => stream.on('end', handler),
    onClose: (handler) => stream.on('close', handler),
    send(framed) {
      if (!stream.destroyed && !stream.writableEnded) stream.write(framed)
    },
    end: (code, message = '') => answer.finish(code, message),
    cut: () => stream.session?.destroy(undefined, constants.NGHTTP2_INTERNAL_ERROR),
  }
}

const RESPONSE_HEADERS = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': 'identity',
}

function statusOf(error: unknown): [number, string] {
  if (error instanceof GrpcError) return [error.code, error.message]
  return [GrpcCode.internal, error instanceof Error ? error.message : String(error)]
}

/** Prepends the prefix of a gRPC message. */
export function frame(message: Uint8Array): Buffer {
  return Buffer.concat([framePrefix(message.length), message])
}

/** The prefix of a gRPC message: u8 compressed, u32 length, big-endian. */
export function framePrefix(length: number): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(length, 1)
  return prefix
}

function readMessages(stream: ServerHttp2Stream, handler: (message: Buffer) => void): void {
  let held: Buffer = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    while (held.length >= 5) {
      const end = 5 + held.readUInt32BE(1)
      if (held.length < end) return
      const message = held.subarray(5, end)
      held = held.subarray(end)
      handler(message)
    }
  })
}
