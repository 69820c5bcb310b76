import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import { EVICT_SECONDS } from './figures.ts'
import type { Momentum, WatchedToken, WatchlistChange } from './watched-token.ts'

/**
 * The change of a listed token since its last written snapshot `written`, which is null if none was
 * written. Null when nothing but ages changed.
 */
export function changeFrom(
  written: WatchedToken | null,
  token: WatchedToken,
): WatchlistChange | null {
  if (written === null || written.enteredAt !== token.enteredAt)
    return { event: 'entered', token, reasons: reasonsToEnter(token) }
  if (isSame(written, token)) return null
  return { event: 'changed', token, reasons: reasonsOfChange(written, token) }
}

/** The change of a token that left the list, with its figures when it left. */
export function leave(token: WatchedToken): WatchlistChange {
  return { event: 'left', token, reasons: reasonsToLeave(token) }
}

/**
 * Whether two snapshots of a token differ in nothing but ages. If they differ otherwise, a row is
 * written.
 */
function isSame(a: WatchedToken, b: WatchedToken): boolean {
  return (
    a.enteredAt === b.enteredAt &&
    a.symbol === b.symbol &&
    a.name === b.name &&
    a.firstTradeAt === b.firstTradeAt &&
    a.discoveredAt === b.discoveredAt &&
    a.oldestHoldAt === b.oldestHoldAt &&
    a.lastTradeAt === b.lastTradeAt &&
    isSameList(a.wallets, b.wallets) &&
    a.conviction === b.conviction &&
    a.heldLamports === b.heldLamports &&
    a.pctHeld === b.pctHeld &&
    a.avgEntryMcap === b.avgEntryMcap &&
    a.exactMcap === b.exactMcap &&
    a.multiple === b.multiple &&
    a.bandMin === b.bandMin &&
    a.bandMax === b.bandMax &&
    a.buyLamports === b.buyLamports &&
    a.sellLamports === b.sellLamports &&
    isSameMomentum(a.momentum.mcap, b.momentum.mcap) &&
    isSameMomentum(a.momentum.holders, b.momentum.holders) &&
    isSameMomentum(a.momentum.volume1h, b.momentum.volume1h) &&
    isSameMomentum(a.momentum.liquidity, b.momentum.liquidity) &&
    a.state === b.state &&
    a.nearEvict === b.nearEvict
  )
}

function isSameList(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((wallet, at) => wallet === b[at]))
}

function isSameMomentum(a: Momentum, b: Momentum): boolean {
  return a.value === b.value && a.changePct === b.changePct && a.trend === b.trend
}

/** Why a token entered the list, in words for people. */
function reasonsToEnter(token: WatchedToken): string[] {
  return [`${holders(token)} hold it`, ...reasonOfState(token)]
}

/** Why a token left the list, in words for people. */
function reasonsToLeave(token: WatchedToken): string[] {
  return token.walletsHolding === 0
    ? ['no wallet holds it any more']
    : [`no trade for ${EVICT_SECONDS / 3600} hours`]
}

/**
 * The transitions between two snapshots of a token, in words for people. Empty when only figures
 * changed.
 */
function reasonsOfChange(before: WatchedToken, after: WatchedToken): string[] {
  const reasons: string[] = []
  if (before.state !== after.state) reasons.push(...reasonOfState(after))
  if (before.nearEvict === after.nearEvict) return reasons
  if (!after.nearEvict) reasons.push(`not near its end: ${holders(after)} hold it`)
  else if (after.walletsHolding === 1) reasons.push('near its end: one wallet holds it')
  else reasons.push('near its end: nine tenths of 24 hours without a trade')
  return reasons
}

function reasonOfState({ state, buyLamports, sellLamports }: WatchedToken): string[] {
  if (state === 'discovered') return ['discovered: in its first ten minutes on the list']
  const sol = (lamports: bigint) => nearestNumber(lamports, LAMPORTS_PER_SOL)
  return [
    `${state}: ${sol(buyLamports)} SOL bought and ${sol(sellLamports)} SOL sold in the last hour`,
  ]
}

function holders({ walletsHolding }: WatchedToken): string {
  return walletsHolding === 1 ? 'one wallet' : `${walletsHolding} wallets`
}
