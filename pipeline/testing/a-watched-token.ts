import { decimalFraction, type Fraction } from '../domain/fraction.ts'
import type { ExactToken, Momentum, WatchedToken } from '../trending/watched-token.ts'

/** Returns a listed token with the given fields. Its default figures all differ from each other. */
export function aWatchedToken(fields: Partial<WatchedToken> = {}): WatchedToken {
  return {
    at: 1_790_000_000,
    mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    symbol: 'Bonk',
    name: 'Bonk Inu',
    firstTradeAt: 1_789_994_600,
    discoveredAt: 1_789_995_190,
    enteredAt: 1_789_995_200,
    oldestHoldAt: 1_789_994_700,
    lastTradeAt: 1_789_999_990,
    walletsHolding: 4,
    wallets: [3, 7, 12, 40],
    conviction: 61.75,
    heldLamports: 18_400_000_000n,
    pctHeld: 0.85,
    avgEntryMcap: 412_000.5,
    currentMcap: 824_001,
    exactMcap: '824001/1',
    multiple: 2,
    bandMin: 198_000,
    bandMax: 640_300.25,
    buyLamports: 12_500_000_000n,
    sellLamports: 3_125_000_000n,
    momentum: {
      mcap: { value: 824_001, changePct: 24.5, trend: 'up' },
      holders: { value: 4, changePct: 100, trend: 'up' },
      volume1h: { value: 15.625, changePct: -12.5, trend: 'down' },
      liquidity: { value: 310.75, changePct: 1.5, trend: 'flat' },
    },
    state: 'accumulating',
    nearEvict: false,
    ...fields,
  }
}

/** Returns the token of `aWatchedToken` as the engine computes it. Figures are exact decimals. */
export function anExactToken(fields: Partial<WatchedToken> = {}): ExactToken {
  const { exactMcap: _, ...token } = aWatchedToken(fields)
  const { mcap, holders, volume1h, liquidity } = token.momentum
  return {
    ...token,
    conviction: decimalFraction(token.conviction),
    pctHeld: decimalFraction(token.pctHeld),
    avgEntryMcap: exactOf(token.avgEntryMcap),
    currentMcap: exactOf(token.currentMcap),
    multiple: exactOf(token.multiple),
    bandMin: exactOf(token.bandMin),
    bandMax: exactOf(token.bandMax),
    momentum: {
      mcap: exactMomentum(mcap),
      holders: exactMomentum(holders),
      volume1h: exactMomentum(volume1h),
      liquidity: exactMomentum(liquidity),
    },
  }
}

function exactMomentum({ value, changePct, trend }: Momentum): Momentum<Fraction> {
  return { value: exactOf(value), changePct: exactOf(changePct), trend }
}

function exactOf(value: number | null): Fraction | null {
  return value === null ? null : decimalFraction(value)
}
