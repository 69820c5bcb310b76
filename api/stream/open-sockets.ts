import type { WebSocket } from 'ws'
import type { EndReason } from './protocol-handler.ts'
import type { FeedMetrics } from './telemetry.ts'

/** Callbacks of a connection that its socket calls. */
export interface SocketHandler {
  /** Handles a message; `text` is null for a binary one. */
  receive(text: string | null, bytes: number): void
  onPing(): void
  onPong(): void
}

/** An open socket whose connection is not attached yet. */
export interface OpenSocket {
  /** Records why the service ended the connection, for the metric. */
  setEndReason(reason: EndReason): void
  /** Passes what comes over the socket to a connection. `onClosed` is called when it is closed. */
  bind(handler: SocketHandler, onClosed: () => void): void
}

/** The open WebSockets of the feed, those in the closing handshake included. */
export class OpenSockets {
  readonly #metrics: Pick<FeedMetrics, 'connections' | 'closes'>
  readonly #sockets = new Set<WebSocket>()

  constructor(metrics: Pick<FeedMetrics, 'connections' | 'closes'>) {
    this.#metrics = metrics
  }

  /** Number of open sockets. */
  get size(): number {
    return this.#sockets.size
  }

  /** Adds a socket after its handshake. */
  add(webSocket: WebSocket): OpenSocket {
    this.#sockets.add(webSocket)
    this.#metrics.connections.set(this.#sockets.size)
    let reason: EndReason | 'protocol_error' | null = null
    return {
      setEndReason: (given) => {
        reason = given
      },
      bind: (handler, onClosed) => {
        webSocket.on('message', (data: Buffer, isBinary) =>
          handler.receive(isBinary ? null : data.toString(), data.length),
        )
        webSocket.on('ping', () => handler.onPing())
        webSocket.on('pong', () => handler.onPong())
        webSocket.on('error', () => {
          reason ??= 'protocol_error' // ws closes the socket with the fitting code
        })
        webSocket.on('close', () => {
          this.#sockets.delete(webSocket)
          onClosed()
          this.#metrics.connections.set(this.#sockets.size)
          this.#metrics.closes.inc({ reason: reason ?? 'client' })
        })
      },
    }
  }

  /** Resolves when all sockets are closed; terminates those that are open after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    const closed = this.#untilClosed()
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.terminate()
    }, timeoutMs)
    await closed
    clearTimeout(timer)
  }

  #untilClosed(): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.#sockets.size === 0) resolve()
      }
      for (const socket of this.#sockets) socket.on('close', check)
      check()
    })
  }
}
