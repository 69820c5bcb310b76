import type { Store } from '../../store/store.ts'
import {
  breakText,
  type ChainBreak,
  isSameSeam,
  readBreaks,
} from '../../store/tables/chain-breaks.ts'
import { readNeighbours, readSeams, type Seam, type Stretch } from '../../store/tables/links.ts'

/** What has to be stored after a stretch was looked at, and what is too young for it. */
export interface StretchOutcome {
  readonly opened: readonly ChainBreak[]
  readonly closed: readonly ChainBreak[]
  /** Seams that would be opened if they had been seen long enough ago. */
  readonly young: readonly Seam[]
}

/**
 * Looks at a stretch of a chain, from the link before it to the one after it, and compares the
 * breaks that are there with those that are stored (rule K8). `mayOpen`: they were seen long enough
 * ago. `now`: unix seconds.
 */
export async function checkStretch(
  store: Store,
  stretch: Stretch,
  mayOpen: boolean,
  now: number,
): Promise<StretchOutcome> {
  const { wallet, account } = stretch
  const wide = { ...stretch, ...(await readNeighbours(store, stretch)) }
  const [seams, stored] = await Promise.all([
    readSeams(store, wallet, wide),
    readBreaks(store, ['open', 'unexplained', 'accepted'], {
      wallet,
      account,
      fromSlot: wide.fromSlot,
    }),
  ])
  return compareBreaks(
    seams,
    // What comes before the first link that was read is not known here.
    stored.filter(
      ({ slot, from }) =>
        slot <= wide.toSlot && (slot > wide.fromSlot || from.slot === wide.fromSlot),
    ),
    mayOpen,
    now,
  )
}

/** Compares the breaks that a chain has with those that are stored. */
export function compareBreaks(
  seams: readonly Seam[],
  stored: readonly ChainBreak[],
  mayOpen: boolean,
  now: number,
): StretchOutcome {
  const known = new Map(stored.map((found) => [breakText(found), found]))
  const opened: ChainBreak[] = []
  const young: Seam[] = []
  for (const seam of seams) {
    const before = known.get(breakText(seam))
    known.delete(breakText(seam))
    if (before !== undefined && isSameSeam(before, seam)) continue
    if (before === undefined && !mayOpen) young.push(seam)
    else opened.push(openBreak(seam, before?.openedAt ?? now, now))
  }
  const closed = [...known.values()].map(
    (found): ChainBreak => ({ ...found, state: 'closed', cause: '', changedAt: now }),
  )
  return { opened, closed, young }
}

function openBreak(seam: Seam, openedAt: number, now: number): ChainBreak {
  return { ...seam, state: 'open', cause: '', tries: 0, openedAt, changedAt: now }
}
