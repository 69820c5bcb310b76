import { type Address, addressFromBytes, parseAddress } from '../../domain/address.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/pause.ts'
import type { AccountsRpc } from '../rpc/solana-rpc.ts'
import { openSession, type SessionEnd, type StreamSession } from '../stream/stream-session.ts'
import { accountsRequest } from '../stream/subscribe-request.ts'
import { type OpenUpdateStream, openUpdateStream } from '../stream/yellowstone.ts'
import type { UpdateEnvelope } from '../wire/update-envelope.ts'
import { PoolPictures, type WatchedPool } from './pool-pictures.ts'
import type { PoolState } from './pool-state.ts'
import type { PoolMetrics } from './telemetry.ts'

/** Follows the accounts of pools over a stream of its own, and tells price and liquidity of their tokens. */
export interface PoolWatch {
  /**
   * Replaces what is watched: at most 500, the first ones; of several pools of a token the first. What is known of pools that stay is kept. An unchanged set costs nothing.
   * `programId` is not used: the account's owner tells what it is.
   */
  watch(
    pools: readonly { readonly mint: string; readonly pool: string; readonly programId?: string }[],
  ): void
  /** The newest state of a token's pool; undefined while there is none, or when the stream has been silent for too long for it to be one. */
  newest(mint: string): PoolState | undefined
  stop(): Promise<void>
}

export interface PoolWatchConfig {
  /** `YELLOWSTONE_ENDPOINT`; only `Subscribe` is asked of it (rule J10). */
  readonly endpoint: string
  readonly xToken: string | null
}

export interface PoolWatchDeps {
  /** Closed by `stop`. Only `getMultipleAccounts` is asked of it (rule J10). */
  readonly rpc: AccountsRpc & { close(): void }
  readonly logger: Logger
  readonly metrics: PoolMetrics
  /** Called with what can only be a bug. */
  readonly onBug: (error: unknown) => void
  readonly openStream?: OpenUpdateStream
}

/** Bounds and times; each has its default in `LIMITS`. */
export interface PoolWatchLimits {
  readonly pools: number
  /** See `SessionLimits`. */
  readonly idleMs: number
  readonly pingMs: number
  /** First pause before a stream is opened again; it doubles up to `maxBackoffMs`, and starts anew once a stream has brought everything up to date. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
  /** How long after the last confirmed slot of the stream its pictures still count. */
  readonly staleMs: number
}

const LIMITS: PoolWatchLimits = {
  pools: 500,
  idleMs: 10_000,
  pingMs: 10_000,
  backoffMs: 100,
  maxBackoffMs: 10_000,
  staleMs: 30_000,
}

/** What one `getMultipleAccounts` takes. */
const ACCOUNTS_PER_CALL = 100
/** Nothing says when a server heeds a changed request; two slots later it does. */
const SLOTS_TO_HEED = 2

/** Starts a watch over no pools yet. */
export function createPoolWatch(
  config: PoolWatchConfig,
  deps: PoolWatchDeps,
  limits: Partial<PoolWatchLimits> = {},
): PoolWatch {
  return new Watch(config, deps, { ...LIMITS, ...limits })
}

class Watch implements PoolWatch {
  readonly #config: PoolWatchConfig
  readonly #deps: PoolWatchDeps
  readonly #limits: PoolWatchLimits
  readonly #pictures: PoolPictures
  readonly #stopping = new AbortController()
  readonly #done: Promise<void>
  #session: StreamSession | null = null
  #addressesPerFilter: number | undefined
  #changed = createSignal()
  /** The newest confirmed slot of the stream, and when it came. */
  #slot = 0
  #slotAt = Number.NEGATIVE_INFINITY
  #nextSlot = createSignal()
  /** Whether the stream at hand, and RPC beside it, have told everything. */
  #isWhole = false

  constructor(config: PoolWatchConfig, deps: PoolWatchDeps, limits: PoolWatchLimits) {
    this.#config = config
    this.#deps = deps
    this.#limits = limits
    this.#pictures = new PoolPictures((kind) => deps.metrics.pictures.inc({ kind }))
    this.#done = this.#run().catch(deps.onBug)
  }

  watch(pools: Parameters<PoolWatch['watch']>[0]): void {
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
    if (!this.#pictures.replace(watched)) return
    this.#deps.metrics.watched.set(watched.length)
    this.#changed.give()
  }

  newest(mint: string): PoolState | undefined {
    if (performance.now() - this.#slotAt > this.#limits.staleMs) return undefined
    return this.#pictures.newest(mint)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#deps.rpc.close()
    this.#session?.end({ kind: 'closed' })
    this.#changed.give()
    await this.#done
  }

  /** One stream after the other, as long as something is watched. */
  async #run(): Promise<void> {
    const { backoffMs, maxBackoffMs } = this.#limits
    let pauseMs = backoffMs
    while (!this.#stopping.signal.aborted) {
      this.#changed = createSignal()
      this.#isWhole = false
      const end = this.#pictures.size === 0 ? null : await this.#stream()
      if (this.#stopping.signal.aborted) return
      if (end === null) {
        // A pool that nobody could read may be younger than what RPC has seen.
        await Promise.race([
          this.#changed.given,
          ...(this.#pictures.size > 0 ? [pause(maxBackoffMs, this.#stopping.signal)] : []),
        ])
        continue
      }
      this.#deps.metrics.streams.inc({ end: end.kind })
      if (end.kind === 'closed') continue
      if (end.kind === 'too_many_addresses' && this.#learn(end.most)) continue
      if (this.#isWhole) pauseMs = backoffMs
      const reason = 'message' in end ? { reason: end.message } : {}
      this.#deps.logger.warn({ end: end.kind, ...reason, pauseMs }, 'stream of pools ended')
      // Half of it at random, so that many clients of one server do not come back together.
      await pause(pauseMs * (0.5 + Math.random() / 2), this.#stopping.signal)
      pauseMs = Math.min(pauseMs * 2, maxBackoffMs)
    }
  }

  #learn(most: number): boolean {
    const isNew = most > 0 && most !== this.#addressesPerFilter
    this.#addressesPerFilter = most
    return isNew
  }

  /** Opens a stream and stays until it ends; null when none of what is watched can be followed. */
  async #stream(): Promise<SessionEnd | null> {
    try {
      await this.#readPools()
    } catch (error) {
      return endOf(error)
    }
    const asked = this.#pictures.followed()
    if (asked.length === 0) return null
    this.#pictures.forgetStream()
    const session = await openSession({
      ...this.#config,
      request: accountsRequest(asked, this.#addressesPerFilter),
      open: this.#deps.openStream ?? openUpdateStream,
      limits: this.#limits,
      onUpdate: (envelope) => this.#take(envelope),
    })
    if ('kind' in session) return session
    this.#session = session
    if (this.#stopping.signal.aborted) session.end({ kind: 'closed' })
    this.#deps.logger.info({ pools: this.#pictures.size }, 'stream of pools opened')
    await this.#follow(session, asked).catch((error) => session.end(endOf(error)))
    this.#session = null
    return session.ended
  }

  /** Brings what is known up to date with what is watched, at the opening and at each change, until the stream ends. */
  async #follow(session: StreamSession, opened: readonly Address[]): Promise<void> {
    let asked = opened.join()
    let isOver = false
    session.ended.then(() => {
      isOver = true
      this.#nextSlot.give()
      this.#changed.give()
    })
    while (!isOver) {
      for (let slots = 0; slots < SLOTS_TO_HEED && !isOver; slots++) {
        this.#nextSlot = createSignal()
        await this.#nextSlot.given
      }
      if (isOver) return
      await this.#read(this.#pictures.stale(), this.#slot)
      this.#isWhole ||= this.#pictures.stale().length === 0
      for (let isSame = true; isSame && !isOver; ) {
        await this.#changed.given
        if (isOver) return
        this.#changed = createSignal()
        await this.#readPools()
        const next = this.#pictures.followed()
        if (next.length === 0) return session.end({ kind: 'closed' })
        isSame = next.join() === asked
        if (isSame || isOver) continue
        asked = next.join()
        session.send(accountsRequest(next, this.#addressesPerFilter))
      }
    }
  }

  /** Reads pools of which nothing is known, so that their vaults are. */
  async #readPools(): Promise<void> {
    await this.#read(this.#pictures.unread())
    this.#pictures.arrange()
  }

  async #read(addresses: readonly Address[], minContextSlot?: number): Promise<void> {
    for (let at = 0; at < addresses.length; at += ACCOUNTS_PER_CALL) {
      const batch = addresses.slice(at, at + ACCOUNTS_PER_CALL)
      const { slot, accounts } = await this.#deps.rpc.getAccountsAt(batch, minContextSlot)
      batch.forEach((address, place) => {
        const { owner, data } = accounts[place] ?? NO_ACCOUNT
        this.#pictures.read(address, { slot, owner, data })
      })
    }
  }

  #take(envelope: UpdateEnvelope | null): void {
    if (envelope === null) this.#deps.metrics.pictures.inc({ kind: 'malformed' })
    else if (envelope.kind === 'account') this.#pictures.stage(envelope.key, bytesOf(envelope))
    else if (envelope.kind === 'slot' && envelope.status === 'confirmed') {
      this.#slot = Math.max(this.#slot, envelope.slot)
      this.#slotAt = performance.now()
      this.#pictures.settle(this.#slot)
      this.#nextSlot.give()
    }
  }
}

const NO_ACCOUNT = { owner: '', data: new Uint8Array() }

function bytesOf({ slot, writeVersion, owner, data }: UpdateEnvelope & { kind: 'account' }) {
  const program = Buffer.from(owner, 'latin1')
  return {
    slot,
    writeVersion,
    data,
    owner: program.length === 32 ? addressFromBytes(program) : '',
  }
}

/** A server that does not answer ends a stream like one that breaks; anything else is a bug. */
function endOf(error: unknown): SessionEnd {
  if (!(error instanceof ServiceError)) throw error
  return { kind: 'failed', message: error.message }
}

interface Signal {
  readonly given: Promise<void>
  give(): void
}

function createSignal(): Signal {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give }
}
