import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { frameSize, masked, socketRequest } from '../kit/frames.ts'
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
  socket.write(socketRequest(ACCOUNTS[n % ACCOUNTS.length] ?? ''))
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(head.toString())
  const subscribe = { action: 'subscribe', channels: ['trades'] }
  const subscribed = once(socket, 'data')
  socket.write(masked(JSON.stringify(subscribe)))
  let [rest] = (await subscribed) as [Buffer]
  rest = read(rest.subarray(frameSize(rest)), n === 0) // after the answer
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
    const size = frameSize(bytes, at)
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
