import { ServiceError } from '../domain/service-error.ts'
import type { Wallets } from '../domain/wallets.ts'
import type { Logger } from '../runtime/logger.ts'
import { createOutageLog } from '../runtime/outage-log.ts'
import type { FollowLimits } from './follow-limits.ts'
import { type Refusals, RpcRefusedError } from './rpc/refusals.ts'
import { pauseUnlessStopped } from './rpc/retry-until-stopped.ts'
import type { RpcHistory } from './rpc/rpc-history.ts'
import { selectTracked } from './select-tracked.ts'
import type { SlotPipeline } from './slot-pipeline.ts'
import type { EmittedBlock } from './stream/sealer-events.ts'
import type { IngestMetrics } from './telemetry.ts'

/** Reads blocks that the streams lack over RPC, and applies them to the sealer. */
export interface CatchUp {
  /**
   * Applies the blocks between the head and `oldest`, the lowest slot that the server can replay.
   * Null: the server replays nothing, so all blocks up to the newest are applied. When the gap is
   * too long, or RPC refuses to list it, the sealer jumps to live slots instead (rules K2, K10).
   */
  fillGap(oldest: number | null): Promise<void>
  /**
   * Looks for transactions that were added to slots while no stream was open. Replays lack them.
   * Compares the slots before `head`, where the stream was cut, and the replayed slots once they
   * are sealed. A call during another one extends it and returns early.
   */
  recheck(head: number | null): Promise<void>
  /** Whether a `recheck` is under way. */
  readonly isRechecking: boolean
  /**
   * Reads a missing block, until the server has it, the chain has none, the head has passed it, or
   * the server refuses it for good.
   */
  fetch(slot: number): Promise<void>
}

/** Dependencies of a catch-up. */
export interface CatchUpDeps {
  readonly history: RpcHistory
  readonly pipeline: Pick<SlotPipeline, 'head' | 'apply' | 'waitForRoom'>
  /** Reads what was emitted of blocks before the start. Rejects while the log does not answer. */
  readonly emitted: () => Promise<readonly EmittedBlock[]>
  /** The wallets tracked now. */
  readonly wallets: () => Wallets
  readonly logger: Logger
  readonly metrics: IngestMetrics
  readonly refusals: Refusals
  /** Every call rejects with `StoppedError` once this is aborted. */
  readonly stop: AbortSignal
}

/** A catch-up within `limits`. */
export function createCatchUp(
  deps: CatchUpDeps,
  limits: Pick<FollowLimits, 'maxGapSlots' | 'recheckSlots' | 'restartRecheckSlots'>,
): CatchUp {
  const { history, pipeline, emitted, wallets, logger, metrics, refusals, stop } = deps
  let firstRecheck = true
  let isInformed = false
  let nextRecheck: SlotRange | null = null
  let rechecking = false
  let calls = 0

  async function fillGap(oldest: number | null): Promise<void> {
    const { head } = pipeline
    if (head === null) return
    const gap = planGap(head, await history.tip(), oldest, limits.maxGapSlots)
    if (gap.kind === 'too_long') {
      logger.warn({ slots: gap.slots }, 'the gap is too long to fetch; continuing with live slots')
      metrics.gapSlots.inc(gap.slots)
      pipeline.apply({ kind: 'jump' })
      return
    }
    if (gap.slots > 0) logger.info({ slots: gap.slots }, 'fetching a gap over RPC')
    for await (const block of history.blocks(gap.from, gap.to)) {
      await pipeline.waitForRoom()
      pipeline.apply({ kind: 'block', ...selectTracked(block, wallets()) })
    }
  }

  /** Tells the sealer what was emitted before the start: only what was not is new to anybody. */
  async function inform(): Promise<void> {
    const outage = createOutageLog(
      logger,
      'slots before the start are compared once the log answers',
      'the log answers: slots before the start are compared',
    )
    for (; ; await pauseUnlessStopped(LOG_PAUSE_MS, stop))
      try {
        pipeline.apply({ kind: 'emitted', blocks: await emitted() })
        outage.worked()
        isInformed = true
        return
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        outage.failed({ reason: error.message })
      }
  }

  async function recheck(head: number | null): Promise<void> {
    const before = firstRecheck ? limits.restartRecheckSlots : limits.recheckSlots
    firstRecheck = false
    if (head === null || limits.recheckSlots === 0) return
    const range = recheckRange(head, await history.tip(), before, limits.maxGapSlots, nextRecheck)
    nextRecheck = range
    if (rechecking) return
    rechecking = true
    if (!isInformed) await inform()
    while (nextRecheck !== null) {
      let { from, to }: SlotRange = nextRecheck
      nextRecheck = null
      while (from <= to) {
        // Those before the cut at once: a long gap would make the sealer forget them.
        const sealed = Math.min(pipeline.head ?? 0, to)
        if (sealed < from) {
          await pauseUnlessStopped(250, stop)
          continue
        }
        await history.recheckBlocks(from, sealed, (block) =>
          pipeline.apply({ kind: 'recheck', ...selectTracked(block, wallets()) }),
        )
        from = sealed + 1
      }
    }
    rechecking = false
  }

  return {
    async fillGap(oldest) {
      try {
        await fillGap(oldest)
      } catch (error) {
        if (!(error instanceof RpcRefusedError)) throw error
        refusals.giveUp('gap')
        pipeline.apply({ kind: 'jump' })
      }
    },

    async recheck(head) {
      calls += 1
      try {
        await recheck(head)
      } catch (error) {
        rechecking = false
        if (!(error instanceof RpcRefusedError)) throw error
        refusals.giveUp('recheck')
      } finally {
        calls -= 1
      }
    },

    get isRechecking() {
      return calls > 0
    },

    async fetch(slot) {
      const isWanted = () => pipeline.head !== null && pipeline.head < slot
      const block = await history.block(slot, isWanted)
      if (block === 'refused') {
        refusals.giveUp('block')
        pipeline.apply({ kind: 'refused', slot })
      } else if (block === null) pipeline.apply({ kind: 'absent', slot })
      else pipeline.apply({ kind: 'block', ...selectTracked(block, wallets()) })
    },
  }
}

/** Slots `from`..`to`, both included. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** A gap to fetch, or one that is too long. `slots` is the number of slots that the server lost. */
export type GapPlan =
  | ({ readonly kind: 'fetch'; readonly slots: number } & SlotRange)
  | { readonly kind: 'too_long'; readonly slots: number }

/**
 * The gap to fetch after `head`; `tip` is the newest slot, `oldest` as in `fillGap`.
 */
export function planGap(
  head: number,
  tip: number,
  oldest: number | null,
  maxGapSlots: number,
): GapPlan {
  const slots = (oldest ?? tip) - head - 1
  if (slots > maxGapSlots) return { kind: 'too_long', slots }
  const to = oldest === null ? tip : Math.min(tip, Math.max(oldest, head) + WINDOW_MARGIN)
  return { kind: 'fetch', slots, from: head + 1, to }
}

/**
 * The slots to compare after a cut at `head`: `before` slots up to the head, and the replayed ones
 * up to `tip`, limited to the newest `maxGapSlots + before`. Includes the start of `pending`, a
 * range that still waits.
 */
export function recheckRange(
  head: number,
  tip: number,
  before: number,
  maxGapSlots: number,
  pending: SlotRange | null,
): SlotRange {
  const to = Math.max(head, tip)
  const from = Math.min(pending?.from ?? head, head - before + 1)
  return { from: Math.max(0, from, to - maxGapSlots - before), to }
}

const LOG_PAUSE_MS = 1000
/** Slots fetched beyond those that the server lost: its replay window moves on during the fetch. */
const WINDOW_MARGIN = 32
