import { createHash, randomBytes } from 'node:crypto'
import type { OnStage, SlotStage } from './slot-stage.ts'
import type { AddSpan, Span } from './span.ts'

/** Spans of the one process that seals a slot. Their ids follow from the trace and the name. */
type WriterSpan = 'seal' | 'decode' | 'append'

/** A span of a slot, from one stage to another. */
interface Step extends Pick<Span, 'kind'> {
  readonly name: string
  readonly from: SlotStage
  readonly to: SlotStage
  readonly parent: WriterSpan | null
}

const STEPS: readonly Step[] = [
  { name: 'seal', kind: 'internal', from: 'received', to: 'sealed', parent: null },
  { name: 'decode', kind: 'internal', from: 'sealed', to: 'decoded', parent: 'seal' },
  { name: 'append', kind: 'producer', from: 'decoded', to: 'appended', parent: 'seal' },
  { name: 'fold', kind: 'consumer', from: 'read', to: 'folded', parent: 'append' },
  { name: 'store', kind: 'internal', from: 'folded', to: 'stored', parent: 'append' },
  { name: 'relay', kind: 'consumer', from: 'arrived', to: 'merged', parent: 'append' },
  { name: 'send', kind: 'internal', from: 'merged', to: 'written', parent: 'append' },
]

/** Slots that may be on their way; of older ones the missing spans are given up. */
const MAX_SLOTS = 256

/**
 * Makes the spans of a slot's trace from the stages that this process notes (rule K22). `log` names
 * the log: its topic prefix and epoch. Every process with the same log gives a slot the same trace
 * id, and the same ids to the spans `seal` and `append`, so the spans of all processes are one
 * trace although the log carries no ids.
 */
export function createSlotTraces(add: AddSpan, log: string): OnStage {
  const slots = new Map<number, SlotTimes>()

  function timesOf(slot: number): SlotTimes {
    const known = slots.get(slot)
    if (known !== undefined) return known
    const [oldest] = slots.size < MAX_SLOTS ? [] : slots.keys()
    if (oldest !== undefined) slots.delete(oldest)
    // `performance.now` is exact and drifts from the clock; each slot takes the clock anew.
    const times = { clockMs: Date.now() - performance.now(), at: {} }
    slots.set(slot, times)
    return times
  }

  /** Makes the spans of a slot that end with a stage and whose beginning this process has seen. */
  function finish(slot: number, { clockMs, at }: SlotTimes, stage: SlotStage): void {
    for (const { name, kind, from, to, parent } of STEPS) {
      const end = at[to]
      // A slot that is read over RPC is never received.
      const start = at[from] ?? (parent === null ? end : undefined)
      if (to !== stage || start === undefined || end === undefined) continue
      const traceId = digest(`${log}/${slot}`, 16)
      add({
        name,
        kind,
        traceId,
        spanId: isWriterSpan(name) ? spanIdOf(traceId, name) : randomBytes(8).toString('hex'),
        parentId: parent === null ? null : spanIdOf(traceId, parent),
        startMs: clockMs + start,
        endMs: clockMs + end,
        attributes: { slot },
        failed: false,
      })
    }
  }

  /** Notes a stage that covers every slot up to this one that the fold has read. */
  function noteFold(stage: 'folded' | 'stored', newest: number): void {
    const before = stage === 'folded' ? 'read' : 'folded'
    for (const [slot, times] of slots) {
      const { at } = times
      if (slot > newest || at[before] === undefined || at.stored !== undefined) continue
      at[stage] = performance.now()
      // Until it is stored, a slot may be folded further: other partitions follow.
      if (stage === 'folded') continue
      finish(slot, times, 'folded')
      finish(slot, times, 'stored')
    }
  }

  return function onStage(stage, slot) {
    if (stage === 'folded' || stage === 'stored') return noteFold(stage, slot)
    const times = timesOf(slot)
    // `received` comes twice, and the later one counts; of the others the first one does.
    if (times.at[stage === 'received' ? 'sealed' : stage] !== undefined) return
    times.at[stage] = performance.now()
    finish(slot, times, stage)
  }
}

/** Times of the stages that a slot has reached, by `performance.now`. */
interface SlotTimes {
  /** Added to such a time it gives unix milliseconds. */
  readonly clockMs: number
  readonly at: { [stage in SlotStage]?: number }
}

function isWriterSpan(name: string): name is WriterSpan {
  return name === 'seal' || name === 'decode' || name === 'append'
}

function spanIdOf(traceId: string, name: WriterSpan): string {
  return digest(`${traceId}/${name}`, 8)
}

/** The first bytes of the SHA-256 of a text, in hex. */
function digest(text: string, bytes: number): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * bytes)
}
