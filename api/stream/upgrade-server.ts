import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { ApiError } from '../errors.ts'
import { rawRefusal } from '../middleware/raw-refusal.ts'

/** Creates the server that does WebSocket handshakes; it refuses bad ones over HTTP. */
export function createUpgradeServer(): WebSocketServer {
  const server = new WebSocketServer(SERVER_OPTIONS)
  server.on('wsClientError', (_error, socket) => refuseUpgrade(socket, 'upgrade_required'))
  return server
}

/**
 * Refuses an upgrade with a problem response over HTTP and closes the socket. `upgrade_required`:
 * the handshake is malformed (RFC 6455 4.2). `unavailable`: the feed has not started or is
 * stopping.
 */
export function refuseUpgrade(socket: Duplex, code: 'upgrade_required' | 'unavailable'): void {
  const headers: Record<string, string> =
    code === 'unavailable'
      ? { 'Retry-After': '1' }
      : { Upgrade: 'websocket', Connection: 'Upgrade, close', 'Sec-WebSocket-Version': '13' }
  socket.end(rawRefusal(new ApiError(code, { headers })))
}

/** Frames up to this size are refused with an `error` message, larger ones without. */
const MAX_FRAME_BYTES = 16_384

const SERVER_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_FRAME_BYTES,
  // Time for a client to read pending messages and respond to a close frame. Missing in the types
  // of ws 8.19.
  closeTimeout: 10_000,
  handleProtocols: (offered: Set<string>): string | false =>
    offered.has('bearer') ? 'bearer' : false,
}
