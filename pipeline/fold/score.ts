/** The inputs of section 3 of the contract. Lamports, seconds and counts. */
export interface ScoreInputs {
  readonly balance: bigint | null
  readonly pnl: bigint
  readonly bought: bigint
  readonly buys: number
  readonly sells: number
  readonly tokensWon: number
  readonly tokensSoldValued: number
  readonly holdingSecondsSum: number
  readonly holdingMatches: number
}

/**
 * Status and score of a wallet. `scoreE2` is the score x 100, rounded half up; null when the status
 * is `review`.
 */
export interface Score {
  readonly status: 'scored' | 'review' | 'disqualified'
  readonly scoreE2: number | null
}

const SOL = 1_000_000_000n

/**
 * Returns status and score of a wallet (contract 3, rule C13). Computes in integers and rounds
 * once, at the end.
 */
export function scoreWallet(inputs: ScoreInputs): Score {
  const { balance, pnl, bought, buys, sells, tokensWon, tokensSoldValued } = inputs
  const trades = buys + sells
  const poor = balance !== null && balance < 10n * SOL
  const losing = tokensSoldValued > 0 && tokensWon * 100 < tokensSoldValued * 35 && pnl < 0n
  if (poor || losing) return { status: 'disqualified', scoreE2: 0 }
  if (trades < 50 || trades > 1000) return { status: 'review', scoreE2: null }

  let points = 0n
  if (tokensSoldValued > 0 && tokensWon * 100 > tokensSoldValued * 40) points += 20n
  if (inputs.holdingMatches > 0 && inputs.holdingSecondsSum > 300 * inputs.holdingMatches)
    points += 10n
  if (buys > 0 && bought >= BigInt(buys) * SOL) points += 10n
  if (trades >= 100) points += 10n

  // The two ramps as fractions: 200 x pnl / bought within +-40, (balance - 20 SOL) / 2 SOL within 0
  // to 10.
  const profit = bought === 0n ? { over: 0n, under: 1n } : clamp(200n * pnl, bought, -40n, 40n)
  const wealth =
    balance === null ? { over: 0n, under: 1n } : clamp(balance - 20n * SOL, 2n * SOL, 0n, 10n)
  const total = clamp(
    points * profit.under * wealth.under + profit.over * wealth.under + wealth.over * profit.under,
    profit.under * wealth.under,
    0n,
    100n,
  )
  return {
    status: 'scored',
    scoreE2: Number((200n * total.over + total.under) / (2n * total.under)),
  }
}

/** Clamps the fraction `over / under` (`under` above zero) between two integers. */
function clamp(over: bigint, under: bigint, low: bigint, high: bigint) {
  if (over <= low * under) return { over: low, under: 1n }
  if (over >= high * under) return { over: high, under: 1n }
  return { over, under }
}
