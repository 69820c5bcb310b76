import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that the kernel gives to clients, which a restarted process may find taken. */
const FIRST = 25_100
const COUNT = 900
/** Ports that were returned before. Nobody may listen on them yet, so they still look free. */
const given = new Set<number>()

/** A port that nobody listens on. It is random, because another run may search at the same time. */
export async function freePort(): Promise<number> {
  const start = Math.floor(Math.random() * COUNT)
  for (let step = 0; step < COUNT; step += 1) {
    const port = FIRST + ((start + step) % COUNT)
    if (given.has(port)) continue
    const server = createServer().listen(port, '127.0.0.1')
    const listens = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!listens) continue
    server.close()
    await once(server, 'close')
    given.add(port)
    return port
  }
  throw new Error(`no free port between ${FIRST} and ${FIRST + COUNT}`)
}
