import { once } from 'node:events'
import { connect } from 'node:net'
import { ServiceError } from '../../pipeline/domain/service-error.ts'

/**
 * A server that an environment variable names. Each address is a `host:port`; the server is
 * reachable if one of them accepts connections.
 */
export interface ServerTarget {
  readonly key: string
  readonly addresses: readonly string[]
}

/** The target of URLs. A URL without a port has the default port of its scheme. */
export function serverTargetOf(key: string, ...urls: readonly URL[]): ServerTarget {
  const addressOf = ({ hostname, port, protocol }: URL) =>
    `${hostname}:${port || (DEFAULT_PORTS[protocol] ?? '')}`
  return { key, addresses: urls.map(addressOf) }
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
}

/**
 * Resolves when every server accepts connections. Otherwise it rejects with one `unreachable`, with
 * a line for each server that does not.
 */
export async function checkServers(
  targets: readonly ServerTarget[],
  timeoutMs = 3000,
): Promise<void> {
  const faults = await Promise.all(
    targets.map(({ key, addresses }) =>
      Promise.any(addresses.map((address) => connectTo(address, timeoutMs))).then(
        () => [],
        () => [`${key}: nothing answers at ${addresses.join(', ')}`],
      ),
    ),
  )
  if (faults.flat().length === 0) return
  throw new ServiceError('unreachable', faults.flat().join('\n'))
}

async function connectTo(address: string, timeoutMs: number): Promise<void> {
  const at = address.lastIndexOf(':')
  const host = address.slice(0, at).replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(address.slice(at + 1)) })
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer')))
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}
