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
  /** Manual clocks: lets that many slots pass. */
  advance(slots: number): void
  stop(): void
}

/** Starts a clock. `slotNow` is the slot that is over at a time of the wall clock (unix ms), `slotMs` how long one lasts. */
export function startClock(
  options: ClockOptions,
  slotMs: number,
  slotNow: (now: number) => number,
  tick: (slot: number) => void,
): SlotClock {
  const now = slotNow(Date.now())
  let slot = options.kind === 'wall' ? now : (options.startSlot ?? now)
  let timer: NodeJS.Timeout | undefined
  const began = { at: Date.now(), slot }
  const speed = options.kind === 'running' ? options.speed : 1
  const due = () =>
    options.kind === 'wall'
      ? slotNow(Date.now())
      : began.slot + Math.floor(((Date.now() - began.at) * speed) / slotMs)
  const step = () => {
    // A process that was stopped for long does not catch up slot by slot at once for ever: a hundred at a time.
    for (let i = 0; i < 100 && slot < due(); i += 1) {
      slot += 1
      tick(slot)
    }
    schedule()
  }
  const schedule = () => {
    const wait =
      options.kind === 'wall'
        ? slotMs - (Date.now() % slotMs)
        : Math.max(0, began.at + ((slot + 1 - began.slot) * slotMs) / speed - Date.now())
    timer = setTimeout(step, slot < due() ? 0 : wait)
  }
  if (options.kind !== 'manual') schedule()
  return {
    get slot() {
      return slot
    },
    advance(slots) {
      for (let i = 0; i < slots; i += 1) {
        slot += 1
        tick(slot)
      }
    },
    stop: () => clearTimeout(timer),
  }
}
