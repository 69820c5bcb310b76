import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { ACCOUNTS, type FromClients, type ToClients } from './protocol.ts'

/**
 * Clients of the bench, as a separate process: sockets that speak just enough WebSocket to count
 * messages, so that the server is what is measured.
 */
let received = 0
let expected = Number.POSITIVE_INFINITY
let arrivals = new Map<number, number>()

process.on('message', async (message: ToClients) => {
  if (message.kind === 'connect') {
    const started = performance.now()
    const batch = 200
    for (let at = 0; at < message.sockets; at += batch) {
      const some = Array.from({ length: Math.min(batch, message.sockets - at) }, (_, n) =>
        open(message, at + n),
      )
      await Promise.all(some)
    }
    received = 0
    tell({ kind: 'connected', seconds: (performance.now() - started) / 1000 })
  } else {
    expected = message.messages
    check()
  }
})

function tell(message: FromClients): void {
  process.send?.(message)
}

function check(): void {
  if (received < expected) return
  received -= expected
  expected = Number.POSITIVE_INFINITY
  tell({ kind: 'received', arrivals: [...arrivals] })
  arrivals = new Map()
}

async function open({ port }: Extract<ToClients, { kind: 'connect' }>, n: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${ACCOUNTS[n % ACCOUNTS.length]}\r\n\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(head.toString())
  const subscribe = { action: 'subscribe', channels: ['trades'] }
  const subscribed = once(socket, 'data')
  socket.write(masked(JSON.stringify(subscribe)))
  let [rest] = (await subscribed) as [Buffer]
  rest = read(rest.subarray(sizeOf(rest)), n === 0) // after the answer
  socket.on('data', (chunk: Buffer) => {
    rest = read(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), n === 0)
    check()
  })
  return socket
}

/** Counts the whole frames and returns the rest. */
function read(bytes: Buffer, isSample: boolean): Buffer {
  let at = 0
  for (;;) {
    const size = sizeOf(bytes, at)
    if (size === 0 || at + size > bytes.length) break
    if (((bytes[at] ?? 0) & 0x0f) === 1) received++
    if (isSample) {
      const slot = /"block_time":(\d+)/.exec(bytes.toString('latin1', at, at + size))?.[1]
      if (slot) arrivals.set(Number(slot), Number(process.hrtime.bigint() / 1000n))
    }
    at += size
  }
  return bytes.subarray(at)
}

/** Length of the frame at a position; 0 when its head is incomplete. */
function sizeOf(bytes: Buffer, at = 0): number {
  if (bytes.length < at + 2) return 0
  const short = (bytes[at + 1] ?? 0) & 0x7f
  if (short < 126) return 2 + short
  return bytes.length < at + 4 ? 0 : 4 + bytes.readUInt16BE(at + 2)
}

function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff])
  return Buffer.concat([head, Buffer.alloc(4), payload])
}
