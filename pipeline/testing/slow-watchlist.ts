import type { Perturb } from '../domain/perturbation.ts'
import type { PoolSnapshot } from '../domain/pool-snapshot.ts'
import type { TokenFacts } from '../trending/token-book.ts'
import type { TrendingEvent } from '../trending/trending-event.ts'
import type { WatchEvent, WatchedToken } from '../trending/watched-token.ts'
import { holdersOf } from './slow-holders.ts'
import { isSwap, type ServedEvent, servedEvents } from './slow-market.ts'
import { tokenAt } from './slow-token.ts'

/** All stored rows that the watchlist depends on. */
export interface WatchlistInputs {
  /** In event-key order. */
  readonly events: readonly TrendingEvent[]
  readonly facts: ReadonlyMap<string, TokenFacts>
  /** Ordered by time. */
  readonly solPrices: readonly { readonly time: number; readonly usdE9: bigint }[]
  /** Ordered by `at`. */
  readonly pools: readonly PoolSnapshot[]
  readonly perturb: Perturb | null
  readonly solPriceMaxAgeSeconds: number
}

/** A watchlist event, and the token as it is after the event. */
export interface SlowChange {
  readonly event: WatchEvent
  readonly token: WatchedToken
}

/**
 * Returns the changes of the watchlist from tick `from` on, by tick, then mint (rules G1 to G4 and
 * G6). At each tick it computes every figure of every token from the whole history, in fractions.
 *
 * With `onlyWhenDue` it computes only ticks at which the age of an event can change something,
 * which is about a hundred times faster.
 */
export function slowWatchlist(
  stored: WatchlistInputs,
  { from, through, onlyWhenDue = false }: { from: number; through: number; onlyWhenDue?: boolean },
): SlowChange[] {
  const byMint = new Map<string, ServedEvent[]>()
  for (const event of servedEvents(stored)) {
    const known = byMint.get(event.mint) ?? []
    known.push(event)
    byMint.set(event.mint, known)
  }
  const changes: SlowChange[] = []
  for (const [mint, events] of byMint)
    changes.push(...changesOf(stored, mint, events, { from, through, onlyWhenDue }))
  return changes.sort((a, b) => a.token.at - b.token.at || (a.token.mint < b.token.mint ? -1 : 1))
}

function changesOf(
  stored: WatchlistInputs,
  mint: string,
  events: readonly ServedEvent[],
  range: { from: number; through: number; onlyWhenDue: boolean },
): SlowChange[] {
  const changes: SlowChange[] = []
  const pools = stored.pools.filter((snapshot) => snapshot.mint === mint)
  const times = [...events.map(({ time }) => time), ...pools.map(({ at }) => at)]
  const due = new Set<number>()
  const up = (time: number) => Math.ceil(time / 10) * 10
  for (const time of times)
    for (const age of [0, 600, 3600, 7200, 77_760, 86_400]) {
      due.add(up(time + age))
      due.add(up(time) + age)
    }
  let entered: number | null = null
  let written: WatchedToken | null = null
  for (let at = up(Math.min(...times)); at <= range.through; at += 10) {
    if (range.onlyWhenDue && at !== range.from && at % 600 !== 0 && !due.has(at)) continue
    const past = events.filter(({ time }) => time <= at)
    const swaps = past.filter(isSwap)
    const lastTrade = swaps.at(-1)
    if (lastTrade === undefined) continue
    const holding = holdersOf(past).length
    const isOld = at - lastTrade.time >= 86_400
    const before = entered
    if (entered === null) {
      if (!isOld && holding >= 2) entered = at
    } else if (isOld || holding === 0) entered = null
    if (at < range.from || (entered ?? before) === null) continue
    if (entered === null && written === null) continue
    const token = tokenAt(stored, mint, past, at, entered ?? before ?? 0)
    const isNew = written === null
    if (entered === null) {
      changes.push({ event: 'left', token })
      written = null
    } else if (isNew || !isSameBut(written, token)) {
      changes.push({ event: isNew ? 'entered' : 'changed', token })
      written = token
    }
  }
  return changes
}

/** Whether two snapshots differ in nothing but the tick. */
function isSameBut(a: WatchedToken | null, b: WatchedToken): boolean {
  const text = (token: WatchedToken) =>
    JSON.stringify({ ...token, at: 0 }, (_key, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
  return a !== null && text(a) === text(b)
}
