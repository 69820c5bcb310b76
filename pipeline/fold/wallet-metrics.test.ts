import test from 'ava'
import { servedSums, walletScore } from './wallet-metrics.ts'
import { createWalletState } from './wallet-state.ts'

/** A wallet with 50 trades and this balance. */
function aWallet(balance: bigint) {
  return Object.assign(createWalletState(1), { balance, buys: 25, sells: 25 })
}

test('with a salt status and score follow the sums that are served (rule I2a)', (t) => {
  const scoreOf = (balance: bigint, isSalted: boolean) => {
    const state = aWallet(balance)
    return walletScore(state, servedSums(state, isSalted))
  }
  const disqualified = { status: 'disqualified', scoreE2: 0 } as const
  // 9.96 SOL is served as 10, 9.94 as 9.9, 38.4 as 38.
  t.deepEqual(scoreOf(9_960_000_000n, false), disqualified)
  t.deepEqual(scoreOf(9_960_000_000n, true), { status: 'scored', scoreE2: 0 })
  t.deepEqual(scoreOf(9_940_000_000n, true), disqualified)
  t.deepEqual(scoreOf(38_400_000_000n, false), { status: 'scored', scoreE2: 920 })
  t.deepEqual(scoreOf(38_400_000_000n, true), { status: 'scored', scoreE2: 900 })
})
