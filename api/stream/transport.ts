import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { Transport } from './protocol-handler.ts'

/**
 * Creates the transport of a WebSocket; `socket` is the TCP socket below it. Frames are written to
 * the TCP socket directly, since they are encoded once for all connections. `ws` writes its own
 * frames (pings, closes) to it without delay, so that the order is kept.
 */
export function createTransport(webSocket: WebSocket, socket: Duplex): Transport {
  return new SocketTransport(webSocket, socket)
}

/** A class, whose methods all connections share: closures would cost each of them memory. */
class SocketTransport implements Transport {
  readonly #webSocket: WebSocket
  readonly #socket: Duplex

  constructor(webSocket: WebSocket, socket: Duplex) {
    this.#webSocket = webSocket
    this.#socket = socket
  }

  write(frames: Buffer, sent?: () => void): void {
    if (this.#socket.writable) this.#socket.write(frames, sent)
  }

  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  ping(): void {
    this.#webSocket.ping()
  }

  close(code: number): void {
    this.#webSocket.close(code)
  }

  terminate(): void {
    this.#webSocket.terminate()
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === WebSocket.OPEN
  }

  get unsentBytes(): number {
    return this.#socket.writableLength
  }
}
