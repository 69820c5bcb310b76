import { ServiceError } from '../domain/service-error.ts'
import type { ReadyCheck } from './readiness.ts'
import type { OnStage, SlotStage } from './slot-stage.ts'

/** Watches that each stage of a process follows the stage before it. */
export interface StageWatch {
  /** Notes that a slot has reached a stage. */
  readonly note: OnStage
  /** Rejects with the stages that have not moved for a minute, though the one before has (J4). */
  readonly check: ReadyCheck
}

/** Each stage and one before it. */
const FOLLOWS: readonly (readonly [before: SlotStage, stage: SlotStage])[] = [
  ['received', 'sealed'],
  ['sealed', 'appended'],
  ['appended', 'stored'],
  ['read', 'stored'],
  ['stored', 'merged'],
]

const STALLED_MS = 60_000

/** Watches the stages that a process notes. `now` returns monotonic milliseconds. */
export function createStageWatch(
  stages: ReadonlySet<SlotStage>,
  now: () => number = () => performance.now(),
): StageWatch {
  const follows = FOLLOWS.filter((pair) => pair.every((stage) => stages.has(stage)))
  const newest = new Map<SlotStage, number>()
  /** By place in `follows`: since when the stage is behind, or when it moved last while behind. */
  const behindSince = new Map<number, number>()
  const slotOf = (stage: SlotStage) => newest.get(stage) ?? -1
  return {
    note(stage, slot) {
      if (slot <= slotOf(stage)) return
      // The first slot of a stage is where it stood at the start.
      const isFirst = !newest.has(stage)
      newest.set(stage, slot)
      for (const [at, [before, after]] of follows.entries()) {
        if (stage !== before && stage !== after) continue
        if (slotOf(before) <= slotOf(after)) behindSince.delete(at)
        else if (stage === after || !(isFirst || behindSince.has(at))) behindSince.set(at, now())
      }
    },
    async check() {
      const stalled = follows.flatMap(([before, stage], at) => {
        const seconds = Math.floor((now() - (behindSince.get(at) ?? now())) / 1000)
        return seconds * 1000 < STALLED_MS ? [] : [`${stage} behind ${before} for ${seconds} s`]
      })
      if (stalled.length > 0)
        throw new ServiceError('unavailable', `no slot has come further: ${stalled.join(', ')}`)
    },
  }
}
