import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { type Perturb, perturbSwap } from '../../pipeline/domain/perturbation.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { OnStage } from '../../pipeline/runtime/slot-stage.ts'
import type { Registry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Feed } from '../api.ts'
import { type AccountChannel, createMemoryChannel } from '../channel/account-channel.ts'
import type { Account } from '../credits/meter.ts'
import type { CursorCodec } from '../cursor.ts'
import { ApiError, problem } from '../errors.ts'
import { type PublishedSwap, tradeItem } from '../items/trade.ts'
import type { Upgrade } from '../middleware/upgrade.ts'
import type { StoragePosition } from '../storage-position.ts'
import { Connection, type EndReason, passingOf } from './connection.ts'
import { type BlockOptions, type BlockSource, CreditBlock } from './credit-block.ts'
import { createTradeHistory, type TradeHistory } from './history.ts'
import { createRelay, type Relay, type RelayOptions } from './relay.ts'
import { createFeedMetrics, type FeedMetrics } from './telemetry.ts'
import { createTransport } from './transport.ts'

export interface FeedDeps {
  readonly log: EventLog
  readonly cursors: CursorCodec
  readonly credits: BlockSource
  /** What other processes do with an account; by default there are none. */
  readonly channel?: AccountChannel
  /** Accounts whose key was revoked since a time (unix milliseconds), and when. */
  readonly revokedSince?: (unixMs: number) => Promise<readonly { account: Account; at: number }[]>
  /** How many feed connections one account may have; a newer one closes the oldest (decisions F6). */
  readonly connectionsPerKey: number
  /** How far back a client may resume (decisions F4); default 24. */
  readonly retentionHours?: number | undefined
  readonly logger: Logger
  readonly registry: Registry
  /** How what is sent differs from what happened (decisions I2); null: it does not. */
  readonly perturb?: Perturb | null
  /** Told when a slot is `merged` and `written`. */
  readonly onStage?: OnStage | undefined
}

export interface FeedOptions {
  readonly relay?: RelayOptions
  /** Runs something again and again until what it gives is called; the feed's pulse. */
  readonly every?: (ms: number, run: () => void) => () => void
  readonly block?: BlockOptions
  /** How long a client may take to answer a close. */
  readonly closeMs?: number
}

/** The live feed of `GET /ws` (decisions F): connections over one relay of the log. Nothing in it can be lost. */
export function createFeed(deps: FeedDeps, options: FeedOptions = {}): Feed {
  return new LiveFeed(deps, options)
}

class LiveFeed implements Feed {
  readonly #deps: FeedDeps
  readonly #options: Required<FeedOptions>
  readonly #metrics: FeedMetrics
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handleProtocols: (offered) => (offered.has('bearer') ? 'bearer' : false),
  })
  readonly #connections = new Map<Account, Set<Connection>>()
  readonly #channel: AccountChannel
  /** By the name that other processes know it by. */
  readonly #seats = new Map<string, Seat>()
  /** Open sockets, closing ones too. */
  readonly #sockets = new Set<WebSocket>()
  /** What connections that ended still have to book. */
  readonly #booking = new Set<Promise<void>>()
  #relay: Relay | null = null
  #history: TradeHistory | null = null
  #storage: StorageView = { walletCount: () => 0, stored: () => null }
  #stopPulse: () => void = () => {}
  #isStopping = false

  constructor(deps: FeedDeps, options: FeedOptions) {
    this.#deps = deps
    this.#options = {
      relay: {},
      every: everyMs,
      block: {},
      closeMs: 2000,
      ...options,
    }
    this.#metrics = createFeedMetrics(deps.registry)
    this.#channel = deps.channel ?? createMemoryChannel()
    this.#channel.listen({
      onSuperseded: (_account, name) => this.#seats.get(name)?.connection.end('superseded'),
      onRotated: (account) => this.endAll(account, 'key_rotated'),
      onBack: (sinceMs) => this.#comeBack(sinceMs),
    })
    this.#server.on('wsClientError', (_error, socket) => refuse(socket, 'upgrade_required'))
  }

  async start(storage: StorageView, store: Store): Promise<void> {
    this.#storage = storage
    const { log, cursors, retentionHours = 24, perturb = null } = this.#deps
    const render = (swap: PublishedSwap & EventKey) =>
      JSON.stringify(tradeItem(perturbSwap(swap, perturb)))
    const history = createTradeHistory({
      ...{ store, position: storage, cursors, epoch: log.epoch, retentionHours, render },
    })
    this.#history = history
    this.#relay = await createRelay(
      { ...this.#deps, history, render, metrics: this.#metrics },
      this.#options.relay,
    )
    this.#relay.listen((entries) => {
      const passing = passingOf(entries)
      for (const connections of this.#connections.values())
        for (const connection of connections) connection.offer(passing)
    })
    this.#stopPulse = this.#options.every(BEAT_MS, () => {
      for (const connections of this.#connections.values())
        for (const connection of connections) connection.beat()
    })
  }

  sealed() {
    const marker = this.#relay?.newest ?? null
    return marker && { slot: marker.slot, blockTime: marker.blockTime }
  }

  /** Trades are written to the sockets in the same turn in which their slot passes. */
  sent() {
    return this.sealed()
  }

  connections(): number {
    return this.#sockets.size
  }

  accept({ request, socket, head }: Upgrade, account: Account, left: number): void {
    const [relay, history] = [this.#relay, this.#history]
    if (relay === null || history === null || this.#isStopping) {
      refuse(socket, 'unavailable')
      return
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#open({ relay, history }, webSocket, socket, account, left),
    )
  }

  /** Ends an account's connections, as when its key was rotated (decisions F6). */
  endAll(account: Account, reason: EndReason): void {
    for (const connection of this.#connections.get(account) ?? []) connection.end(reason)
  }

  /** Other processes hear of this one again: what it has, and which keys were revoked meanwhile. */
  #comeBack(sinceMs: number): void {
    for (const [name, seat] of this.#seats) this.#announce(name, seat)
    const { revokedSince, logger } = this.#deps
    revokedSince?.(sinceMs - CLOCK_SKEW_MS).then(
      (revoked) => {
        for (const { account, at } of revoked)
          for (const seat of this.#seats.values())
            if (seat.account === account && seat.openedAt < at) seat.connection.end('key_rotated')
      },
      () => logger.warn('revoked keys cannot be read; their connections stay until they end'),
    )
  }

  /** Tells other processes of a connection; without their answer each counts its own. */
  #announce(name: string, seat: Seat): void {
    const { connectionsPerKey } = this.#deps
    seat.announced = seat.announced
      .then(() => this.#channel.opened(seat.account, name, connectionsPerKey, seat.place))
      .then((place) => {
        seat.place = place
      })
      .catch(() => {})
  }

  #leave(name: string): void {
    const seat = this.#seats.get(name)
    if (seat === undefined) return
    this.#seats.delete(name)
    this.#book(seat.announced.then(() => this.#channel.closed(seat.account, name)).catch(() => {}))
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#stopPulse()
    for (const account of [...this.#connections.keys()]) this.endAll(account, 'restarting')
    const closed = this.#allClosed()
    const timer = setTimeout(
      () => {
        for (const socket of this.#sockets) socket.terminate()
      },
      Math.min(this.#options.closeMs, graceMs / 2),
    )
    await closed
    clearTimeout(timer)
    const overdue = new AbortController()
    await Promise.race([
      Promise.all(this.#booking),
      new Promise((resolve) => {
        const timeout = setTimeout(resolve, graceMs / 2)
        overdue.signal.addEventListener('abort', () => clearTimeout(timeout))
      }),
    ])
    overdue.abort()
    await this.#relay?.close()
  }

  #open(
    parts: { readonly relay: Relay; readonly history: TradeHistory },
    webSocket: WebSocket,
    socket: Duplex,
    account: Account,
    left: number,
  ): void {
    const others = this.#connections.get(account) ?? new Set()
    this.#connections.set(account, others)
    let held = 0
    for (const other of others) held += other.heldCredits
    let ended: EndReason | 'protocol_error' | null = null
    const { credits } = this.#deps
    const name = randomUUID()
    const connection: Connection = new Connection(
      {
        transport: createTransport(webSocket, socket),
        ...parts,
        isTracked: (wallet) => wallet <= this.#storage.walletCount(),
        creditBlock: (hooks) =>
          new CreditBlock(
            { source: credits, account, connection: name, left, hooks },
            this.#options.block,
          ),
        onSent: (trades) => this.#metrics.messages.inc(trades),
        onEnd: (reason) => {
          ended = reason
          this.#forget(account, connection)
        },
      },
      left + held,
    )
    others.add(connection)
    const seat: Seat = { account, connection, openedAt: Date.now(), announced: Promise.resolve() }
    this.#seats.set(name, seat)
    this.#announce(name, seat)
    this.#sockets.add(webSocket)
    this.#metrics.connections.set(this.#sockets.size)
    for (const other of others) {
      if (others.size <= this.#deps.connectionsPerKey) break
      other.end('superseded')
    }
    webSocket.on('message', (data: Buffer, isBinary) =>
      connection.receive(isBinary ? null : data.toString(), data.length),
    )
    webSocket.on('pong', () => connection.onPong())
    webSocket.on('error', () => {
      ended ??= 'protocol_error' // which is answered with the close code that says it
    })
    webSocket.on('close', () => {
      this.#sockets.delete(webSocket)
      this.#forget(account, connection)
      this.#leave(name)
      this.#book(connection.closed())
      this.#metrics.connections.set(this.#sockets.size)
      this.#metrics.closes.inc({ reason: ended ?? 'client' })
    })
  }

  #forget(account: Account, connection: Connection): void {
    const connections = this.#connections.get(account)
    connections?.delete(connection)
    if (connections?.size === 0) this.#connections.delete(account)
  }

  #book(booked: Promise<void>): void {
    const done = booked.finally(() => this.#booking.delete(done))
    this.#booking.add(done)
  }

  #allClosed(): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.#sockets.size === 0) resolve()
      }
      for (const socket of this.#sockets) socket.on('close', check)
      check()
    })
  }
}

/** A connection as other processes know it. */
interface Seat {
  readonly account: Account
  readonly connection: Connection
  readonly openedAt: number
  /** Its place in time among those of its account; undefined until it is known to others. */
  place?: string
  announced: Promise<void>
}

/** How far clocks of processes may be apart. */
const CLOCK_SKEW_MS = 5000

/** What the feed wants to know of storage. */
type StorageView = Pick<StoragePosition, 'walletCount' | 'stored'>

/** A message is refused with a word up to this size, beyond it without. */
const MAX_FRAME_BYTES = 16_384
const BEAT_MS = 30_000

function everyMs(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}

/** Answers what asked to speak WebSocket and then did not (RFC 6455 4.2), or came too late. */
function refuse(socket: Duplex, code: 'upgrade_required' | 'unavailable'): void {
  const error = new ApiError(code)
  const body = JSON.stringify(problem(error, randomUUID()))
  const fields = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Connection: close',
    'Sec-WebSocket-Version: 13',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  socket.end(`${fields.join('\r\n')}\r\n\r\n${body}`)
}
