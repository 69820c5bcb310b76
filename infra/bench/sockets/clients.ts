import { readFileSync } from 'node:fs'
import { openTradeSocket } from '../kit/trade-socket.ts'
import type { FromSockets, ToSockets } from './protocol.ts'

/**
 * Clients of the bench, as a separate process: sockets that speak just enough WebSocket to
 * subscribe, to answer pings and to count trades. An address has some 28,000 ports, so they come
 * from several.
 */
const SOCKETS_PER_ADDRESS = 20_000
const AT_ONCE = 200
const SUBSCRIBE = {
  action: 'subscribe',
  channels: ['trades'],
  wallets: ['W1', 'W2', 'W3', 'W4', 'W5'],
}

let received = 0
let expected = Number.POSITIVE_INFINITY
let times = new Map<number, { readonly slot: number; first: number; last: number }>()

process.on('message', async (message: ToSockets) => {
  if (message.kind === 'connect') await connectAll(message)
  else {
    expected = message.trades
    check()
  }
})

function tell(message: FromSockets): void {
  process.send?.(message)
}

async function connectAll({ port, keysFile }: Extract<ToSockets, { kind: 'connect' }>) {
  const keys = readFileSync(keysFile, 'utf8').trim().split('\n')
  const started = performance.now()
  let refused = 0
  let next = 0
  const opening = async () => {
    for (let n = next++; n < keys.length; n = next++)
      while (!(await open(port, keys[n] ?? '', n))) refused++
  }
  await Promise.all(Array.from({ length: AT_ONCE }, opening))
  tell({ kind: 'connected', seconds: (performance.now() - started) / 1000, refused })
}

/** Returns false if the service refused the connection for now. */
async function open(port: number, key: string, n: number): Promise<boolean> {
  const localAddress = `127.0.0.${1 + Math.floor(n / SOCKETS_PER_ADDRESS)}`
  const options = { port, key, subscribe: SUBSCRIBE, localAddress, onText }
  const socket = await openTradeSocket(options)
  socket?.on('close', () => {
    throw new Error('the service closed a socket')
  })
  return socket !== null
}

function onText(text: string): void {
  const slot = Number(/"block_time":(\d+)/.exec(text)?.[1] ?? Number.NaN)
  if (Number.isNaN(slot)) return
  received++
  const now = Date.now()
  const known = times.get(slot)
  if (known === undefined) times.set(slot, { slot, first: now, last: now })
  else known.last = now
  check()
}

function check(): void {
  if (received < expected) return
  received -= expected
  expected = Number.POSITIVE_INFINITY
  tell({ kind: 'received', times: [...times.values()] })
  times = new Map()
}
