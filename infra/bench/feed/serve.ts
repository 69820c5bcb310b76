import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { createCursorCodec } from '../../../api/cursor.ts'
import { Feed } from '../../../api/stream/feed.ts'
import { WSOL } from '../../../pipeline/domain/quote.ts'
import { createMemoryLog } from '../../../pipeline/log/memory.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import { createStore } from '../../../pipeline/store/create-store.ts'
import { migrate } from '../../../pipeline/store/migrate.ts'
import { loadConfig } from '../../service/config.ts'
import { createCreditSystem, openMeter } from '../../service/credit-system.ts'
import { startMeter } from '../kit/cpu.ts'
import { TRADED, tradesSlot } from '../kit/trades-slot.ts'
import { ACCOUNTS, type FromServer, type ToServer } from './protocol.ts'

const SECRET_KEY = Buffer.alloc(32, 1)

/**
 * A server of the bench as a separate process: the feed over a log in memory, charging with the
 * meter of `REDIS_URL` or in memory; or, with `KIND=bare`, a `ws` server that sends the same bytes
 * to every socket. Messages of the parent process say what to send.
 */
const { KIND, ...env } = process.env
const server = createServer()
const sockets = new Set<Socket>()
server.on('connection', (socket) => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
})

const { publish, count } = KIND === 'bare' ? startBare() : await startFeed()
server.listen(0, '127.0.0.1')
await once(server, 'listening')
tell({ kind: 'ready', port: (server.address() as AddressInfo).port }) // listening on TCP

let slot = 1_000_000
process.on('message', async (message: ToServer) => {
  if (message.kind === 'memory') {
    global.gc?.()
    tell({ kind: 'memory', rss: process.memoryUsage().rss, connections: count() })
    return
  }
  const { trades, slots, everyMs } = message
  const meter = startMeter()
  const started = process.hrtime.bigint()
  const times: number[] = []
  for (let at = 0; at < slots; at++) {
    const due = started + BigInt(Math.round(at * everyMs * 1e6))
    const wait = Number(due - process.hrtime.bigint()) / 1e6
    if (wait > 1) await pause(wait)
    slot++
    times.push(Number(process.hrtime.bigint() / 1000n))
    await publish(slot, trades)
    if (everyMs === 0) await drained()
  }
  await drained()
  tell({ kind: 'sent', ...meter(), firstSlot: slot - slots + 1, times })
})

function tell(message: FromServer): void {
  process.send?.(message)
}

/** Resolves when the write buffer of every socket is empty. */
async function drained(): Promise<void> {
  for (const socket of sockets) while (socket.writableLength > 0) await nextTurn()
}

async function startFeed() {
  const config = loadConfig(env)
  const logger = createLogger('warn')
  const registry = createRegistry()
  const store = await createStore(config.store)
  await migrate(store)
  const meter = await openMeter(config.meter, logger)
  const { credits, ledger } = createCreditSystem(store, meter, logger, null)
  for (const account of ACCOUNTS)
    await ledger.add({ account, key: 'bench', credits: 1e12, cause: 'grant', reason: '' })
  credits.start()
  const log = createMemoryLog({ logger, registry })
  const feed = new Feed({
    log,
    credits,
    logger,
    registry,
    connectionsPerKey: 100_000,
    cursors: createCursorCodec({ secretKeys: [SECRET_KEY], tradeIdKey: SECRET_KEY }),
  })
  await feed.start({ walletCount: () => 250, stored: () => null }, store)
  server.on('upgrade', async (request, socket, head) => {
    const account = request.headers.authorization?.slice('Bearer '.length) ?? ''
    feed.accept({ request, socket, head }, { account, kind: 'own' }, await credits.left(account))
  })
  return {
    publish: (at: number, trades: number) =>
      log.appendSlot(
        tradesSlot(
          at,
          Array.from({ length: trades }, (_, n) => 1 + (n % 250)),
        ),
      ),
    count: () => feed.connections(),
  }
}

/** The bare server: writes each message to each socket. */
function startBare() {
  const webSockets = new Set<WebSocket>()
  const bare = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false })
  bare.on('connection', (webSocket) => {
    webSockets.add(webSocket)
    webSocket.on('message', () => webSocket.send('{"type":"subscribed"}'))
    webSocket.on('close', () => webSockets.delete(webSocket))
  })
  return {
    async publish(at: number, trades: number) {
      for (let txIndex = 0; txIndex < trades; txIndex++) {
        const message = Buffer.from(messageOf(at, txIndex))
        for (const webSocket of webSockets) webSocket.send(message, { binary: false })
      }
    },
    count: () => webSockets.size,
  }
}

/** As long as the feed's message for the same trade. */
function messageOf(at: number, txIndex: number): string {
  const id = String(at * 1000 + txIndex).padStart(66, 'A')
  return `{"channel":"trades","id":"${id}","data":{"block_time":${at},"wallet":"W${1 + (txIndex % 250)}","side":"buy","mint":"${TRADED}","token_amount":"123456789012","decimals":6,"sol_amount":1.5,"quote_mint":"${WSOL}","quote_amount":"1500000000","program":"pumpswap"}}`
}
