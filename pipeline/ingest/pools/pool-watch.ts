import { type Address, addressFromBytes, parseAddress } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import type { AccountsRpc } from '../rpc/solana-rpc.ts'
import { createBackoff } from '../stream/backoff.ts'
import { planReconnect, type StreamSettings } from '../stream/reconnect-policy.ts'
import { openSession, type SessionEnd, type StreamSession } from '../stream/stream-session.ts'
import { accountsRequest } from '../stream/subscribe-request.ts'
import { type OpenUpdateStream, openUpdateStream } from '../stream/yellowstone.ts'
import type { UpdateEnvelope } from '../wire/update-envelope.ts'
import { createOneShot } from './one-shot.ts'
import { createPoolAccountReader, type PoolAccountReader } from './pool-account-reader.ts'
import { type AccountBytes, PoolSnapshots, type WatchedPool } from './pool-snapshots.ts'
import type { PoolState } from './pool-state.ts'
import { DEFAULT_POOL_WATCH_LIMITS, type PoolWatchLimits } from './pool-watch-limits.ts'
import type { PoolMetrics } from './telemetry.ts'

/** The server to subscribe to. */
export interface PoolWatchConfig {
  /** `YELLOWSTONE_ENDPOINT`; only `Subscribe` is called (rule J10). */
  readonly endpoint: string
  /** `YELLOWSTONE_X_TOKEN`. */
  readonly xToken: string | null
}

/** Dependencies of a pool watch. */
export interface PoolWatchDeps {
  /** Only `getMultipleAccounts` is called (rule J10). `stop` closes the client. */
  readonly rpc: AccountsRpc & { close(): void }
  readonly logger: Logger
  readonly metrics: PoolMetrics
  /** Called with errors that can only be bugs. */
  readonly onBug: (error: unknown) => void
  /** Replaces the Yellowstone client in tests. */
  readonly openStream?: OpenUpdateStream
}

/**
 * Slots to wait after a request before accounts are read over RPC. A server does not confirm a
 * changed request; two slots later it has taken effect.
 */
const SLOTS_UNTIL_EFFECTIVE = 2

/**
 * Follows the accounts of pools over a separate stream. Gives price and liquidity of their tokens.
 * A new watch has no pools.
 */
export class PoolWatch {
  readonly #config: PoolWatchConfig
  readonly #deps: PoolWatchDeps
  readonly #limits: PoolWatchLimits
  readonly #snapshots: PoolSnapshots
  readonly #reader: PoolAccountReader
  readonly #stopping = new AbortController()
  readonly #done: Promise<void>
  #session: StreamSession | null = null
  #settings: StreamSettings = { replays: false, addressesPerFilter: undefined, selection: 'whole' }
  #poolsChanged = createOneShot()
  /** The newest confirmed slot of the stream, and when its status came. */
  #slot = 0
  #slotAt = Number.NEGATIVE_INFINITY
  #nextSlot = createOneShot()
  /** Whether all accounts were up to date at some time during the current stream. */
  #wasUpToDate = false

  constructor(config: PoolWatchConfig, deps: PoolWatchDeps, limits: Partial<PoolWatchLimits> = {}) {
    this.#config = config
    this.#deps = deps
    this.#limits = { ...DEFAULT_POOL_WATCH_LIMITS, ...limits }
    this.#snapshots = new PoolSnapshots((kind) => deps.metrics.accountsRead.inc({ kind }))
    this.#reader = createPoolAccountReader(deps.rpc, this.#snapshots)
    this.#done = this.#run().catch(deps.onBug)
  }

  /**
   * Replaces the watched pools. Only the first 500 pools are watched, and only the first of each
   * token. Keeps the state of pools that stay. An unchanged set causes no requests.
   */
  watch(pools: readonly { readonly mint: string; readonly pool: string }[]): void {
    const watched: WatchedPool[] = []
    const mints = new Set<string>()
    for (const entry of pools) {
      if (watched.length === this.#limits.pools) break
      const mint = parseAddress(entry.mint)
      const pool = parseAddress(entry.pool)
      if (mint === null || pool === null || mints.has(mint)) continue
      mints.add(mint)
      watched.push({ mint, pool })
    }
    if (!this.#snapshots.replace(watched)) return
    this.#deps.metrics.watched.set(watched.length)
    this.#poolsChanged.fire()
  }

  /** The newest state of a token's pool; undefined when there is none, or none that is recent. */
  newest(mint: string): PoolState | undefined {
    if (performance.now() - this.#slotAt > this.#limits.staleMs) return undefined
    return this.#snapshots.newest(mint)
  }

  /** Closes the stream and the RPC client. Resolves when everything has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#deps.rpc.close()
    this.#session?.end({ kind: 'closed' })
    this.#poolsChanged.fire()
    await this.#done
  }

  /** Opens one stream after another while pools are watched. */
  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const backoff = createBackoff(this.#limits)
    while (!signal.aborted) {
      this.#poolsChanged = createOneShot()
      this.#wasUpToDate = false
      const end = this.#snapshots.size === 0 ? null : await this.#stream()
      if (signal.aborted) return
      if (end === null) {
        await this.#waitForPools()
        continue
      }
      this.#deps.metrics.streams.inc({ end: end.kind })
      if (end.kind === 'closed') continue
      const plan = planReconnect(end, this.#settings)
      this.#settings = plan.settings
      if (plan.kind === 'reopen') continue
      if (this.#wasUpToDate) backoff.reset()
      const pauseMs = backoff.next()
      const reason = 'message' in end ? { reason: end.message } : {}
      this.#deps.logger.warn({ end: end.kind, ...reason, pauseMs }, 'stream of pools ended')
      await pause(pauseMs, signal)
    }
  }

  /**
   * Resolves when the watched pools change. When no watched pool could be decoded, resolves after a
   * pause too: a pool may be newer than the slot of the RPC server.
   */
  async #waitForPools(): Promise<void> {
    const { maxBackoffMs } = this.#limits
    const retry = this.#snapshots.size > 0 ? [pause(maxBackoffMs, this.#stopping.signal)] : []
    await Promise.race([this.#poolsChanged.fired, ...retry])
  }

  /** Opens a stream and returns how it ended; null when there is no account to subscribe to. */
  async #stream(): Promise<SessionEnd | null> {
    try {
      await this.#reader.readUnread()
    } catch (error) {
      return endOf(error)
    }
    const addresses = this.#snapshots.subscribed()
    if (addresses.length === 0) return null
    this.#snapshots.markStale()
    const session = await openSession({
      ...this.#config,
      request: accountsRequest(addresses, this.#settings.addressesPerFilter),
      open: this.#deps.openStream ?? openUpdateStream,
      limits: this.#limits,
      onUpdate: (envelope) => this.#receive(envelope),
    })
    if ('kind' in session) return session
    this.#session = session
    if (this.#stopping.signal.aborted) session.end({ kind: 'closed' })
    this.#deps.logger.info({ pools: this.#snapshots.size }, 'stream of pools opened')
    await this.#keepUpToDate(session, addresses).catch((error) => session.end(endOf(error)))
    this.#session = null
    return session.ended
  }

  /**
   * Reads stale accounts after the opening and after each change of the pools, until the stream
   * ends.
   */
  async #keepUpToDate(session: StreamSession, opened: readonly Address[]): Promise<void> {
    let subscribed = opened.join()
    let isOver = false
    session.ended.then(() => {
      isOver = true
      this.#nextSlot.fire()
      this.#poolsChanged.fire()
    })
    while (!isOver) {
      for (let slots = 0; slots < SLOTS_UNTIL_EFFECTIVE && !isOver; slots++) {
        this.#nextSlot = createOneShot()
        await this.#nextSlot.fired
      }
      if (isOver) return
      await this.#reader.readStale(this.#slot)
      this.#wasUpToDate ||= this.#snapshots.stale().length === 0
      for (let isSame = true; isSame && !isOver; ) {
        await this.#poolsChanged.fired
        if (isOver) return
        this.#poolsChanged = createOneShot()
        await this.#reader.readUnread()
        const addresses = this.#snapshots.subscribed()
        if (addresses.length === 0) return session.end({ kind: 'closed' })
        isSame = addresses.join() === subscribed
        if (isSame || isOver) continue
        subscribed = addresses.join()
        session.send(accountsRequest(addresses, this.#settings.addressesPerFilter))
      }
    }
  }

  #receive(envelope: UpdateEnvelope | null): void {
    if (envelope === null) this.#deps.metrics.accountsRead.inc({ kind: 'malformed' })
    else if (envelope.kind === 'account') {
      this.#snapshots.addUpdate(envelope.key, accountBytesOf(envelope))
    } else if (envelope.kind === 'slot' && envelope.status === 'confirmed') {
      this.#slot = Math.max(this.#slot, envelope.slot)
      this.#slotAt = performance.now()
      this.#snapshots.confirm(this.#slot)
      this.#nextSlot.fire()
    }
  }
}

function accountBytesOf({
  slot,
  writeVersion,
  owner,
  data,
}: UpdateEnvelope & { kind: 'account' }): AccountBytes {
  const program = Buffer.from(owner, 'latin1')
  return {
    slot,
    writeVersion,
    data,
    owner: program.length === 32 ? addressFromBytes(program) : '',
  }
}

/** A failing RPC call ends the stream like a broken connection. Any other error is a bug. */
function endOf(error: unknown): SessionEnd {
  if (!(error instanceof ServiceError)) throw error
  return { kind: 'failed', message: error.message }
}
