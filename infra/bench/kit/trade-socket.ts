import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { frameSize, masked, socketRequest } from './frames.ts'

/** How to open a socket of the feed. */
export interface TradeSocketOptions {
  readonly port: number
  readonly key: string
  /** The message that subscribes. */
  readonly subscribe: object
  /** Address of this machine from which to connect. */
  readonly localAddress?: string
  /** Called with each text frame after the answer to `subscribe`, its head included. */
  onText(frame: string): void
}

const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/**
 * Opens a socket that speaks just enough WebSocket to subscribe, to answer pings and to hand out
 * texts, so that the service is what is measured. Resolves with null if the service refuses the
 * connection for now, or closes it; rejects with any other answer, or if the connection breaks.
 */
export async function openTradeSocket(options: TradeSocketOptions): Promise<Socket | null> {
  const { port, key, subscribe, localAddress = '127.0.0.1', onText } = options
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  const closed = once(socket, 'close').then(() => null)
  socket.write(socketRequest(key))
  const head = await Promise.race([once(socket, 'data'), closed])
  const answer = String(head?.[0] ?? '')
  if (head === null || /^HTTP\/1.1 (408|429|503)/.test(answer)) {
    socket.destroy()
    return null
  }
  if (!answer.startsWith('HTTP/1.1 101')) throw new Error(answer)
  let take = onText
  const subscribed = new Promise<Socket>((resolve) => {
    take = () => {
      take = onText
      resolve(socket)
    }
  })
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = read(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
  })
  socket.write(masked(JSON.stringify(subscribe)))
  return Promise.race([subscribed, closed])

  /** Handles the whole frames and returns the rest. */
  function read(bytes: Buffer): Buffer {
    let at = 0
    for (;;) {
      const size = frameSize(bytes, at)
      if (size === 0 || at + size > bytes.length) break
      const opcode = (bytes[at] ?? 0) & 0x0f
      if (opcode === 9) socket.write(PONG)
      else if (opcode === 1) take(bytes.toString('latin1', at, at + size))
      at += size
    }
    return bytes.subarray(at)
  }
}
