import { type Fraction, fractionText, nearestTo } from '../domain/fraction.ts'
import type { ExactToken, Momentum, WatchedToken } from './watched-token.ts'

/** Returns a token as it is stored: rounds each figure once, to the nearest double (rule C20). */
export function roundFigures(token: ExactToken): WatchedToken {
  const { mcap, holders, volume1h, liquidity } = token.momentum
  return {
    ...token,
    conviction: nearestTo(token.conviction),
    pctHeld: nearestTo(token.pctHeld),
    avgEntryMcap: nearestTo(token.avgEntryMcap),
    currentMcap: nearestTo(token.currentMcap),
    exactMcap: token.currentMcap === null ? '' : fractionText(token.currentMcap),
    multiple: nearestTo(token.multiple),
    bandMin: nearestTo(token.bandMin),
    bandMax: nearestTo(token.bandMax),
    momentum: {
      mcap: roundMomentum(mcap),
      holders: roundMomentum(holders),
      volume1h: roundMomentum(volume1h),
      liquidity: roundMomentum(liquidity),
    },
  }
}

function roundMomentum({ value, changePct, trend }: Momentum<Fraction>): Momentum {
  return { value: nearestTo(value), changePct: nearestTo(changePct), trend }
}
