import type { OnStage } from '../runtime/slot-stage.ts'
import type { ChainBlock } from './finality/finality-tracker.ts'
import type { FollowLimits } from './follow-limits.ts'
import type { IngestOutput } from './output.ts'
import { bytesOfOutput, createOutputReader, type RawOutput } from './output-reader.ts'
import type { SolPrices } from './sol-price.ts'
import { createOutputQueue } from './stream/output-queue.ts'
import type { SealerEvent } from './stream/sealer-events.ts'
import { SlotSealer, type SlotSealerOptions } from './stream/slot-sealer.ts'
import { createStreamCounters } from './stream/stream-counters.ts'
import { streamEvent } from './stream/stream-event.ts'
import type { IngestMetrics } from './telemetry.ts'
import type { RawTransaction } from './wire/raw-transaction.ts'
import type { UpdateEnvelope } from './wire/update-envelope.ts'

/**
 * The way of an update through ingest: slot sealer, queue, decoding. Nothing is decoded before the
 * consumer takes it.
 */
export interface SlotPipeline {
  /** Applies an update of the stream; null for bytes that are not an update. */
  receive(envelope: UpdateEnvelope | null, bytes: Uint8Array): void
  /** Applies an event to the sealer and queues its outputs. */
  apply(event: SealerEvent<RawTransaction, Uint8Array>): void
  /** The next output; waits for one. Null once the pipeline has ended and the queue is empty. */
  next(): Promise<IngestOutput | null>
  /** Resolves when the queue is at most half full, or has ended. */
  waitForRoom(): Promise<void>
  /** The last sealed slot. */
  readonly head: number | null
  /** Number of slots sealed so far. */
  readonly sealedSlots: number
  /** Ends the queue. Queued outputs can still be taken. */
  end(): void
  /** Lets time pass for the sealer and writes the metrics. Called a few times per second. */
  tick(): void
}

/** Dependencies of a slot pipeline. */
export interface SlotPipelineDeps {
  readonly prices: SolPrices
  readonly metrics: IngestMetrics
  /** Called when a slot is `received` and `sealed`. */
  readonly onStage?: OnStage | undefined
  /** The newest slot that is final, with all that follows from it applied; null for none. */
  readonly finalized: () => number | null
  /** Called with each sealed slot. */
  readonly onSealed: (block: ChainBlock) => void
  /** Called for a block that must be read over RPC and applied as `block` or `absent`. */
  readonly onFetch: (slot: number) => void
  /** Called after each event that leaves more in memory than the limits allow. */
  readonly onOverflow: () => void
}

/** A pipeline that continues after slot `head`; `start`: see `SlotSealerOptions`. */
export function createSlotPipeline(
  start: Pick<SlotSealerOptions, 'head' | 'withdrawn'>,
  deps: SlotPipelineDeps,
  limits: Pick<FollowLimits, 'patienceMs' | 'maxWaitingSlots' | 'maxPendingBytes'>,
): SlotPipeline {
  const { metrics, onStage } = deps
  const { patienceMs, maxWaitingSlots, maxPendingBytes } = limits
  const sealer = new SlotSealer<RawTransaction, Uint8Array>({ ...start, patienceMs })
  const queue = createOutputQueue<RawOutput>({ items: maxWaitingSlots, bytes: maxPendingBytes })
  const readOutput = createOutputReader(deps.prices, metrics)
  const counters = createStreamCounters(metrics)
  let sealedSlots = 0

  function apply(event: SealerEvent<RawTransaction, Uint8Array>): void {
    for (const output of sealer.apply(event, performance.now())) {
      if (output.kind === 'fetch') {
        deps.onFetch(output.slot)
        continue
      }
      const raw = output.kind === 'sealed' ? { ...output, finalized: deps.finalized() } : output
      queue.push(raw, bytesOfOutput(raw))
      if (output.kind !== 'sealed') continue
      deps.onSealed(output)
      sealedSlots++
      metrics.sealedSlots.inc()
      metrics.sealSeconds.observe(Math.max(0, Date.now() / 1000 - output.blockTime))
      onStage?.('sealed', output.slot)
    }
    if (queue.full || sealer.pending.bytes > maxPendingBytes) deps.onOverflow()
  }

  return {
    apply,
    receive(envelope, bytes) {
      counters.received(envelope, bytes.length)
      const event = envelope === null ? null : streamEvent(envelope, bytes)
      if (event === null) return
      if (event.kind === 'meta' || event.kind === 'confirmed') onStage?.('received', event.slot)
      apply(event)
    },
    async next() {
      for (let raw = await queue.take(); raw !== null; raw = await queue.take()) {
        const output = readOutput(raw)
        if (output !== null) return output
      }
      return null
    },
    waitForRoom: () => queue.waitForRoom(),
    get head() {
      return sealer.head
    },
    get sealedSlots() {
      return sealedSlots
    },
    end: () => queue.end(),
    tick() {
      apply({ kind: 'tick' })
      counters.flush(sealer.dropped)
      metrics.heldBytes.set({ where: 'unsealed' }, sealer.pending.bytes)
      metrics.heldBytes.set({ where: 'waiting' }, queue.size.bytes)
    },
  }
}
