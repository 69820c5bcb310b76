import type { Address } from '../domain/address.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { AppendedBlock } from '../domain/slot.ts'
import type { Wallets } from '../domain/wallets.ts'
import type { Logger } from '../runtime/logger.ts'
import { pause } from '../runtime/pause.ts'
import type { OnStage } from '../runtime/slot-stage.ts'
import { type CatchUp, createCatchUp } from './catch-up.ts'
import { FinalityFollower, type FinalityStart } from './finality/finality-follower.ts'
import { DEFAULT_FOLLOW_LIMITS, type FollowLimits } from './follow-limits.ts'
import type { IngestOutput } from './output.ts'
import { createRefusals } from './rpc/refusals.ts'
import { StoppedError } from './rpc/retry-until-stopped.ts'
import { createRpcHistory, type RpcHistory } from './rpc/rpc-history.ts'
import type { SolanaRpc } from './rpc/solana-rpc.ts'
import { keyOfSignature, selectTracked } from './select-tracked.ts'
import { createSlotPipeline, type SlotPipeline } from './slot-pipeline.ts'
import type { SolPrices } from './sol-price.ts'
import { createBackoff } from './stream/backoff.ts'
import { planReconnect, type StreamSettings } from './stream/reconnect-policy.ts'
import { openSession, type SessionEnd, type StreamSession } from './stream/stream-session.ts'
import { subscribeRequest } from './stream/subscribe-request.ts'
import { createWalletFilter, type WalletFilter } from './stream/wallet-filter.ts'
import { type Selection, selectionFor } from './stream/wallet-selection.ts'
import { type OpenUpdateStream, openUpdateStream, type StreamEnd } from './stream/yellowstone.ts'
import type { IngestMetrics } from './telemetry.ts'

/** Which server to follow and what to subscribe to. */
export interface FollowConfig {
  /** `YELLOWSTONE_ENDPOINT`. */
  readonly endpoint: string
  /** `YELLOWSTONE_X_TOKEN`. */
  readonly xToken: string | null
  /** The Whirlpool account that gives SOL/USD (rule J7). */
  readonly pricePool: Address
  /**
   * Payment addresses and their token accounts, at most some hundred; called for each subscription.
   * Blocks over RPC are not searched for them.
   */
  readonly payments?: (() => readonly Address[]) | undefined
  /** How transactions of wallets are selected at first; null: by their number (rule K24). */
  readonly selection?: Selection | null | undefined
  /** The wallets tracked at the start. */
  readonly wallets: Wallets
  /** The checkpoint: the last slot that needs no ingest. Null: none. */
  readonly head: number | null
  /** Where finality is followed from. */
  readonly finality: FinalityStart
  /**
   * Reads of which blocks up to the checkpoint it is known what was emitted, oldest first; default:
   * none. Called once a stream is open.
   */
  readonly appended?: (() => Promise<readonly AppendedBlock[]>) | undefined
}

/** Dependencies of a chain follower. */
export interface FollowDeps {
  readonly rpc: SolanaRpc
  readonly prices: SolPrices
  readonly logger: Logger
  readonly metrics: IngestMetrics
  /** Replaces the Yellowstone client in tests. */
  readonly openStream?: OpenUpdateStream | undefined
  /** Called when a slot is `received` and `sealed`. */
  readonly onStage?: OnStage | undefined
}

/**
 * Follows the chain after the checkpoint. Without one, starts with the first slot that the stream
 * has whole.
 */
export function followChain(
  config: FollowConfig,
  deps: FollowDeps,
  limits: Partial<FollowLimits> = {},
): ChainFollower {
  return new ChainFollower(config, deps, { ...DEFAULT_FOLLOW_LIMITS, ...limits })
}

/**
 * A running chain follower. One consumer takes its outputs in order. Untaken outputs are bounded.
 * Opens one stream after another and passes their updates to the slot pipeline.
 */
export class ChainFollower {
  /**
   * Resolves when the first stream is open. Rejects when it cannot be opened: with `unreachable`
   * (retriable), or with `bad_config` for a refused token.
   */
  readonly opened: Promise<void>
  /** Resolves after `close`. Rejects on a bug, never on trouble with the servers. */
  readonly done: Promise<void>
  readonly #config: FollowConfig
  readonly #deps: FollowDeps
  readonly #limits: FollowLimits
  readonly #pipeline: SlotPipeline
  readonly #catchUp: CatchUp
  readonly #finality: FinalityFollower
  readonly #filter: WalletFilter
  readonly #closing = new AbortController()
  #wallets: Wallets
  #session: StreamSession | null = null
  #settings: StreamSettings
  #resolveOpened: () => void = () => {}
  #rejectOpened: (error: Error) => void = () => {}
  #fail: (error: unknown) => void = () => {}

  constructor(config: FollowConfig, deps: FollowDeps, limits: FollowLimits) {
    this.#config = config
    this.#deps = deps
    this.#limits = limits
    this.#wallets = config.wallets
    const { selection = null } = config
    this.#settings = { replays: true, addressesPerFilter: undefined, selection }
    this.#filter = createWalletFilter(
      () => this.#wallets,
      () => this.#selection !== 'list',
    )
    const { signal } = this.#closing
    this.#pipeline = createSlotPipeline(
      {
        head: config.head,
        withdrawn: config.finality.withdrawn,
      },
      {
        prices: deps.prices,
        metrics: deps.metrics,
        onStage: deps.onStage,
        finalized: () => this.#finality.finalized,
        onSealed: (block) => this.#finality.onSealed(block),
        onFetch: (slot) => this.#runBeside(this.#catchUp.fetch(slot)),
        onOverflow: () => this.#session?.end({ kind: 'behind' }),
      },
      limits,
    )
    const refusals = createRefusals(limits.refusalMs, deps)
    const history = createRpcHistory({ ...deps, refusals }, signal)
    this.#finality = this.#followFinality(history)
    this.#catchUp = createCatchUp(
      {
        history,
        refusals,
        pipeline: this.#pipeline,
        emitted: async () =>
          ((await config.appended?.()) ?? []).map(({ signatures, ...block }) => ({
            ...block,
            keys: signatures.flatMap((signature) => keyOfSignature(signature) ?? []),
          })),
        wallets: () => this.#wallets,
        logger: deps.logger,
        metrics: deps.metrics,
        stop: signal,
      },
      limits,
    )
    this.opened = new Promise((resolve, reject) => {
      this.#resolveOpened = resolve
      this.#rejectOpened = reject
    })
    this.opened.catch(() => {}) // not an unhandled rejection when the caller awaits only `done`
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject
    })
    const runs = Promise.all([this.#run(), this.#finality.run()])
    this.done = Promise.race([runs.then(() => {}), failed]).finally(() => this.#pipeline.end())
  }

  #followFinality(history: RpcHistory): FinalityFollower {
    const { endpoint, xToken, finality } = this.#config
    const { openStream: open = openUpdateStream, logger, metrics } = this.#deps
    return new FinalityFollower(
      finality,
      {
        endpoint,
        xToken,
        open,
        history,
        logger,
        metrics,
        stop: this.#closing.signal,
        onWithdrawn: ({ slot, blockId }) =>
          this.#pipeline.apply({ kind: 'withdraw', slot, blockId }),
        onMissing: (block) =>
          this.#pipeline.apply({ kind: 'final', ...selectTracked(block, this.#wallets) }),
        onBug: (error) => this.#fail(error),
      },
      this.#limits,
    )
  }

  /** The next output. Null after `close`, once all sealed slots are taken. */
  next(): Promise<IngestOutput | null> {
    return this.#pipeline.next()
  }

  /** The newest slot that is final, with all that follows from it emitted; null for none. */
  get finalized(): number | null {
    return this.#finality.finalized
  }

  /**
   * Whether no stream is open, or slots before the last cut are still compared with RPC. What the
   * comparison will find, nothing else should store before: it would not be sent (rule K2).
   */
  get isCatchingUp(): boolean {
    return this.#session === null || this.#catchUp.isRechecking
  }

  /** Replaces the tracked wallets, on the open stream too. */
  updateWallets(wallets: Wallets): void {
    this.#wallets = wallets
    this.#session?.send(this.#request(null))
  }

  /** Stops following. Sealed slots can still be taken. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#session?.end({ kind: 'closed' })
    this.#finality.close()
    this.#pipeline.end()
    await this.done
  }

  /** Opens one stream after another until `close`. */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    const backoff = createBackoff(this.#limits)
    const tick = setInterval(() => {
      this.#pipeline.tick()
      this.#filter.flush(this.#deps.metrics)
      this.#finality.tick()
    }, 250)
    try {
      while (!signal.aborted) {
        await this.#pipeline.waitForRoom()
        if (!this.#settings.replays) await this.#catchUp.fillGap(null)
        const sealedBefore = this.#pipeline.sealedSlots
        const end = await this.#stream()
        if (signal.aborted) return
        this.#deps.metrics.streams.inc({ end: end.kind })
        if (await this.#canReopenAtOnce(end)) continue
        if (this.#pipeline.sealedSlots > sealedBefore) backoff.reset()
        const pauseMs = backoff.next()
        const reason = end.kind === 'failed' ? { reason: end.message } : {}
        this.#deps.logger.warn({ end: end.kind, ...reason, pauseMs }, 'stream ended')
        await pause(pauseMs, signal)
      }
    } catch (error) {
      if (!(error instanceof StoppedError)) throw error
    } finally {
      clearInterval(tick)
      this.#filter.flush(this.#deps.metrics)
      this.#session?.end({ kind: 'closed' })
    }
  }

  /** Acts on how a stream ended. Returns false when the next stream must wait for the backoff. */
  async #canReopenAtOnce(end: SessionEnd): Promise<boolean> {
    const plan = planReconnect(end, this.#settings, this.#wallets.size)
    this.#settings = plan.settings
    if (end.kind === 'filter_refused')
      this.#deps.logger.warn({ next: this.#selection }, 'the server does not take the filter')
    if (plan.kind === 'catch_up') {
      const { head } = this.#pipeline
      await this.#catchUp.fillGap(plan.oldest)
      return this.#pipeline.head !== head
    }
    if (plan.kind === 'back_off' && plan.clear) this.#pipeline.apply({ kind: 'clear' })
    return plan.kind === 'reopen'
  }

  /** Opens a stream after the head and returns how it ended. */
  async #stream(): Promise<SessionEnd> {
    const { head } = this.#pipeline
    const fromSlot = head === null || !this.#settings.replays ? null : head + 1
    this.#pipeline.apply({ kind: 'cut', replayed: head === null || fromSlot !== null })
    const requested = this.#wallets
    const session = await openSession({
      endpoint: this.#config.endpoint,
      xToken: this.#config.xToken,
      request: this.#request(fromSlot),
      open: this.#deps.openStream ?? openUpdateStream,
      limits: this.#limits,
      filter: this.#filter,
      onUpdate: (envelope, bytes) => this.#pipeline.receive(envelope, bytes),
    })
    if ('kind' in session) {
      const error = startError(session)
      if (error === null) this.#resolveOpened()
      else this.#rejectOpened(error)
      return session
    }
    this.#session = session
    this.#resolveOpened()
    this.#runBeside(this.#catchUp.recheck(head))
    if (this.#closing.signal.aborted) session.end({ kind: 'closed' })
    // The request lacks the new wallets. A second request on this stream could take effect after
    // the replay, so the stream is replaced.
    if (this.#wallets !== requested) {
      session.end({ kind: 'failed', message: 'wallets were added while the stream opened' })
    }
    this.#deps.logger.info({ resumed: fromSlot !== null }, 'stream opened')
    const end = await session.ended
    this.#session = null
    return end
  }

  /** Runs a task concurrently with the stream. A bug in the task ends the follower. */
  #runBeside(task: Promise<void>): void {
    task.catch((error: unknown) => {
      if (!(error instanceof StoppedError)) this.#fail(error)
    })
  }

  get #selection(): Selection {
    return selectionFor(this.#wallets.size, this.#settings.selection)
  }

  #request(fromSlot: number | null) {
    const { addressesPerFilter } = this.#settings
    return subscribeRequest({
      wallets: this.#wallets,
      accounts: [this.#config.pricePool],
      payments: this.#config.payments?.() ?? [],
      fromSlot,
      addressesPerFilter,
      selection: this.#selection,
    })
  }
}

/** Why a service whose first stream ended like this cannot start; null when it can. */
function startError(end: StreamEnd): ServiceError | null {
  if (end.kind === 'refused') {
    return new ServiceError('bad_config', 'YELLOWSTONE_X_TOKEN: the server refuses the token')
  }
  if (end.kind !== 'failed') return null
  const message = `YELLOWSTONE_ENDPOINT: the server cannot be reached: ${end.message}`
  return new ServiceError('unreachable', message)
}
