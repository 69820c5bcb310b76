/** A fraction; `under` is above zero. */
interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

const whole = (n: bigint | number): Fraction => ({ over: BigInt(n), under: 1n })
const fraction = (over: bigint, under: bigint): Fraction => ({ over, under })
const plus = (a: Fraction, b: Fraction) =>
  fraction(a.over * b.under + b.over * a.under, a.under * b.under)
const isLess = (a: Fraction, b: Fraction) => a.over * b.under < b.over * a.under
const within = (a: Fraction, low: number, high: number) =>
  isLess(a, whole(low)) ? whole(low) : isLess(whole(high), a) ? whole(high) : a

const SOL = 10n ** 9n

/** The inputs of section 3 of the contract. Lamports, seconds and counts. */
export interface SlowScoreInputs {
  readonly balance: bigint | null
  readonly pnl: bigint
  readonly bought: bigint
  readonly buys: number
  readonly trades: number
  readonly won: number
  readonly soldValued: number
  readonly holdingSeconds: number
  readonly holdingMatches: number
}

/** Status and score x 100 by section 3 of the contract and rule C13, line by line, in fractions. */
export function slowScore(of: SlowScoreInputs): { status: string; scoreE2: number | null } {
  const mean = (sum: bigint | number, count: number) =>
    count === 0 ? null : fraction(BigInt(sum), BigInt(count))
  const balance = of.balance === null ? null : fraction(of.balance, SOL)
  const winrate = mean(of.won * 100, of.soldValued)
  const holding = mean(of.holdingSeconds, of.holdingMatches)
  const averageBuy = of.buys === 0 ? null : fraction(of.bought, SOL * BigInt(of.buys))

  if (balance !== null && isLess(balance, whole(10))) return { status: 'disqualified', scoreE2: 0 }
  if (winrate !== null && isLess(winrate, whole(35)) && of.pnl < 0n)
    return { status: 'disqualified', scoreE2: 0 }
  if (of.trades < 50 || of.trades > 1000) return { status: 'review', scoreE2: null }

  const ratio = of.bought === 0n ? whole(0) : fraction(of.pnl, of.bought)
  const parts = [
    within(fraction(ratio.over * 200n, ratio.under), -40, 40),
    whole(winrate !== null && isLess(whole(40), winrate) ? 20 : 0),
    whole(holding !== null && isLess(whole(300), holding) ? 10 : 0),
    whole(averageBuy !== null && !isLess(averageBuy, whole(1)) ? 10 : 0),
    whole(of.trades >= 100 ? 10 : 0),
    balance === null
      ? whole(0)
      : within(fraction(balance.over - 20n * balance.under, 2n * balance.under), 0, 10),
  ]
  const total = within(parts.reduce(plus), 0, 100)
  // Rounds half up: adds one half and drops the fraction.
  const rounded = plus(fraction(total.over * 100n, total.under), fraction(1n, 2n))
  return { status: 'scored', scoreE2: Number(rounded.over / rounded.under) }
}
