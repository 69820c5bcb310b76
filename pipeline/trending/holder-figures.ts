import { LAMPORTS_PER_SOL, nearestNumber } from '../domain/amount.ts'
import { entryMcap, type Holder, isHolding } from './holder.ts'
import type { WatchedToken } from './watched-token.ts'

/** Figures of a token that depend on its holders and its supply alone. */
export type HolderFigures = Pick<
  WatchedToken,
  | 'wallets'
  | 'walletsHolding'
  | 'oldestHoldAt'
  | 'heldLamports'
  | 'pctHeld'
  | 'avgEntryMcap'
  | 'bandMin'
  | 'bandMax'
>

/** Returns the figures of those wallets among `all` that hold the token (rule G2). */
export function holderFigures(all: Iterable<Holder>, supply: bigint | null): HolderFigures {
  const holders: Holder[] = []
  for (const holder of all) if (isHolding(holder)) holders.push(holder)
  holders.sort((a, b) => a.wallet - b.wallet)
  let oldestHoldAt: number | null = null
  let heldLamports = 0n
  let bought = 0n
  let held = 0n
  let weighted = 0
  let weight = 0
  let bandMin: number | null = null
  let bandMax: number | null = null
  for (const holder of holders) {
    const { firstTradeAt } = holder
    if (firstTradeAt !== null && (oldestHoldAt === null || firstTradeAt < oldestHoldAt))
      oldestHoldAt = firstTradeAt
    heldLamports += holder.openCost
    bought += holder.bought
    held += holder.bought - holder.sold
    const mcap = entryMcap(holder, supply)
    if (mcap === null) continue
    const spent = nearestNumber(holder.boughtLamports, LAMPORTS_PER_SOL)
    weighted += mcap * spent
    weight += spent
    bandMin = bandMin === null ? mcap : Math.min(bandMin, mcap)
    bandMax = bandMax === null ? mcap : Math.max(bandMax, mcap)
  }
  return {
    wallets: holders.map(({ wallet }) => wallet),
    walletsHolding: holders.length,
    oldestHoldAt,
    heldLamports,
    pctHeld: bought === 0n ? 0 : nearestNumber(held, bought),
    // Clamped, because rounding of doubles can leave the range.
    avgEntryMcap:
      weight === 0 || bandMin === null || bandMax === null
        ? null
        : Math.min(bandMax, Math.max(bandMin, weighted / weight)),
    bandMin,
    bandMax,
  }
}
