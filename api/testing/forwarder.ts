import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A port on loopback that forwards to another one. It stands for a network that can be interrupted,
 * or for a load balancer that changes its target.
 */
export interface Forwarder {
  readonly port: number
  /** Sets the target of new connections. */
  lead(port: number, host?: string): void
  /** Destroys the open connections. */
  cut(): void
  /** `false` destroys the open connections and refuses new ones until `true`. */
  open(whether: boolean): void
  close(): void
}

/**
 * Starts a forwarder without a target: call `lead`. `cutsAt` decides by the bytes of a client
 * whether its connection is destroyed.
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
    port: (server.address() as AddressInfo).port, // a TCP address
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

/** Starts a forwarder to the server of a URL, and returns the URL that goes through it. */
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
