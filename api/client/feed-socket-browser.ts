import type { FeedEndpoint, FollowerSocket, FollowerSocketEvents } from './feed-endpoint.ts'

/**
 * Opens a connection with the WebSocket of a browser. It offers the credential as a subprotocol,
 * because a browser sets no header. It cannot stop reading, so `pause` closes the connection; the
 * next one resumes.
 */
export function openFollowerSocket(
  endpoint: FeedEndpoint,
  events: FollowerSocketEvents,
): FollowerSocket {
  const socket = new WebSocket(endpoint.url, ['bearer', endpoint.bearer])
  let state: 'connecting' | 'open' | 'over' = 'connecting'
  // Some runtimes tell of a refused handshake by `error` alone.
  const end = async () => {
    const wasConnecting = state === 'connecting'
    if (state === 'over') return
    state = 'over'
    events.ended(wasConnecting ? await refusalStatus(endpoint) : null)
  }
  socket.addEventListener('open', () => {
    state = 'open'
    events.opened()
  })
  socket.addEventListener('message', ({ data }) => events.received(String(data)))
  socket.addEventListener('error', end)
  socket.addEventListener('close', end)
  return {
    send: (text) => socket.send(text),
    pause: () => socket.close(),
    resume: () => {},
    close: () => socket.close(),
    terminate: () => socket.close(),
  }
}

const NOT_AN_UPGRADE = 426

/**
 * Why a handshake failed, which a browser does not tell: the answer to the same request without an
 * upgrade. Null when the service would accept a connection or cannot be reached.
 */
async function refusalStatus({ url, bearer }: FeedEndpoint): Promise<number | null> {
  try {
    const { status } = await fetch(url.replace(/^ws/, 'http'), {
      headers: { authorization: `Bearer ${bearer}` },
      signal: AbortSignal.timeout(10_000),
    })
    return status === NOT_AN_UPGRADE ? null : status
  } catch {
    return null
  }
}
