/** The fields of a slot that fork choice uses. `OpenSlot` has these fields and explains them. */
export interface SlotLink {
  readonly meta: { readonly parent: number } | null
  readonly confirmedAt: number | null
  readonly fetched: boolean
  readonly parentAbsent: boolean
}

/** Open slots by slot number. */
export type SlotLinks = ReadonlyMap<number, SlotLink>

/**
 * The slot to seal after `head`: the lowest whole, confirmed slot whose parent is the head. Null
 * when there is none.
 *
 * Two kinds of fetched blocks need not descend from the head, because RPC is the final authority:
 * - a block whose parent lies before the head. Otherwise one wrong fork would stop the chain
 *   forever;
 * - a block whose parent RPC does not have.
 */
export function nextSlot(slots: SlotLinks, head: number): number | null {
  let next: number | null = null
  for (const [slot, { meta, confirmedAt, fetched, parentAbsent }] of slots) {
    if (meta === null || confirmedAt === null) continue
    const follows = meta.parent === head || parentAbsent || (fetched && meta.parent < head)
    if (follows && (next === null || slot < next)) next = slot
  }
  return next
}

/** A slot that blocks the chain. */
export interface MissingSlot {
  readonly slot: number
  /** When a slot above it was confirmed, in monotonic milliseconds. */
  readonly sinceMs: number
}

/**
 * The slot to fetch when no slot follows `head`. Let L be the lowest confirmed slot above the head.
 * - When L names a parent above the head, that parent is missing.
 * - Otherwise the meta of L is missing, or names a parent on an abandoned fork. Then L is missing,
 *   once a higher slot is confirmed too. With `fetchAtOnce` it is missing at once.
 *
 * Null when nothing is known to be missing.
 */
export function missingSlot(
  slots: SlotLinks,
  head: number,
  fetchAtOnce: boolean,
): MissingSlot | null {
  const confirmed = [...slots]
    .flatMap(([slot, { meta, confirmedAt }]) =>
      slot > head && confirmedAt !== null ? [{ slot, sinceMs: confirmedAt, meta }] : [],
    )
    .sort((a, b) => a.slot - b.slot)
  const [lowest, second] = confirmed
  if (lowest === undefined) return null
  const { slot, sinceMs, meta } = lowest
  if (meta !== null && meta.parent > head) return { slot: meta.parent, sinceMs }
  if (fetchAtOnce) return { slot, sinceMs }
  return second === undefined ? null : { slot, sinceMs: second.sinceMs }
}

/**
 * The lowest slot with a meta and a `confirmed` status; null when there is none. Its own
 * transactions may be incomplete, but those of its children are complete.
 */
export function lowestEndedSlot(slots: SlotLinks): number | null {
  let lowest: number | null = null
  for (const [slot, { meta, confirmedAt }] of slots) {
    if (meta === null || confirmedAt === null) continue
    if (lowest === null || slot < lowest) lowest = slot
  }
  return lowest
}
