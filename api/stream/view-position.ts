import type { CursorCodec } from '../cursor.ts'

/**
 * A place in the one order in which the channels `watchlist` and `signals` speak: by tick; in a tick the snapshot as of it, then its changes; each by what is said of the
 * watchlist, by mint, then of signals. The same message has the same place in every process, whatever channels and mints a client asked for.
 */
export interface ViewPosition {
  /** The tick, unix seconds; 0 before the first one. */
  readonly at: number
  readonly part: ViewPart
  /** Messages of the part that had passed. */
  readonly index: number
}

/** `snapshot`: in the snapshot as of the tick. `changes`: in what changed at the tick. `end`: everything of the tick has passed. */
export const VIEW_PARTS = ['snapshot', 'changes', 'end'] as const
export type ViewPart = (typeof VIEW_PARTS)[number]

export function startOfSnapshot(at: number): ViewPosition {
  return { at, part: 'snapshot', index: 0 }
}

export function endOfTick(at: number): ViewPosition {
  return { at, part: 'end', index: 0 }
}

/** The position as a cursor: in the place of an event key's numbers, of a scope of its own, so that a trade's cursor is none here (rule D4). */
export function encodeView(cursors: CursorCodec, { at, part, index }: ViewPosition): string {
  const place = { slot: at, txIndex: VIEW_PARTS.indexOf(part), wallet: index, eventIndex: 0 }
  return cursors.encode('views', place)
}

/** Null for everything that `encodeView` did not give. */
export function decodeView(cursors: CursorCodec, text: string): ViewPosition | null {
  const place = cursors.decode('views', text)
  const part = place && VIEW_PARTS[place.txIndex]
  return part ? { at: place.slot, part, index: place.wallet } : null
}
