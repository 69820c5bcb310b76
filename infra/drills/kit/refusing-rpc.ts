import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** An RPC server in front of another one, that may refuse every call. */
export interface RefusingRpc {
  readonly url: string
  /** Refuses calls from now on with HTTP 403, as a provider whose key has ended; or no more. */
  refuse(does: boolean): void
  close(): Promise<void>
}

/** Starts it on a free port of 127.0.0.1, in front of the server at `origin`. */
export async function startRefusingRpc(origin: string): Promise<RefusingRpc> {
  let isRefusing = false
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (isRefusing) return response.writeHead(403).end('{"error":"the key has ended"}')
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(origin, { method: 'POST', headers, body }).catch(() => null)
    if (answer === null) return response.destroy() // as if nothing listened
    response.writeHead(answer.status, headers).end(await answer.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // listening on TCP
    refuse(does) {
      isRefusing = does
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
