import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * How a relay fails. `hang`: connections stay open, and nothing passes in either direction. `slow`:
 * each chunk waits for two seconds.
 */
export const RELAY_FAULTS = ['hang', 'slow'] as const
/** One of `RELAY_FAULTS`. */
export type RelayFault = (typeof RELAY_FAULTS)[number]

const SLOW_MS = 2000

/** A TCP relay to one server. */
export interface FlakyRelay {
  /** URL of the relay. */
  readonly url: string
  /** Begins a fault, or ends it (null). What was kept back then passes. */
  fail(fault: RelayFault | null): void
  /** Cuts all connections. */
  cut(): void
  close(): Promise<void>
}

/** Starts a relay to the server at `origin` on a free port of 127.0.0.1. */
export async function startFlakyRelay(origin: string): Promise<FlakyRelay> {
  const { hostname, port } = new URL(origin)
  const sockets = new Set<Socket>()
  let fault: RelayFault | null = null
  let mended = Promise.resolve()
  let mend = () => {}
  const gate = () =>
    new Transform({
      transform(chunk, _encoding, done) {
        if (fault === null) return done(null, chunk)
        const passes = fault === 'hang' ? mended : pause(SLOW_MS)
        passes.then(() => done(null, chunk))
      },
    })
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    }
    // The end of one side ends the other; errors are those of the network.
    pipeline(client, gate(), upstream).catch(() => {})
    pipeline(upstream, gate(), client).catch(() => {})
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // listening on TCP
    fail(next) {
      fault = next
      mend()
      if (next !== 'hang') return
      mended = new Promise((resolve) => {
        mend = resolve
      })
    },
    cut,
    async close() {
      mend()
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
