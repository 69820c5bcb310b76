import { createRequire } from 'node:module'
import { connect, isIP, Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'

/** What the client says of a socket that it wants. */
interface SocketOptions {
  readonly host: string
  readonly port: number
  readonly ssl?: ConnectionOptions
  onConnect(): void
}

/** Open sockets by broker (`host:port`). */
const sockets = new Map<string, Set<Socket>>()
/**
 * By broker that does not answer: when it may be tried again, in monotonic milliseconds. A clock
 * that was days fast for a moment would otherwise refuse it for days.
 */
const silentUntil = new Map<string, number>()
const SILENT_MS = 5000

/**
 * The client's own socket with TCP_NODELAY. A long fetch waits unanswered on the connection that
 * also carries commits and heartbeats. Without this option, a request behind an unacknowledged one
 * waits up to 40 ms for the delayed acknowledgement of the broker.
 */
export function openSocket({ host, port, ssl, onConnect }: SocketOptions): Socket {
  const broker = `${host}:${port}`
  if (performance.now() < (silentUntil.get(broker) ?? 0)) return refusedSocket()
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
    : connect({ host, port }, onConnect)
  const open = sockets.get(broker) ?? new Set()
  sockets.set(broker, open.add(socket))
  socket.once('close', () => open.delete(socket))
  return manyListeners(socket).setKeepAlive(true, 60_000).setNoDelay(true)
}

/**
 * For each request that fails, the client calls `unref`, which adds a listener while the socket is
 * not connected. Node would print a warning from the eleventh on, into the log of the process.
 */
function manyListeners(socket: Socket): Socket {
  return socket.setMaxListeners(0)
}

/**
 * Closes the connections to a broker that has not answered a request in time, and refuses new ones
 * for five seconds. kafkajs 2.2.4 would send each retry to the same broker
 * (https://github.com/tulios/kafkajs/issues/919), and a process that hangs still accepts
 * connections. When a connection fails, the client asks another broker for the leaders.
 */
export function leaveSilentBroker(broker: string): void {
  silentUntil.set(broker, performance.now() + SILENT_MS)
  for (const socket of sockets.get(broker) ?? []) socket.destroy(new Error(SILENT))
}

/**
 * Returns the brokers in the order in which a new client asks them: those that have been silent
 * come last, the latest at the end. Otherwise each new client would wait for the same one again.
 */
export function byAnswer(brokers: readonly string[]): string[] {
  const silent = (broker: string) => silentUntil.get(broker) ?? 0
  return [...brokers].sort((a, b) => silent(a) - silent(b))
}

/**
 * Leaves a broker that accepts a connection and does not answer the first request on it within five
 * seconds. kafkajs 2.2.4 would wait 15 s, and retry on that connection without the versions that
 * the request asks for, which fails. A client asks the first broker of its list first, so each new
 * one would fail for as long as that broker hangs.
 */
export function leaveSilentOnConnect(): void {
  const { prototype } = BrokerClass
  const ask = prototype.apiVersions
  prototype.apiVersions = function (this: SeedBroker) {
    const timer = setTimeout(leaveSilentBroker, SILENT_MS, this.brokerAddress)
    return ask.call(this).finally(() => clearTimeout(timer))
  }
}

/** The part of a broker in kafkajs 2.2.4 that is used here. */
interface SeedBroker {
  /** `host:port` */
  readonly brokerAddress: string
  /** Sends the first request on a connection to a broker of which nothing is known. */
  apiVersions(): Promise<unknown>
}

const BrokerClass: { readonly prototype: SeedBroker } = createRequire(import.meta.url)(
  'kafkajs/src/broker/index.js',
)

const SILENT = 'the broker did not answer in time'

function refusedSocket(): Socket {
  const socket = manyListeners(new Socket())
  process.nextTick(() => socket.destroy(new Error(SILENT)))
  return socket
}
