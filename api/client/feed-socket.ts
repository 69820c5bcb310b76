import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { FeedEndpoint, FollowerSocket, FollowerSocketEvents } from './feed-endpoint.ts'

/**
 * Opens a connection in Node. Bundlers for browsers take `feed-socket-browser.ts` in place of this
 * module, by the field `browser` of the package.
 */
export function openFollowerSocket(
  endpoint: FeedEndpoint,
  events: FollowerSocketEvents,
): FollowerSocket {
  const socket = new WebSocket(endpoint.url, {
    headers: { authorization: `Bearer ${endpoint.bearer}` },
    handshakeTimeout: 10_000,
  })
  socket.on('open', () => events.opened())
  socket.on('message', (data: Buffer) => events.received(data.toString()))
  socket.on('unexpected-response', (_request, response: IncomingMessage) => {
    events.ended(response.statusCode ?? 0)
    response.destroy()
    socket.terminate()
  })
  socket.on('error', () => events.ended(null))
  socket.on('close', () => events.ended(null))
  return {
    send: (text) => socket.send(text),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => {
      if (socket.readyState === WebSocket.CONNECTING) socket.terminate()
      else socket.close()
    },
    terminate: () => socket.terminate(),
  }
}
