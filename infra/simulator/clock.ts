/** How a clock advances from slot to slot. */
export type ClockOptions =
  /** Slot numbers follow the wall clock, so that a restarted simulator continues the same chain. */
  | { readonly kind: 'wall' }
  /** Starts at a slot (that of now by default) and runs `speed` times as fast as the wall clock. */
  | { readonly kind: 'running'; readonly startSlot?: number; readonly speed: number }
  /** Moves only by `advance`. */
  | { readonly kind: 'manual'; readonly startSlot?: number }

/** Calls `tick` with each slot, in order, when it is over. */
export interface SlotClock {
  /** The newest slot that is over. */
  readonly slot: number
  /** Starts the clock; a manual clock stays still. */
  start(): void
  /** Jumps to a later slot without ticks for the slots in between. */
  leap(to: number): void
  /** Lets that many slots pass; only for manual clocks. */
  advance(slots: number): void
  stop(): void
}

/** The slots that a clock runs through. */
export interface ClockFace {
  /** The slot to start at, unless the options name one. */
  readonly startSlot: number
  /** Length of a slot in milliseconds. */
  readonly slotMs: number
  /** Unix ms at which slot 0 was over, for clocks that follow the wall clock. */
  readonly slotZeroMs: number
  /** The number of the slot after this one. */
  next(slot: number): number
  tick(slot: number): void
}

/** Creates a clock; it stands still until `start`. */
export function createClock(options: ClockOptions, face: ClockFace): SlotClock {
  const { slotMs, slotZeroMs } = face
  let slot = (options.kind === 'wall' ? undefined : options.startSlot) ?? face.startSlot
  let timer: NodeJS.Timeout | undefined
  let startedAt = 0
  let steps = 0
  const speed = options.kind === 'running' ? options.speed : 1
  const step = () => {
    slot = face.next(slot)
    steps += 1
    face.tick(slot)
  }
  const dueAt = () =>
    options.kind === 'wall'
      ? slotZeroMs + (slot + 1) * slotMs
      : startedAt + ((steps + 1) * slotMs) / speed
  const run = () => {
    // After a long suspension, catch up a hundred slots at a time, so that other work can run.
    for (let i = 0; i < 100 && dueAt() <= Date.now(); i += 1) step()
    timer = setTimeout(run, Math.max(0, dueAt() - Date.now()))
  }
  return {
    get slot() {
      return slot
    },
    start() {
      if (options.kind === 'manual' || timer !== undefined) return
      startedAt = Date.now()
      timer = setTimeout(run, Math.max(0, dueAt() - Date.now()))
    },
    advance(slots) {
      for (let i = 0; i < slots; i += 1) step()
    },
    leap(to) {
      slot = Math.max(slot, to)
    },
    stop: () => clearTimeout(timer),
  }
}
