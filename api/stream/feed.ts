import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { type Perturb, serveSwap } from '../../pipeline/domain/perturbation.ts'
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
import type { Upgrade, Viewer } from '../middleware/upgrade.ts'
import type { StoragePosition } from '../storage-position.ts'
import { Connection, passingOf } from './connection.ts'
import type { EndReason, MessageLimit } from './conversation.ts'
import { type BlockOptions, type BlockSource, CreditBlock } from './credit-block.ts'
import { createTradeHistory, type TradeHistory } from './history.ts'
import { createRelay, type Relay, type RelayOptions } from './relay.ts'
import { Seats } from './seats.ts'
import { createFeedMetrics, type FeedMetrics } from './telemetry.ts'
import { createTransport } from './transport.ts'
import { ViewConnection } from './view-connection.ts'
import { ViewRelay } from './view-relay.ts'
import { createViewSource, type ViewSource } from './view-rows.ts'

export interface FeedDeps {
  readonly log: EventLog
  readonly cursors: CursorCodec
  readonly credits: BlockSource
  /** What other processes do with an account; by default there are none. */
  readonly channel?: AccountChannel
  /** Accounts whose key was revoked since a time (unix milliseconds), and when. */
  readonly revokedSince?: (unixMs: number) => Promise<readonly { account: Account; at: number }[]>
  /** How many feed connections one key may have, and how many the dashboards of one wallet; a newer one closes the oldest (rule F6). */
  readonly connectionsPerKey: number
  /** How far back a client may resume (rule F4); default 24. */
  readonly retentionHours?: number | undefined
  /** Messages that a client may send on a connection in a minute; 0, the default: no limit. */
  readonly messagesPerMinute?: number | undefined
  readonly logger: Logger
  readonly registry: Registry
  /** How what is sent differs from what happened (rule I2); null: it does not. */
  readonly perturb?: Perturb | null
  /** Told when a slot is `merged` and `written`. */
  readonly onStage?: OnStage | undefined
  /** What the channels `watchlist` and `signals` say; by default what is stored. */
  readonly views?: (store: Store) => ViewSource
}

export interface FeedOptions {
  readonly relay?: RelayOptions
  /** Runs something again and again until what it gives is called; the feed's pulses, of 30 s and of 1 s. */
  readonly every?: (ms: number, run: () => void) => () => void
  readonly block?: BlockOptions
  /** How long a client may take to answer a close. */
  readonly closeMs?: number
  /** Unix milliseconds by the wall clock, by which tokens and Pro end. */
  readonly now?: () => number
}

/** The live feed of `GET /ws` (rules of section F): connections over one relay of the log. Nothing in it can be lost. */
export function createFeed(deps: FeedDeps, options: FeedOptions = {}): Feed {
  return new LiveFeed(deps, options)
}

class LiveFeed implements Feed {
  readonly #deps: FeedDeps
  readonly #options: Required<FeedOptions>
  readonly #metrics: FeedMetrics
  readonly #messageLimit: MessageLimit
  readonly #server = new WebSocketServer(SERVER_OPTIONS)
  readonly #traders: Seats<Connection>
  readonly #viewers: Seats<ViewConnection>
  /** Open sockets, closing ones too. */
  readonly #sockets = new Set<WebSocket>()
  /** What connections that ended still have to book. */
  readonly #booking = new Set<Promise<void>>()
  #relay: Relay | null = null
  #history: TradeHistory | null = null
  #views: ViewRelay | null = null
  #storage: StorageView = { walletCount: () => 0, stored: () => null }
  /** Whether the engine's newest tick is being asked for; never rejects. */
  #looking: Promise<void> = Promise.resolve()
  /** Since when keys may have been revoked without this process having heard of it (unix milliseconds); null: it knows. */
  #unheardSince: number | null = null
  #stopPulse: () => void = () => {}
  #isStopping = false

  constructor(deps: FeedDeps, options: FeedOptions) {
    this.#deps = deps
    this.#options = {
      relay: {},
      every: everyMs,
      block: {},
      closeMs: 2000,
      now: Date.now,
      ...options,
    }
    this.#metrics = createFeedMetrics(deps.registry)
    this.#messageLimit = { perMinute: deps.messagesPerMinute ?? 0, now: this.#options.now }
    const { channel = createMemoryChannel(), connectionsPerKey } = deps
    this.#traders = new Seats(channel, connectionsPerKey)
    this.#viewers = new Seats(channel, connectionsPerKey)
    channel.listen({
      onSuperseded: (_account, name) => {
        this.#traders.onSuperseded(name)
        this.#viewers.onSuperseded(name)
      },
      onRotated: (account) => this.endAll(account, 'key_rotated'),
      onLoggedOut: (tokenId) => this.#logOut((connection) => connection.tokenId === tokenId),
      onLoggedOutEverywhere: (wallet, generation) =>
        this.#logOut((connection) => connection.isBefore(wallet, generation)),
      onBack: (sinceMs) => this.#comeBack(sinceMs),
    })
    this.#server.on('wsClientError', (_error, socket) => refuse(socket, 'upgrade_required'))
  }

  async start(
    storage: StorageView,
    store: Store,
    storeOf: (account: Account) => Store = () => store,
  ): Promise<void> {
    this.#storage = storage
    const { log, cursors, retentionHours = 24, perturb = null } = this.#deps
    const render = (swap: PublishedSwap & EventKey) =>
      JSON.stringify(tradeItem(serveSwap(swap, perturb)))
    const history = createTradeHistory({
      store,
      storeOf,
      position: storage,
      cursors,
      epoch: log.epoch,
      retentionHours,
      render,
    })
    this.#history = history
    this.#relay = await createRelay(
      { ...this.#deps, history, render, metrics: this.#metrics },
      this.#options.relay,
    )
    this.#relay.listen((entries) => {
      const passing = passingOf(entries)
      for (const connection of this.#traders.all()) connection.offer(passing)
    })
    const source = this.#deps.views?.(store) ?? createViewSource(store)
    const views = new ViewRelay({ source, cursors, retentionHours, logger: this.#deps.logger })
    await views.poll()
    this.#views = views
    const { every } = this.#options
    const stopBeat = every(BEAT_MS, () => {
      for (const connection of this.#traders.all()) connection.beat()
      for (const connection of this.#viewers.all()) connection.beat()
    })
    const stopSeconds = every(SECOND_MS, () => {
      for (const connection of this.#viewers.all()) connection.checkAccess()
      this.#endRevoked()
      this.#looking = views.poll()
    })
    this.#stopPulse = () => {
      stopBeat()
      stopSeconds()
    }
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

  acceptViewer({ request, socket, head }: Upgrade, viewer: Viewer): void {
    const relay = this.#views
    if (relay === null || this.#isStopping) {
      refuse(socket, 'unavailable')
      return
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#openView(relay, webSocket, socket, viewer),
    )
  }

  /** Ends an account's connections, as when its key was rotated (rule F6). */
  endAll(account: Account, reason: EndReason): void {
    this.#traders.endAll(account, reason)
  }

  checkTokens(): void {
    for (const connection of this.#viewers.all()) connection.checkToken()
  }

  #logOut(isMeant: (connection: ViewConnection) => boolean): void {
    for (const connection of this.#viewers.all())
      if (isMeant(connection)) connection.end('token_revoked')
  }

  /** Other processes hear of this one again: what it has, and which keys and tokens were revoked meanwhile. */
  #comeBack(sinceMs: number): void {
    this.#traders.comeBack()
    this.#viewers.comeBack()
    this.checkTokens()
    this.#unheardSince = Math.min(sinceMs, this.#unheardSince ?? sinceMs)
    this.#endRevoked(() => this.#deps.logger.warn('revoked keys cannot be read, trying again'))
  }

  /** Ends what came with a key that was revoked unheard; what cannot be read now is asked for again, each second. */
  #endRevoked(onFailure: () => void = () => {}): void {
    const since = this.#unheardSince
    if (since === null) return
    this.#unheardSince = null
    this.#deps.revokedSince?.(since - CLOCK_SKEW_MS).then(
      (revoked) => {
        for (const { account, at } of revoked)
          for (const seat of this.#traders.seated())
            if (seat.account === account && seat.openedAt < at) seat.connection.end('key_rotated')
      },
      () => {
        this.#unheardSince = Math.min(since, this.#unheardSince ?? since)
        onFailure()
      },
    )
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#stopPulse()
    for (const connection of [...this.#traders.all(), ...this.#viewers.all()])
      connection.end('restarting')
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
    await this.#looking
  }

  #open(
    parts: { readonly relay: Relay; readonly history: TradeHistory },
    webSocket: WebSocket,
    socket: Duplex,
    account: Account,
    left: number,
  ): void {
    let held = 0
    for (const other of this.#traders.of(account)) held += other.heldCredits
    const { credits } = this.#deps
    const name = randomUUID()
    const attached = this.#attach(webSocket)
    const connection: Connection = new Connection(
      {
        transport: createTransport(webSocket, socket),
        limit: this.#messageLimit,
        account,
        ...parts,
        isTracked: (wallet) => wallet <= this.#storage.walletCount(),
        creditBlock: (hooks) =>
          new CreditBlock(
            { source: credits, account, connection: name, left, hooks },
            this.#options.block,
          ),
        onSent: (trades) => this.#metrics.messages.inc(trades),
        onEnd: (reason) => {
          attached.ended = reason
          this.#traders.forget(account, connection)
        },
      },
      left + held,
    )
    this.#traders.take(account, name, connection)
    attached.follow(connection, () => {
      this.#traders.forget(account, connection)
      this.#book(this.#traders.leave(name))
      this.#book(connection.closed())
    })
  }

  #openView(relay: ViewRelay, webSocket: WebSocket, socket: Duplex, viewer: Viewer): void {
    // Connections of a dashboard are counted apart from those of the account's key.
    const account = `dashboard:${viewer.wallet}`
    const name = randomUUID()
    const attached = this.#attach(webSocket)
    const connection: ViewConnection = new ViewConnection({
      transport: createTransport(webSocket, socket),
      limit: this.#messageLimit,
      relay,
      viewer,
      now: this.#options.now,
      onSent: (messages) => this.#metrics.viewMessages.inc(messages),
      onEnd: (reason) => {
        attached.ended = reason
        this.#viewers.forget(account, connection)
      },
    })
    this.#viewers.take(account, name, connection)
    const unlisten = relay.listen((batch) => connection.offer(batch))
    connection.checkToken() // it may have been taken back before this connection could hear of it
    attached.follow(connection, () => {
      unlisten()
      this.#viewers.forget(account, connection)
      this.#book(this.#viewers.leave(name))
      connection.gone()
    })
  }

  /** A socket that is open from now on; what comes over it goes to the connection that follows it, until it is closed. */
  #attach(webSocket: WebSocket) {
    this.#sockets.add(webSocket)
    this.#metrics.connections.set(this.#sockets.size)
    const attached = {
      ended: null as EndReason | 'protocol_error' | null,
      follow: (connection: Connection | ViewConnection, onClosed: () => void) => {
        webSocket.on('message', (data: Buffer, isBinary) =>
          connection.receive(isBinary ? null : data.toString(), data.length),
        )
        webSocket.on('ping', () => connection.onPing())
        webSocket.on('pong', () => connection.onPong())
        webSocket.on('error', () => {
          attached.ended ??= 'protocol_error' // which is answered with the close code that says it
        })
        webSocket.on('close', () => {
          this.#sockets.delete(webSocket)
          onClosed()
          this.#metrics.connections.set(this.#sockets.size)
          this.#metrics.closes.inc({ reason: attached.ended ?? 'client' })
        })
      },
    }
    return attached
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

/** How far clocks of processes may be apart. */
const CLOCK_SKEW_MS = 5000

/** What the feed wants to know of storage. */
type StorageView = Pick<StoragePosition, 'walletCount' | 'stored'>

/** How long a client has to answer a close; what it sends until then is still parsed. */
const CLOSE_MS = 2000
/** A message is refused with a word up to this size, beyond it without. */
const MAX_FRAME_BYTES = 16_384
const BEAT_MS = 30_000
const SECOND_MS = 1000

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

/** `closeTimeout` of ws 8.19 is not in its types yet. */
const SERVER_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_FRAME_BYTES,
  closeTimeout: CLOSE_MS,
  handleProtocols: (offered: Set<string>): string | false =>
    offered.has('bearer') ? 'bearer' : false,
}
