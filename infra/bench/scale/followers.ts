import { percentiles, sum } from '../kit/figures.ts'
import { openTradeSocket } from '../kit/trade-socket.ts'
import { confirmedAt, lastSlotOf } from './due.ts'
import type { FeedFigures, FromFollowers, ToFollowers } from './protocol.ts'

/** The sockets of the bench, as a process of its own. */
const AT_ONCE = 50
const WALLETS_EACH = 100
/** A service that refuses a socket for so long is broken. */
const CONNECTED_MS = 300_000

/** What came on one socket since the last report. */
class Received {
  trades = 0
  bytes = 0
  latencies: number[] = []
  readonly #isTimed: boolean
  /** Block time of the newest trade, and when it came. */
  #newest = 0
  #cameAt = 0

  constructor(isTimed: boolean) {
    this.#isTimed = isTimed
  }

  add(frame: string): void {
    const found = /"block_time":(\d+)/.exec(frame)?.[1]
    if (found === undefined) return
    this.trades += 1
    this.bytes += frame.length
    const blockTime = Number(found)
    if (!this.#isTimed || blockTime < this.#newest) return // a late trade belongs to the past
    if (blockTime > this.#newest && this.#newest > 0)
      this.latencies.push(this.#cameAt - confirmedAt(lastSlotOf(this.#newest)))
    this.#newest = blockTime
    this.#cameAt = Date.now()
  }
}

const sockets: Received[] = []
let closed = 0

process.once('disconnect', () => process.exit(0))
process.on('message', async (message: ToFollowers) => {
  if (message.kind === 'connect') await connectAll(message)
  else tell({ kind: 'report', ...report() })
})

function tell(message: FromFollowers): void {
  process.send?.(message)
}

async function connectAll(message: Extract<ToFollowers, { kind: 'connect' }>): Promise<void> {
  const { port, keys, sockets: count, unfiltered, wallets } = message
  const startedAt = performance.now()
  let refused = 0
  let next = 0
  const open = async (n: number) => {
    const received = new Received(n < unfiltered)
    sockets.push(received)
    const subscribe = {
      action: 'subscribe',
      channels: ['trades'],
      ...(n >= unfiltered && { wallets: someOf(wallets, n) }),
    }
    const key = keys[n % keys.length] ?? ''
    const onText = (frame: string) => received.add(frame)
    for (;;) {
      const socket = await openTradeSocket({ port, key, subscribe, onText })
      if (socket !== null) return socket.on('close', () => closed++)
      refused++
      if (performance.now() > startedAt + CONNECTED_MS) throw new Error('sockets are refused')
    }
  }
  const openSome = async () => {
    for (let n = next++; n < count; n = next++) await open(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, openSome))
  tell({ kind: 'connected', seconds: (performance.now() - startedAt) / 1000, refused })
}

/** Aliases of wallets, spread evenly over all of them and others for each `n`. */
function someOf(wallets: number, n: number): string[] {
  const count = Math.min(WALLETS_EACH, wallets)
  const step = wallets / count
  return Array.from({ length: count }, (_, at) => `W${1 + (Math.floor(at * step + n) % wallets)}`)
}

function report(): FeedFigures {
  const latencies = sockets.flatMap((socket) => socket.latencies)
  const trades = sum(sockets.map((socket) => socket.trades))
  const bytes = sum(sockets.map((socket) => socket.bytes))
  for (const socket of sockets) {
    socket.latencies = []
    socket.trades = 0
    socket.bytes = 0
  }
  const quantiles = latencies.length === 0 ? [] : percentiles(latencies, 0.5, 0.99, 1)
  const [p50 = null, p99 = null, max = null] = quantiles
  return { p50, p99, max, trades, bytes, closed }
}
