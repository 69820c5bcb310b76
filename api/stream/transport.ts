import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { Transport } from './protocol-handler.ts'

/**
 * Creates the transport of a WebSocket; `socket` is the TCP socket below it. Frames are written to
 * the TCP socket directly, since they are encoded once for all connections. `ws` writes its own
 * frames (pings, closes) to it without delay, so that the order is kept.
 */
export function createTransport(webSocket: WebSocket, socket: Duplex): Transport {
  return {
    write(frames, sent) {
      if (socket.writable) socket.write(frames, sent)
    },
    cork: () => socket.cork(),
    uncork: () => socket.uncork(),
    ping: () => webSocket.ping(),
    close: (code) => webSocket.close(code),
    terminate: () => webSocket.terminate(),
    get isOpen() {
      return webSocket.readyState === WebSocket.OPEN
    },
    get unsentBytes() {
      return socket.writableLength
    },
  }
}
