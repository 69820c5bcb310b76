import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** Address on which both servers listen by default. */
export const LOOPBACK = '127.0.0.1'

/** A server that listens. */
export interface ListeningServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Listens on a port of an address of this machine, 0 for any port; rejects when it is taken.
 * `endConnections` is called when the server closes.
 */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  endConnections: () => void,
): Promise<ListeningServer> {
  await once(server.listen(port, host), 'listening')
  return {
    port: (server.address() as AddressInfo).port, // it listens on TCP
    async close() {
      const closed = once(server, 'close')
      server.close()
      endConnections()
      await closed
    },
  }
}
