import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Transport } from './connection.ts'

/** A WebSocket as a connection writes to it; `socket` is the one below it. */
export function createTransport(webSocket: WebSocket, socket: Duplex): Transport {
  return {
    send: (message, sent) => webSocket.send(message, TEXT, sent),
    hold: () => socket.cork(),
    flush: () => socket.uncork(),
    ping: () => webSocket.ping(),
    close: (code) => webSocket.close(code),
    terminate: () => webSocket.terminate(),
    get unsentBytes() {
      return webSocket.bufferedAmount
    },
  }
}

/** Buffers hold rendered text. */
const TEXT = { binary: false, compress: false, fin: true } as const
