import { blockIdOf } from '../../domain/block-id.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createOutageLog, type OutageLog } from '../../runtime/outage-log.ts'
import { pause } from '../../runtime/pause.ts'
import { StoppedError } from '../rpc/retry-until-stopped.ts'
import type { RpcHistory } from '../rpc/rpc-history.ts'
import type { RpcBlock } from '../rpc/solana-rpc.ts'
import { createBackoff } from '../stream/backoff.ts'
import { planReconnect, type StreamSettings } from '../stream/reconnect-policy.ts'
import { openSession, type SessionEnd, type StreamSession } from '../stream/stream-session.ts'
import { finalizedRequest } from '../stream/subscribe-request.ts'
import type { OpenUpdateStream } from '../stream/yellowstone.ts'
import type { IngestMetrics } from '../telemetry.ts'
import type { UpdateEnvelope } from '../wire/update-envelope.ts'
import {
  createFinalityReader,
  type FinalityReader,
  type FinalityReaderLimits,
} from './finality-reader.ts'
import { type ChainBlock, FinalityTracker, type Passed } from './finality-tracker.ts'

/** Limits of a finality follower. */
export interface FinalityLimits extends FinalityReaderLimits {
  /** Time without a finalized block after which its stream is replaced. */
  readonly finalityIdleMs: number
  /** Time that a gap between finalized blocks may last before it is read over RPC. */
  readonly finalityPatienceMs: number
  /** Time that a withdrawal waits for the block that replaces what it withdraws. */
  readonly replacementMs: number
  readonly pingMs: number
}

/** Where following continues after a restart. */
export interface FinalityStart {
  /** The newest slot known to be final; null for none. */
  readonly finalized: number | null
  /** Sealed slots after it, in order. */
  readonly sealed: readonly ChainBlock[]
  /** Those of them that are withdrawn, perhaps without what replaces them. */
  readonly withdrawn: ReadonlySet<number>
}

/** Dependencies of a finality follower. */
export interface FinalityDeps {
  readonly endpoint: string
  readonly xToken: string | null
  readonly open: OpenUpdateStream
  readonly history: Pick<RpcHistory, 'finalBlock' | 'finalHeads'>
  /** Withdraws a sealed block. */
  readonly onWithdrawn: (block: Pick<ChainBlock, 'slot' | 'blockId'>) => void
  /** Adds a finalized block that was not sealed. */
  readonly onMissing: (block: RpcBlock) => void
  /** Called with an error that only a bug can cause. */
  readonly onBug: (error: unknown) => void
  readonly logger: Logger
  readonly metrics: IngestMetrics
  /** Every wait ends once this is aborted. */
  readonly stop: AbortSignal
}

/**
 * Follows the finalized chain by a second subscription to block metas, and withdraws a sealed slot
 * only when that chain has another block there, or none (rule K9). Blocks that the stream lacks are
 * read over RPC, so a server without such a subscription works too.
 */
export class FinalityFollower {
  readonly #deps: FinalityDeps
  readonly #limits: FinalityLimits
  readonly #tracker: FinalityTracker
  readonly #reader: FinalityReader
  #session: StreamSession | null = null
  #settings: StreamSettings = { replays: true, addressesPerFilter: undefined, selection: 'whole' }
  #finalized: number | null
  /** When the finalized chain last moved; monotonic milliseconds. */
  #movedAt = performance.now()
  readonly #outage: OutageLog
  /** Whether a block is being fetched: nothing later is taken meanwhile. */
  #isFetching = false

  constructor(start: FinalityStart, deps: FinalityDeps, limits: FinalityLimits) {
    this.#deps = deps
    this.#limits = limits
    this.#tracker = new FinalityTracker(start.finalized)
    const { history, logger, metrics } = deps
    this.#outage = createOutageLog(
      logger,
      'stream of finalized blocks ended',
      'finalized blocks come again',
    )
    const onRead = () => this.#advance()
    this.#reader = createFinalityReader(
      { tracker: this.#tracker, history, onRead, logger, metrics },
      limits,
    )
    this.#finalized = start.finalized
    for (const block of start.sealed) this.#addSealed(block, start.withdrawn.has(block.slot))
  }

  /** Everything up to this slot is final, and what followed from that was applied; null: none. */
  get finalized(): number | null {
    return this.#finalized
  }

  /** Notes a slot that was sealed. */
  onSealed(block: ChainBlock): void {
    this.#addSealed(block, false)
  }

  #addSealed(block: ChainBlock, isWithdrawn: boolean): void {
    const givenUp = this.#tracker.addSealed(block, isWithdrawn)
    this.#deps.metrics.unverifiedSlots.inc(givenUp)
  }

  /** Follows until `stop`. */
  async run(): Promise<void> {
    const { stop, metrics } = this.#deps
    const backoff = createBackoff(this.#limits)
    while (!stop.aborted) {
      const tip = this.#tracker.tip
      const end = await this.#stream()
      if (stop.aborted) return
      metrics.streams.inc({ end: `finality_${end.kind}` })
      const plan = planReconnect(end, this.#settings)
      this.#settings = plan.settings
      if (plan.kind === 'reopen') continue
      // The next stream starts live; RPC has what is before it.
      if (plan.kind === 'catch_up') this.#settings = { ...this.#settings, replays: false }
      if (this.#tracker.tip !== tip) backoff.reset()
      else this.#outage.failed({ end: end.kind })
      await pause(backoff.next(), stop)
    }
  }

  /** Ends the stream; `run` then resolves if `stop` is aborted. */
  close(): void {
    this.#session?.end({ kind: 'closed' })
  }

  /** Lets time pass. Called a few times per second. */
  tick(): void {
    this.#advance()
    const waited = performance.now() - this.#movedAt
    const patience = this.#tracker.hasGap
      ? this.#limits.finalityPatienceMs
      : this.#limits.finalityIdleMs
    if (waited <= patience || this.#isFetching) return
    this.#reader.read().catch((error: unknown) => this.#onError(error))
  }

  async #stream(): Promise<SessionEnd> {
    const { endpoint, xToken, open } = this.#deps
    const { tip } = this.#tracker
    const fromSlot = this.#settings.replays && tip !== null ? tip + 1 : null
    const session = await openSession({
      endpoint,
      xToken,
      request: finalizedRequest(fromSlot),
      open,
      limits: { idleMs: this.#limits.finalityIdleMs, pingMs: this.#limits.pingMs },
      onUpdate: (envelope) => this.#onUpdate(envelope),
    })
    if ('kind' in session) return session
    // The server may have dropped the slots to replay only for this stream.
    this.#settings = { ...this.#settings, replays: true }
    this.#session = session
    if (this.#deps.stop.aborted) session.end({ kind: 'closed' })
    const end = await session.ended
    this.#session = null
    return end
  }

  #onUpdate(envelope: UpdateEnvelope | null): void {
    if (envelope?.kind !== 'meta' || envelope.parent >= envelope.slot) return
    const { slot, parent, blockhash } = envelope
    this.#tracker.addFinal({ slot, parent, blockId: blockIdOf(blockhash) })
    this.#outage.worked()
    this.#advance()
  }

  /** Applies finalized blocks up to the next one that has to be fetched. */
  #advance(): void {
    const { metrics } = this.#deps
    while (!this.#isFetching) {
      const passed = this.#tracker.take()
      if (passed === null) return
      this.#movedAt = performance.now()
      this.#reader.onMoved()
      if (passed.isUnverified) metrics.unverifiedSlots.inc()
      if (passed.missing) {
        this.#isFetching = true
        void this.#replace(passed)
        continue
      }
      this.#withdraw(passed)
      this.#passTo(passed.block.slot)
    }
  }

  #withdraw({ block, withdrawn }: Passed): void {
    const { onWithdrawn, metrics } = this.#deps
    for (const sealed of withdrawn) {
      const outcome = sealed.slot === block.slot ? 'replaced' : 'vanished'
      metrics.withdrawnSlots.inc({ outcome })
      onWithdrawn(sealed)
    }
  }

  #passTo(slot: number): void {
    this.#finalized = slot
    this.#deps.metrics.finalizedSlot.set(slot)
  }

  /**
   * Reads a finalized block that was not sealed, then withdraws what it replaces and adds it, so
   * that readers do not lack its trades meanwhile. Withdraws after `replacementMs` at the latest.
   */
  async #replace(passed: Passed): Promise<void> {
    const { history, onMissing, metrics, logger } = this.#deps
    let isWithdrawn = false
    const withdraw = () => {
      if (!isWithdrawn) this.#withdraw(passed)
      isWithdrawn = true
    }
    const timer = setTimeout(withdraw, this.#limits.replacementMs)
    try {
      const block = await history.finalBlock(passed.block.slot)
      withdraw()
      if (block !== null) onMissing(block)
      else {
        metrics.unverifiedSlots.inc()
        logger.error('RPC does not have a finalized block that replaces a sealed one')
      }
      this.#isFetching = false
      this.#passTo(passed.block.slot)
      this.#advance()
    } catch (error) {
      this.#onError(error)
    } finally {
      clearTimeout(timer)
    }
  }

  #onError(error: unknown): void {
    if (!(error instanceof StoppedError)) this.#deps.onBug(error)
  }
}
