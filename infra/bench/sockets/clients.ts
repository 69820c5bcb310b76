import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { frameSize, masked, socketRequest } from '../kit/frames.ts'
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
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

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
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  socket.write(socketRequest(key))
  const [head] = (await once(socket, 'data')) as [Buffer]
  const text = head.toString('latin1')
  if (/^HTTP\/1.1 (408|429|503)/.test(text)) {
    socket.destroy()
    return false
  }
  if (!text.startsWith('HTTP/1.1 101')) throw new Error(text)
  const subscribed = once(socket, 'data')
  socket.write(masked(JSON.stringify(SUBSCRIBE)))
  const [answer] = (await subscribed) as [Buffer]
  let rest: Buffer = read(answer.subarray(frameSize(answer)), socket)
  socket.on('data', (chunk: Buffer) => {
    rest = read(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), socket)
    check()
  })
  socket.on('close', () => {
    throw new Error('the service closed a socket')
  })
  return true
}

/** Handles the whole frames and returns the rest. */
function read(bytes: Buffer, socket: Socket): Buffer {
  let at = 0
  for (;;) {
    const size = frameSize(bytes, at)
    if (size === 0 || at + size > bytes.length) break
    const opcode = (bytes[at] ?? 0) & 0x0f
    if (opcode === 9) socket.write(PONG)
    else if (opcode === 1) onText(bytes.toString('latin1', at, at + size))
    at += size
  }
  return bytes.subarray(at)
}

function onText(text: string): void {
  const slot = Number(/"block_time":(\d+)/.exec(text)?.[1] ?? Number.NaN)
  if (Number.isNaN(slot)) return
  received++
  const now = Date.now()
  const known = times.get(slot)
  if (known === undefined) times.set(slot, { slot, first: now, last: now })
  else known.last = now
}

function check(): void {
  if (received < expected) return
  received -= expected
  expected = Number.POSITIVE_INFINITY
  tell({ kind: 'received', times: [...times.values()] })
  times = new Map()
}
