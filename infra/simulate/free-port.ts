import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that the kernel gives to clients, which a process that starts again may find taken. */
const FIRST = 25_100
const LAST = 25_999

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let port = FIRST; port <= LAST; port += 1) {
    const server = createServer().listen(port, '127.0.0.1')
    const listens = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!listens) continue
    server.close()
    await once(server, 'close')
    return port
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`)
}
