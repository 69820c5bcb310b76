import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { EventKey } from '../../pipeline/domain/event-key.ts'
import { type Perturb, serveSwap } from '../../pipeline/domain/perturbation.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import type { Logger } from '../../pipeline/runtime/logger.ts'
import type { OnStage } from '../../pipeline/runtime/slot-stage.ts'
import type { Registry } from '../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { inTime } from '../../pipeline/store/timely-store.ts'
import { type AccountChannel, createMemoryChannel } from '../channel/account-channel.ts'
import type { Account } from '../credits/meter.ts'
import type { CursorCodec, FeedPosition } from '../cursor.ts'
import { ApiError } from '../errors.ts'
import { type PublishedSwap, tradeItem } from '../items/trade.ts'
import type { FeedKey, Upgrade, UpgradeHandler, Viewer } from '../middleware/upgrade.ts'
import type { FeedStatus } from '../resources/status.ts'
import type { StoragePosition } from '../storage-position.ts'
import { ConnectionRegistry } from './connection-registry.ts'
import {
  type BlockHooks,
  type BlockOptions,
  type BlockSource,
  CreditBlock,
} from './credit-block.ts'
import { type FollowedTrades, type FollowRequest, followTrades } from './follow-trades.ts'
import { KeyAccess } from './key-access.ts'
import { MissedRevocations, type RevokedKey } from './missed-revocations.ts'
import { OpenSockets } from './open-sockets.ts'
import type { EndReason, MessageLimit } from './protocol-handler.ts'
import { createRelay, type Relay, type RelayOptions } from './relay.ts'
import { createFeedMetrics, type FeedMetrics } from './telemetry.ts'
import { createTradeBatch } from './trade-batch.ts'
import { TradeConnection } from './trade-connection.ts'
import { TradeHistory } from './trade-history.ts'
import type { TradeReceiver } from './trade-receiver.ts'
import type { TradeWait } from './trade-wait.ts'
import { createTransport } from './transport.ts'
import { createUpgradeServer, refuseUpgrade } from './upgrade-server.ts'
import { ViewConnection } from './view-connection.ts'
import { ViewRelay } from './view-relay.ts'
import { createViewSource, type ViewSource } from './view-rows.ts'

/** Dependencies of the feed. */
export interface FeedDeps {
  readonly log: EventLog
  readonly cursors: CursorCodec
  readonly credits: FeedCredits
  /** Events of accounts from other processes; by default this is the only process. */
  readonly channel?: AccountChannel
  /** Reads the keys revoked, and the accounts disabled, since a time (unix milliseconds). */
  readonly revokedSince?: (unixMs: number) => Promise<readonly RevokedKey[]>
  /** Reads those of these named keys that are valid or expired, by hash. */
  readonly findNamedKeys?: (
    wallets: readonly string[],
    sha256s: readonly string[],
  ) => Promise<ReadonlyMap<string, unknown>>
  /**
   * How many connections the API keys of an account may have, and how many the dashboards of one
   * wallet for views. A newer one closes the oldest (rule F6).
   */
  readonly connectionsPerKey: number
  /** How old a position may be that a client resumes from (rule F4); default 24. */
  readonly retentionHours?: number | undefined
  /** Messages that a client may send on a connection per minute; 0, the default: no limit. */
  readonly messagesPerMinute?: number | undefined
  readonly logger: Logger
  readonly registry: Registry
  /** Perturbation of served trades (rule I2); null: none. */
  readonly perturb?: Perturb | null
  /** Called when a slot is `arrived`, `merged` and `written`. */
  readonly onStage?: OnStage | undefined
  /** Creates the source of `watchlist` and `signals`; by default it reads the store. */
  readonly views?: (store: Store) => ViewSource
}

/** Reserves credits for trades, and gives those of withdrawn trades back. */
export interface FeedCredits extends BlockSource {
  /**
   * Gives an account the credit of each of these trades back, once a trade (rule K9). Retried until
   * it is done.
   */
  giveBackLater(account: Account, tradeIds: readonly string[]): void
}

/** Timers, clocks and bounds of the feed; each has a default. */
export interface FeedOptions {
  /** Bounds of the relay. */
  readonly relay?: RelayOptions
  /**
   * Starts a timer and returns what stops it. The feed has timers of 30 s and of 1 s. `run`
   * resolves when heartbeats are sent, or a newer tick is published, and never rejects.
   */
  readonly every?: (ms: number, run: () => Promise<void>) => () => void
  /** Clock and pauses of credit blocks. */
  readonly block?: BlockOptions
  /** How long a client may take to answer a close when the feed stops, in milliseconds. */
  readonly closeMs?: number
  /** Unix milliseconds by the wall clock, for the end of tokens and Pro. */
  readonly now?: () => number
}

/**
 * The live feed of `GET /ws` (section F of the rules): trade connections over one relay of
 * the log, and dashboard connections over one view relay. It has no state that must be kept.
 */
export class Feed implements UpgradeHandler, FeedStatus {
  readonly #deps: FeedDeps
  readonly #options: Required<FeedOptions>
  readonly #metrics: FeedMetrics
  readonly #messageLimit: MessageLimit
  readonly #server = createUpgradeServer()
  readonly #sockets: OpenSockets
  readonly #traders: ConnectionRegistry<TradeReceiver>
  readonly #viewers: ConnectionRegistry<ViewConnection>
  readonly #keyAccess = new KeyAccess()
  readonly #missedRevocations: MissedRevocations
  /** Work of closed connections: booking credits, telling other processes. None of it rejects. */
  readonly #closing = new Set<Promise<void>>()
  #relay: Relay | null = null
  #history: TradeHistory | null = null
  #viewRelay: ViewRelay | null = null
  #storage: StorageView = { walletCount: () => 0, stored: () => null }
  /** The last poll of the view relay. Never rejects. */
  #viewPoll: Promise<void> = Promise.resolve()
  /** Heartbeats that are being sent. */
  #heartbeats: Promise<void> | null = null
  #stopTimers: () => void = () => {}
  #isStopping = false
  /** Calls that wait for trades. */
  #waits = 0
  /** Webhooks that wait for trades. */
  readonly #unseated = new Set<TradeWait>()

  constructor(deps: FeedDeps, options: FeedOptions = {}) {
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
    this.#sockets = new OpenSockets(this.#metrics)
    this.#messageLimit = { perMinute: deps.messagesPerMinute ?? 0, now: this.#options.now }
    const { channel = createMemoryChannel(), connectionsPerKey, revokedSince, logger } = deps
    this.#traders = new ConnectionRegistry(channel, connectionsPerKey)
    this.#viewers = new ConnectionRegistry(channel, connectionsPerKey)
    this.#missedRevocations = new MissedRevocations({
      revokedSince,
      onRevoked: (revoked) => this.#endRevoked(revoked),
      endDeletedKeys: () => this.#endDeletedKeys(),
      logger,
    })
    this.#listenTo(channel)
  }

  #listenTo(channel: AccountChannel): void {
    channel.listen({
      onSuperseded: (_account, name) => {
        this.#traders.endSuperseded(name)
        this.#viewers.endSuperseded(name)
      },
      onRotated: (account) => this.#endOwnKey(account),
      onKeyDeleted: (_account, keySha256) => this.#keyAccess.endKey(keySha256),
      onAccessChanged: (account, isDisabled) => {
        if (!isDisabled) return
        for (const name of [account, seatOf(account), waitsOf(account)])
          this.#traders.endAll(name, 'account_disabled')
        this.#viewers.endAll(dashboardOf(account), 'account_disabled')
      },
      onLoggedOut: (tokenId) => {
        this.#endViewers('token_revoked', (connection) => connection.tokenId === tokenId)
        this.#keyAccess.endSession(tokenId)
      },
      onLoggedOutEverywhere: (wallet, generation) => {
        this.#endViewers('token_revoked', (connection) =>
          connection.hasTokenBefore(wallet, generation),
        )
        this.#keyAccess.endSessionsBefore(wallet, generation)
      },
      onBack: (sinceMs) => {
        this.#traders.announceAll()
        this.#viewers.announceAll()
        this.checkTokens()
        this.#missedRevocations.onReconnect(sinceMs)
      },
    })
  }

  /**
   * Rebuilds the window of the last minutes from the log. Older trades are read from the store, up
   * to the storage marker; pages for one account are read from `storeOf(account)`.
   */
  async start(
    storage: StorageView,
    store: Store,
    storeOf: (account: Account) => Store = () => store,
  ): Promise<void> {
    this.#storage = storage
    await this.#startRelay(store, storeOf)
    await this.#startViewRelay(store)
    this.#startTimers()
  }

  async #startRelay(store: Store, storeOf: (account: Account) => Store): Promise<void> {
    const { log, cursors, retentionHours = DEFAULT_RETENTION_HOURS, perturb = null } = this.#deps
    const render = (swap: PublishedSwap & EventKey) =>
      JSON.stringify(tradeItem(serveSwap(swap, perturb), this.#storage.symbolOf?.(swap.baseMint)))
    const history = new TradeHistory({
      store,
      storeOf,
      position: this.#storage,
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
    this.#relay.listen({
      onEntries: (entries) => {
        const batch = createTradeBatch(entries)
        for (const connection of this.#traders.active()) connection.deliver(batch)
        for (const wait of this.#unseated) wait.deliver()
      },
      onOldWithdrawal: (before) => {
        for (const connection of this.#traders.active()) connection.catchUpFrom(before)
      },
    })
  }

  async #startViewRelay(store: Store): Promise<void> {
    const { cursors, retentionHours = DEFAULT_RETENTION_HOURS, logger } = this.#deps
    const source = this.#deps.views?.(store) ?? createViewSource(store, cursors)
    const viewRelay = new ViewRelay({ source, cursors, retentionHours, logger })
    await viewRelay.poll()
    this.#viewRelay = viewRelay
  }

  #startTimers(): void {
    const { every } = this.#options
    const stopHeartbeats = every(HEARTBEAT_MS, () => {
      this.#heartbeats ??= this.#sendHeartbeats().finally(() => {
        this.#heartbeats = null
      })
      this.#keyAccess.checkSessions()
      return this.#heartbeats
    })
    const stopSeconds = every(SECOND_MS, () => {
      for (const connection of this.#viewers.active()) connection.checkAccess()
      this.#keyAccess.endExpired(this.#options.now())
      this.#missedRevocations.retry()
      this.#viewPoll = this.#viewRelay?.poll() ?? this.#viewPoll
      return this.#viewPoll
    })
    this.#stopTimers = () => {
      stopHeartbeats()
      stopSeconds()
    }
  }

  /** Sends a heartbeat to every connection. Trades and requests come between the slices. */
  async #sendHeartbeats(): Promise<void> {
    let count = 0
    for (const active of [this.#traders.active(), this.#viewers.active()])
      for (const connection of active) {
        connection.heartbeat()
        if (++count % HEARTBEATS_AT_ONCE === 0) await new Promise(setImmediate)
      }
  }

  sealed() {
    const marker = this.#relay?.newest ?? null
    return marker && { slot: marker.slot, blockTime: marker.blockTime }
  }

  finalized(): number | null {
    return this.#relay?.newest?.finalized ?? null
  }

  /**
   * Equal to `sealed`: trades are written to the sockets synchronously when a slot is published.
   */
  sent() {
    return this.sealed()
  }

  connections(): number {
    return this.#sockets.size + this.#waits
  }

  accept({ request, socket, head }: Upgrade, key: FeedKey, left: number): void {
    const [relay, history] = [this.#relay, this.#history]
    if (relay === null || history === null || this.#isStopping) {
      refuseUpgrade(socket, 'unavailable')
      return
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#openTrades({ relay, history }, webSocket, socket, key, left),
    )
  }

  acceptViewer({ request, socket, head }: Upgrade, viewer: Viewer): void {
    const relay = this.#viewRelay
    if (relay === null || this.#isStopping) {
      refuseUpgrade(socket, 'unavailable')
      return
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#openViews(relay, webSocket, socket, viewer),
    )
  }

  /**
   * Returns messages of the channel `trades` after a position, and waits for the first (rule M2).
   * Nothing is charged. Rejects like `followTrades`, also before the feed has started.
   */
  follow(request: FollowRequest): Promise<FollowedTrades> {
    const [relay, history] = [this.#relay, this.#history]
    if (relay === null || history === null || this.#isStopping)
      return Promise.reject(new ApiError('unavailable', { headers: { 'Retry-After': '1' } }))
    const register = (wait: TradeWait) => this.#registerWait(wait)
    return followTrades({ relay, history, register }, request)
  }

  /** The position after everything that was published. Throws `unavailable` before the start. */
  position(): FeedPosition {
    if (this.#relay === null) throw new ApiError('unavailable')
    return this.#relay.position
  }

  /** As `follow`, for a webhook: its waits are no connections of the account. */
  followUnseated(request: Omit<FollowRequest, 'key'>, account: Account): Promise<FollowedTrades> {
    const [relay, history] = [this.#relay, this.#history]
    if (relay === null || history === null || this.#isStopping)
      return Promise.reject(new ApiError('unavailable'))
    const register = (wait: TradeWait) => {
      this.#unseated.add(wait)
      return () => this.#unseated.delete(wait)
    }
    const key = { account, kind: 'own' } as const
    return followTrades({ relay, history, register }, { ...request, key })
  }

  /** The relay of `watchlist` and `signals`. Throws `unavailable` before the start. */
  views(): ViewRelay {
    if (this.#viewRelay === null || this.#isStopping) throw new ApiError('unavailable')
    return this.#viewRelay
  }

  /** Records trades that a call answered, and gives the credits of withdrawn ones back. */
  onFollowed(account: Account, trades: number, retracted: readonly string[]): void {
    this.#metrics.messages.inc(trades)
    if (retracted.length > 0) this.#deps.credits.giveBackLater(account, retracted)
  }

  #registerWait(wait: TradeWait): () => void {
    // Beside its connections: an agent that waits does not end a program that follows the feed.
    const seat = waitsOf(wait.key.account)
    const name = randomUUID()
    this.#waits++
    wait.onEnd = () => {
      this.#traders.deactivate(seat, wait)
      this.#keyAccess.delete(wait)
    }
    this.#keyAccess.add(wait)
    this.#traders.add(seat, name, wait)
    return () => {
      this.#waits--
      wait.onEnd()
      this.#track(this.#traders.remove(name))
    }
  }

  /** Ends the trade connections with the own key of an account, which was rotated (rule F6). */
  #endOwnKey(account: Account): void {
    for (const name of [account, waitsOf(account)])
      for (const connection of this.#traders.activeOf(name))
        if (connection.key.kind === 'own') connection.end('key_rotated')
  }

  /** Closes the connections whose dashboard token is no longer valid. */
  checkTokens(): void {
    for (const connection of this.#viewers.active()) connection.checkToken()
    this.#keyAccess.checkSessions()
  }

  async #endDeletedKeys(): Promise<void> {
    const used = this.#keyAccess.namedKeys()
    if (used.length === 0) return
    const found = await this.#deps.findNamedKeys?.(
      used.map(({ account }) => account),
      used.map(({ sha256 }) => sha256),
    )
    for (const { sha256 } of used) if (found?.has(sha256) === false) this.#keyAccess.endKey(sha256)
  }

  #endViewers(reason: EndReason, isMeant: (connection: ViewConnection) => boolean): void {
    for (const connection of this.#viewers.active()) if (isMeant(connection)) connection.end(reason)
  }

  /** Ends connections that were opened before their key was revoked or their account disabled. */
  #endRevoked({ account, at, why }: RevokedKey): void {
    const isDisabled = why === 'account_disabled'
    for (const { connection, openedAt } of this.#traders.registered()) {
      const { key } = connection
      const isMeant = key.account === account && (isDisabled || key.kind === 'own')
      if (isMeant && openedAt < at) connection.end(why)
    }
    for (const { account: of, connection, openedAt } of this.#viewers.registered())
      if (isDisabled && of === dashboardOf(account) && openedAt < at) connection.end(why)
  }

  /**
   * Asks every client to reconnect, closes its connection and charges its use; takes at most
   * `graceMs`.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#stopTimers()
    for (const connection of [...this.#traders.active(), ...this.#viewers.active()])
      connection.end('restarting')
    await this.#sockets.drain(Math.min(this.#options.closeMs, graceMs / 2))
    await inTime(this.#end(), graceMs / 2, 'the end of the feed').catch(() => {})
  }

  /** Ends the work of closed connections, and the reading of log and views. */
  async #end(): Promise<void> {
    await Promise.all(this.#closing)
    await this.#relay?.close()
    await this.#viewPoll
  }

  #openTrades(
    parts: { readonly relay: Relay; readonly history: TradeHistory },
    webSocket: WebSocket,
    socket: Duplex,
    key: FeedKey,
    left: number,
  ): void {
    const { account } = key
    // The dashboard of a wallet has one connection beside those of its API keys.
    const seat = key.kind === 'session' ? seatOf(account) : account
    const name = randomUUID()
    const openSocket = this.#sockets.add(webSocket)
    let reserved = 0
    for (const one of [account, seatOf(account)])
      for (const other of this.#traders.activeOf(one)) reserved += other.heldCredits
    const connection: TradeConnection = new TradeConnection(
      {
        relay: parts.relay,
        history: parts.history,
        transport: createTransport(webSocket, socket),
        limit: this.#messageLimit,
        account,
        key,
        isTracked: (wallet) => wallet <= this.#storage.walletCount(),
        creditBlock: (hooks) => this.#createCreditBlock(account, name, left, hooks),
        onSent: (trades) => this.#metrics.messages.inc(trades),
        onRetracted: (tradeIds) => this.#deps.credits.giveBackLater(account, tradeIds),
        onEnd: (reason) => {
          openSocket.setEndReason(reason)
          this.#traders.deactivate(seat, connection)
          this.#keyAccess.delete(connection)
        },
      },
      left + reserved,
    )
    this.#keyAccess.add(connection)
    this.#traders.add(seat, name, connection, key.kind === 'session' ? 1 : undefined)
    openSocket.bind(connection, () => {
      this.#traders.deactivate(seat, connection)
      this.#keyAccess.delete(connection)
      this.#track(this.#traders.remove(name))
      this.#track(connection.onSocketClosed())
    })
  }

  #createCreditBlock(
    account: Account,
    connection: string,
    left: number,
    hooks: BlockHooks,
  ): CreditBlock {
    const source = this.#deps.credits
    return new CreditBlock({ source, account, connection, left, hooks }, this.#options.block)
  }

  #openViews(relay: ViewRelay, webSocket: WebSocket, socket: Duplex, viewer: Viewer): void {
    // The limit of connections applies to a wallet's dashboards and to its key separately.
    const account = dashboardOf(viewer.wallet)
    const name = randomUUID()
    const openSocket = this.#sockets.add(webSocket)
    const connection: ViewConnection = new ViewConnection({
      transport: createTransport(webSocket, socket),
      limit: this.#messageLimit,
      relay,
      viewer,
      now: this.#options.now,
      onSent: (messages) => this.#metrics.viewMessages.inc(messages),
      onEnd: (reason) => {
        openSocket.setEndReason(reason)
        this.#viewers.deactivate(account, connection)
      },
    })
    this.#viewers.add(account, name, connection)
    const unlisten = relay.listen((batch) => connection.deliver(batch))
    connection.checkToken() // it may have been revoked before this connection was registered
    openSocket.bind(connection, () => {
      unlisten()
      this.#viewers.deactivate(account, connection)
      this.#track(this.#viewers.remove(name))
      connection.onSocketClosed()
    })
  }

  #track(work: Promise<void>): void {
    const done = work.finally(() => this.#closing.delete(done))
    this.#closing.add(done)
  }
}

/** The name under which the dashboards of a wallet are registered. */
function dashboardOf(wallet: string): Account {
  return `dashboard:${wallet}`
}

/** The name under which the trade connection of a wallet's dashboard is registered (rule L16). */
function seatOf(wallet: string): Account {
  return `seat:${wallet}`
}

/** The name under which the calls of an account that wait for trades are registered (rule M2). */
function waitsOf(account: string): Account {
  return `wait:${account}`
}

/** The parts of the storage position that the feed uses. */
type StorageView = Pick<StoragePosition, 'walletCount' | 'stored'> & {
  /** Symbol of a mint; null if it is not known yet. Default: none is known. */
  symbolOf?(mint: string): string | null
}

const DEFAULT_RETENTION_HOURS = 24
const HEARTBEAT_MS = 30_000
/** Some milliseconds of work. */
const HEARTBEATS_AT_ONCE = 200
const SECOND_MS = 1000

function everyMs(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  return () => clearInterval(timer)
}
