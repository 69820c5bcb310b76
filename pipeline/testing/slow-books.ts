import type { SlowEvent } from './slow-events.ts'

/**
 * Every figure of rules C2 to C12, from a slow reference implementation. It is written to be read:
 * for each figure it walks the whole history again, keeps no state and shares no code with the
 * fold. Its cost is quadratic in the history.
 */
export interface SlowBooks {
  readonly pnl: bigint
  readonly bought: bigint
  readonly sold: bigint
  readonly investedOpen: bigint
  readonly unrealizedTokens: number
  readonly buys: number
  readonly sells: number
  readonly transfersIn: number
  readonly transfersOut: number
  readonly received: bigint
  readonly sent: bigint
  readonly uniqueTokens: number
  readonly won: number
  readonly lost: number
  readonly soldValued: number
  readonly holdingSeconds: number
  readonly holdingMatches: number
  readonly exitSeconds: number
  readonly exitTokens: number
  readonly quickSells: number
  readonly soldMore: number
  readonly hours: readonly number[]
}

/**
 * Units `from` to `to` (exclusive) of an event, numbered along all units that ever came in. A taker
 * takes a stretch of this line.
 */
interface Stretch {
  readonly event: SlowEvent
  readonly from: bigint
  readonly to: bigint
}

/** The part of one lot that one taker consumed. */
export interface SlowMatch {
  readonly mint: string
  readonly lot: SlowEvent
  readonly taker: SlowEvent
  readonly amount: bigint
  readonly cost: bigint
  readonly proceeds: bigint | null
}

const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)
const add = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)

const isIn = (e: SlowEvent) => e.kind === 'buy' || e.kind === 'token_in'
const isOut = (e: SlowEvent) => e.kind === 'sell' || e.kind === 'token_out'
const costOf = (lot: SlowEvent) => (lot.kind === 'buy' ? (lot.value ?? 0n) : 0n)

/**
 * Incoming and outgoing units as stretches of one line. FIFO means that the n-th unit out is the
 * n-th unit in (rules C2 to C4).
 */
function line(events: readonly SlowEvent[]): { lots: Stretch[]; takes: Stretch[] } {
  const lots: Stretch[] = []
  const takes: Stretch[] = []
  for (const event of events) {
    const inSoFar = lots.at(-1)?.to ?? 0n
    const outSoFar = takes.at(-1)?.to ?? 0n
    if (isIn(event)) lots.push({ event, from: inSoFar, to: inSoFar + event.amount })
    // Units beyond all lots of that moment take nothing.
    if (isOut(event))
      takes.push({ event, from: outSoFar, to: min(outSoFar + event.amount, inSoFar) })
  }
  return { lots, takes }
}

const overlap = (a: Stretch, b: Stretch) => max(min(a.to, b.to) - max(a.from, b.from), 0n)

/** Returns every match of one token, oldest taker first, then oldest lot first. */
export function slowMatches(events: readonly SlowEvent[]): SlowMatch[] {
  const { lots, takes } = line(events)
  return takes.flatMap((take) => {
    const matched = take.to - take.from
    const touched = lots.filter((lot) => overlap(lot, take) > 0n)
    const value = take.event.kind === 'sell' ? take.event.value : null
    const proceeds = value === null || matched === 0n ? null : (value * matched) / take.event.amount
    return touched.map((lot, index) => {
      const amount = overlap(lot, take)
      const share = (whole: bigint, part: bigint, of: bigint) => (whole * part) / of
      // Earlier takers of the lot are rounded down. The taker of the last unit takes the remainder.
      const earlier = takes
        .filter((other) => other.from < take.from && overlap(lot, other) > 0n)
        .map((other) => share(costOf(lot.event), overlap(lot, other), lot.event.amount))
      const isLastOfLot = take.to >= lot.to
      const before = touched
        .slice(0, index)
        .map((other) => share(proceeds ?? 0n, overlap(other, take), matched))
      return {
        mint: take.event.mint,
        lot: lot.event,
        taker: take.event,
        amount,
        cost: isLastOfLot
          ? costOf(lot.event) - sum(earlier)
          : share(costOf(lot.event), amount, lot.event.amount),
        proceeds:
          proceeds === null
            ? null
            : index === touched.length - 1
              ? proceeds - sum(before)
              : share(proceeds, amount, matched),
      }
    })
  })
}

/** Returns the figures of a wallet after `events`, which are in event-key order. */
export function slowBooks(events: readonly SlowEvent[]): SlowBooks {
  const of = (kind: SlowEvent['kind']) => events.filter((e) => e.kind === kind)
  const mints = [...new Set(events.filter((e) => e.mint !== '').map((e) => e.mint))]
  const tokens = mints.map((mint) => slowToken(events.filter((e) => e.mint === mint)))
  const transactions = new Map(events.map((e) => [`${e.slot}/${e.txIndex}`, e.blockTime]))
  const hours = new Array<number>(24).fill(0)
  for (const time of transactions.values()) {
    const hour = new Date(time * 1000).getUTCHours()
    hours[hour] = (hours[hour] ?? 0) + 1
  }
  return {
    pnl: sum(tokens.map((t) => t.realized)),
    bought: sum(of('buy').map((e) => e.value ?? 0n)),
    sold: sum(of('sell').map((e) => e.value ?? 0n)),
    investedOpen: sum(tokens.map((t) => t.openCost)),
    unrealizedTokens: tokens.filter((t) => t.open > 0n).length,
    buys: of('buy').length,
    sells: of('sell').length,
    transfersIn: of('token_in').length,
    transfersOut: of('token_out').length,
    received: sum(of('sol_in').map((e) => e.amount)),
    sent: sum(of('sol_out').map((e) => e.amount)),
    uniqueTokens: new Set([...of('buy'), ...of('sell')].map((e) => e.mint)).size,
    won: tokens.filter((t) => t.valuedSells > 0 && t.realized > 0n).length,
    lost: tokens.filter((t) => t.valuedSells > 0 && t.realized < 0n).length,
    soldValued: tokens.filter((t) => t.valuedSells > 0).length,
    holdingSeconds: add(tokens.map((t) => add(t.holding))),
    holdingMatches: add(tokens.map((t) => t.holding.length)),
    exitSeconds: add(tokens.map((t) => t.exit ?? 0)),
    exitTokens: tokens.filter((t) => t.exit !== null).length,
    quickSells: add(tokens.map((t) => t.quick)),
    soldMore: tokens.filter((t) => t.sold > t.bought).length,
    hours,
  }
}

/** Returns the figures of one token, given all of its events. */
export function slowToken(events: readonly SlowEvent[]) {
  const matches = slowMatches(events)
  const buys = events.filter((e) => e.kind === 'buy')
  const sells = events.filter((e) => e.kind === 'sell')
  const sales = matches.filter((m) => m.taker.kind === 'sell')
  const came = sum(events.filter(isIn).map((e) => e.amount))
  const trades = events.filter((e) => e.kind === 'buy' || e.kind === 'sell')
  return {
    matches,
    buys: buys.length,
    sells: sells.length,
    boughtLamports: sum(buys.map((e) => e.value ?? 0n)),
    soldLamports: sum(sells.map((e) => e.value ?? 0n)),
    firstBuy: buys[0] ?? null,
    firstTrade: trades[0] ?? null,
    lastTrade: trades.at(-1) ?? null,
    valuedSells: sells.filter((e) => e.value !== null).length,
    bought: sum(buys.map((e) => e.amount)),
    sold: sum(sells.map((e) => e.amount)),
    realized: sum(sales.map((m) => (m.proceeds === null ? 0n : m.proceeds - m.cost))),
    open: came - sum(matches.map((m) => m.amount)),
    openCost: sum(events.filter(isIn).map(costOf)) - sum(matches.map((m) => m.cost)),
    holding: sales
      .filter((m) => m.lot.kind === 'buy')
      .map((m) => m.taker.blockTime - m.lot.blockTime),
    quick: buys.filter((buy) => {
      const quick = sales.filter((m) => m.lot === buy && m.taker.blockTime - buy.blockTime <= 15)
      return sum(quick.map((m) => m.amount)) * 2n >= buy.amount
    }).length,
    exit: slowExit(events),
  }
}

/** Seconds to the latest almost full exit of a token; null while it is not exited (rule C8). */
function slowExit(events: readonly SlowEvent[]): number | null {
  const upTo = (index: number, kind: SlowEvent['kind']) =>
    sum(
      events
        .slice(0, index + 1)
        .filter((e) => e.kind === kind)
        .map((e) => e.amount),
    )
  const out = events.map((_, index) => upTo(index, 'sell') * 10n >= upTo(index, 'buy') * 9n)
  const first = events.findIndex((e) => e.kind === 'buy')
  if (first === -1) return null
  const reopened = events.findLastIndex((e, index) => e.kind === 'buy' && !out[index])
  const exit = events.findIndex(
    (e, index) => index > Math.max(first, reopened) && e.kind === 'sell' && out[index],
  )
  return exit === -1 ? null : (events[exit]?.blockTime ?? 0) - (events[first]?.blockTime ?? 0)
}
