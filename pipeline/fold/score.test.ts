import test from 'ava'
import fc from 'fast-check'
import { type ScoreInputs, scoreWallet } from './score.ts'

const SOL = 1_000_000_000n

/** 50 trades that earn no point and break no rule. */
const plain: ScoreInputs = {
  balance: 10n * SOL,
  pnl: 0n,
  bought: 0n,
  buys: 25,
  sells: 25,
  tokensWon: 0,
  tokensSoldValued: 0,
  holdingSecondsSum: 0,
  holdingMatches: 0,
}
const score = (change: Partial<ScoreInputs>) => scoreWallet({ ...plain, ...change })
const points = (change: Partial<ScoreInputs>) => score(change).scoreE2

const OUT = { status: 'disqualified', scoreE2: 0 } as const
const REVIEW = { status: 'review', scoreE2: null } as const
const scored = (scoreE2: number) => ({ status: 'scored', scoreE2 }) as const

test('less than 10 SOL, or few wins and a loss, disqualifies first (section 3, C13)', (t) => {
  t.deepEqual(score({ balance: 10n * SOL - 1n }), OUT)
  t.deepEqual(score({ balance: 10n * SOL }), scored(0))
  t.deepEqual(score({ balance: null }), scored(0))
  t.deepEqual(score({ balance: 0n, buys: 0, sells: 0 }), OUT)
  // 34 of 100, 35 of 100
  t.deepEqual(score({ tokensWon: 34, tokensSoldValued: 100, pnl: -1n }), OUT)
  t.deepEqual(score({ tokensWon: 35, tokensSoldValued: 100, pnl: -1n }), scored(0))
  t.deepEqual(score({ tokensWon: 34, tokensSoldValued: 100, pnl: 0n }), scored(0))
  t.deepEqual(score({ pnl: -1n }), scored(0))
})

test('fewer than 50 or more than 1000 trades give status review', (t) => {
  t.deepEqual(score({ sells: 24 }), REVIEW)
  t.deepEqual(score({ sells: 25 }), scored(0))
  t.deepEqual(score({ sells: 975 }), scored(1000))
  t.deepEqual(score({ sells: 976 }), REVIEW)
})

test('each part of the score at its threshold', (t) => {
  // 200 x pnl / bought: 20% gives 40 points, which is the most. A loss subtracts points that other
  // parts earn.
  t.is(points({ pnl: 2n, bought: 10n }), 4000)
  t.is(points({ pnl: 9n, bought: 10n }), 4000)
  t.is(points({ pnl: 1n, bought: 10n }), 2000)
  t.is(points({ pnl: 1n, bought: 30n }), 667)
  t.is(points({ pnl: -1n, bought: 40n, tokensWon: 1, tokensSoldValued: 2 }), 1500)
  t.is(points({ pnl: -1n, bought: 0n }), 0)
  // A win rate of 40% is not enough.
  t.is(points({ tokensWon: 40, tokensSoldValued: 100 }), 0)
  t.is(points({ tokensWon: 41, tokensSoldValued: 100 }), 2000)
  // A mean holding time of 300 s is not enough.
  t.is(points({ holdingSecondsSum: 600, holdingMatches: 2 }), 0)
  t.is(points({ holdingSecondsSum: 601, holdingMatches: 2 }), 1000)
  // A mean trade of 1 SOL is enough.
  t.is(points({ bought: 25n * SOL }), 1000)
  t.is(points({ bought: 25n * SOL - 1n }), 0)
  t.is(points({ buys: 0, sells: 50, bought: 0n }), 0)
  t.is(points({ sells: 75 }), 1000)
  t.is(points({ sells: 74 }), 0)
  // 20 to 40 SOL
  t.is(points({ balance: 20n * SOL }), 0)
  t.is(points({ balance: 25n * SOL }), 250)
  t.is(points({ balance: 40n * SOL }), 1000)
  t.is(points({ balance: 100n * SOL }), 1000)
  t.is(points({ balance: null }), 0)
})

test('all parts add up to 100, and hundredths are rounded half up', (t) => {
  const best = {
    pnl: 100n * SOL,
    bought: 100n * SOL,
    sells: 75,
    tokensWon: 1,
    tokensSoldValued: 1,
    holdingSecondsSum: 301,
    holdingMatches: 1,
    balance: 40n * SOL,
  }
  t.is(points(best), 10_000)
  // 200 x 1 / 40000 = 0.005, 200 x 1 / 40001 is below
  t.is(points({ pnl: 1n, bought: 40_000n }), 1)
  t.is(points({ pnl: 1n, bought: 40_001n }), 0)
})

test('the score agrees with the same sum in floating point', (t) => {
  const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
      fc.bigInt({ min: 1n, max: 10n ** 15n }),
      fc.bigInt({ min: 10n * SOL, max: 60n * SOL }),
      (pnl, bought, balance) => {
        const expected = clamp(
          clamp((200 * Number(pnl)) / Number(bought), -40, 40) +
            (bought >= 25n * SOL ? 10 : 0) +
            clamp((Number(balance) / 1e9 - 20) / 2, 0, 10),
          0,
          100,
        )
        const actual = points({ pnl, bought, balance }) ?? Number.NaN
        t.true(Math.abs(actual / 100 - expected) < 0.00501)
      },
    ),
  )
})
