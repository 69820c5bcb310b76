import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import { EVICT_SECONDS } from './figures.ts'
import type { Momentum, WatchedToken } from './watched-token.ts'

/** Whether anything but ages has changed: then there is a new row. */
export function isSame(a: WatchedToken, b: WatchedToken): boolean {
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
    a.currentMcap === b.currentMcap &&
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

/** Why a token came to the list, for people. */
export function reasonsToEnter(token: WatchedToken): string[] {
  return [`${holders(token)} hold it`, ...reasonOfState(token)]
}

/** Why it left. */
export function reasonsToLeave(token: WatchedToken): string[] {
  return token.walletsHolding === 0
    ? ['no wallet holds it any more']
    : [`no trade for ${EVICT_SECONDS / 3600} hours`]
}

/** What led from one picture of it to the next; empty when figures alone changed. */
export function reasonsOfChange(before: WatchedToken, after: WatchedToken): string[] {
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
