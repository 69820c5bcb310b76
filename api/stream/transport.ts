import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Transport } from './conversation.ts'

/**
 * A WebSocket as a connection writes to it; `socket` is the one below it. Frames are written to that one as they are: they were made once for everybody. The library writes its
 * own (pings, closes) there at once, too, so they keep their order.
 */
export function createTransport(webSocket: WebSocket, socket: Duplex): Transport {
  return {
    write(frames, sent) {
      if (socket.writable) socket.write(frames, sent)
    },
    hold: () => socket.cork(),
    flush: () => socket.uncork(),
    ping: () => webSocket.ping(),
    close: (code) => webSocket.close(code),
    terminate: () => webSocket.terminate(),
    get unsentBytes() {
      return socket.writableLength
    },
  }
}
