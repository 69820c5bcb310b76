import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A port on loopback that leads to another one: a line that can be cut, and a balancer that leads
 * somewhere else from now on.
 */
export interface Forwarder {
  readonly port: number
  /** Where new connections lead. */
  lead(port: number, host?: string): void
  /** Ends the connections that there are. */
  cut(): void
  /** `false` ends them too, and takes no more until it is open again. */
  open(whether: boolean): void
  close(): void
}

/**
 * Leads nowhere until told by `lead`. `cutsAt`: whether a connection ends because of what a client
 * says on it.
 */
export async function startForwarder(
  cutsAt: (said: Buffer) => boolean = () => false,
): Promise<Forwarder> {
  const sockets = new Set<Socket>()
  let isOpen = true
  let target: readonly [port: number, host: string] = [0, '127.0.0.1']
  const server = createServer((client) => {
    if (!isOpen) return void client.destroy()
    const upstream = connect(...target)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.on('data', (said) => {
      if (cutsAt(said)) client.destroy()
    })
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port, // listening on TCP
    lead(port, host = '127.0.0.1') {
      target = [port, host]
    },
    cut,
    open(whether) {
      isOpen = whether
      if (!whether) cut()
    },
    close() {
      cut()
      server.close()
    },
  }
}

/** A forwarder to the server of a URL, and the URL that goes through it. */
export async function forwardTo(
  url: URL,
  cutsAt?: (said: Buffer) => boolean,
): Promise<Forwarder & { readonly url: URL }> {
  const forwarder = await startForwarder(cutsAt)
  forwarder.lead(Number(url.port || 6379), url.hostname)
  const through = new URL(url.href)
  through.host = `127.0.0.1:${forwarder.port}`
  return { ...forwarder, url: through }
}
