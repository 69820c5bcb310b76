/** When slots happen. */
export type ClockOptions =
  /** Slot numbers follow the wall clock, so that a restart goes on with the same chain. */
  | { readonly kind: 'wall' }
  /** Starts at a slot (of now, when not given) and goes `speed` times as fast as the wall clock. */
  | { readonly kind: 'running'; readonly startSlot?: number; readonly speed: number }
  /** Moves when `advance` is called alone. */
  | { readonly kind: 'manual'; readonly startSlot?: number }

/** Calls `tick` with each slot, in order, when it is over. */
export interface SlotClock {
  /** The newest slot that is over. */
  readonly slot: number
  /** Sets it going, unless it is a manual one. */
  start(): void
  /** Goes on from a later slot, without the ones between. */
  leap(to: number): void
  /** Manual clocks: lets that many slots pass. */
  advance(slots: number): void
  stop(): void
}

/** What a clock goes by. */
export interface ClockFace {
  /** Where it starts, unless the options say. */
  readonly startSlot: number
  /** How long a slot lasts. */
  readonly slotMs: number
  /** Unix ms at which slot 0 was over: for clocks that follow the wall clock. */
  readonly slotZeroMs: number
  /** The slot number after this one. */
  next(slot: number): number
  tick(slot: number): void
}

/** Makes a clock; it stands still until `start`. */
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
    // A process that was stopped for long catches up a hundred slots at a time, so that others get a turn.
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
