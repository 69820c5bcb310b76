import type { CursorCodec } from '../cursor.ts'

/**
 * A position in the one order of all messages of the channels `watchlist` and `signals`. They are
 * ordered by tick. Within a tick the snapshot comes first, then the changes. Within each part the
 * watchlist comes first, by mint, then signals. A message has the same position in every process,
 * whatever channels and mints a client has subscribed to.
 */
export interface ViewPosition {
  /** The tick, unix seconds; 0 before the first one. */
  readonly at: number
  readonly part: ViewPart
  /** Number of messages of the part up to this position. */
  readonly index: number
}

/** The parts of a tick in their order; `end` is after all its messages. */
export const VIEW_PARTS = ['snapshot', 'changes', 'end'] as const
/** A part of a tick. */
export type ViewPart = (typeof VIEW_PARTS)[number]

/** The position before the snapshot as of a tick. */
export function startOfSnapshot(at: number): ViewPosition {
  return { at, part: 'snapshot', index: 0 }
}

/** The position after all messages of a tick. */
export function endOfTick(at: number): ViewPosition {
  return { at, part: 'end', index: 0 }
}

/** Compares two positions by their order: below 0 if `a` comes first. */
export function comparePositions(a: ViewPosition, b: ViewPosition): number {
  const parts = VIEW_PARTS.indexOf(a.part) - VIEW_PARTS.indexOf(b.part)
  return a.at - b.at || parts || a.index - b.index
}

/**
 * Encodes a position as a cursor, with its parts in the fields of an event key. The scope `views`
 * makes cursors of trades invalid here (rule D4).
 */
export function encodeView(cursors: CursorCodec, { at, part, index }: ViewPosition): string {
  const key = { slot: at, txIndex: VIEW_PARTS.indexOf(part), wallet: index, eventIndex: 0 }
  return cursors.encode('views', key)
}

/** Decodes a cursor of `encodeView`; null for any other text. */
export function decodeView(cursors: CursorCodec, text: string): ViewPosition | null {
  const key = cursors.decode('views', text)
  const part = key && VIEW_PARTS[key.txIndex]
  return part ? { at: key.slot, part, index: key.wallet } : null
}
