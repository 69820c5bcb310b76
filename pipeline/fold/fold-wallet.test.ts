import test from 'ava'
import fc from 'fast-check'
import { address } from '../domain/address.ts'
import { USDC, WSOL } from '../domain/quote.ts'
import { swapValueLamports } from '../domain/swap-value.ts'
import { aHistory, batchesOf } from '../testing/histories.ts'
import { type SlowBooks, slowBooks, slowMatches } from '../testing/slow-books.ts'
import { openLots } from './fifo.ts'
import type { FoldEvent, FoldKind } from './fold-event.ts'
import { foldBalance, foldEvent } from './fold-wallet.ts'
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts'
import { activeHours } from './wallet-metrics.ts'
import { createWalletState, takeChanges, type WalletState } from './wallet-state.ts'

/**
 * `[kind, amount, value, time]` of an event. All events are of one token, each in its own
 * transaction.
 */
type Step = readonly [FoldKind, bigint, bigint | null, number]

const events = (...steps: readonly Step[]): FoldEvent[] =>
  steps.map(([kind, amount, value, time], index) => ({
    slot: index + 1,
    txIndex: 0,
    eventIndex: 0,
    blockTime: time,
    kind,
    mint: kind.startsWith('sol') ? '' : 'mint',
    decimals: 6,
    amount,
    value,
    solPriceUsdE9: null,
  }))

const fold = (history: readonly FoldEvent[], state = createWalletState(1)): WalletState => {
  for (const event of history) foldEvent(state, event)
  return state
}

const booksOf = (state: WalletState): SlowBooks => ({
  pnl: state.pnl,
  bought: state.boughtLamports,
  sold: state.soldLamports,
  investedOpen: state.investedOpen,
  unrealizedTokens: state.openTokens,
  buys: state.buys,
  sells: state.sells,
  transfersIn: state.transfersIn,
  transfersOut: state.transfersOut,
  received: state.receivedLamports,
  sent: state.sentLamports,
  uniqueTokens: state.uniqueTokensTraded,
  won: state.tokensWon,
  lost: state.tokensLost,
  soldValued: state.tokensSoldValued,
  holdingSeconds: state.holdingSecondsSum,
  holdingMatches: state.holdingMatches,
  exitSeconds: state.exitSecondsSum,
  exitTokens: state.exitTokens,
  quickSells: state.quickSells,
  soldMore: state.soldMoreThanBought,
  hours: state.hours,
})

const disposalsOf = (state: WalletState) =>
  takeChanges(state).disposals.map(({ lot, amount, cost, proceeds, kind }) => ({
    lot: lot.slot,
    kind,
    amount,
    cost,
    proceeds,
  }))

test('the value of a swap is its lamports, or its dollars at its own SOL price, rounded down (C1)', (t) => {
  const swap = {
    quoteMint: WSOL,
    quoteAmount: 12_345n,
    quoteMismatch: false,
    solPriceUsdE9: null,
  }
  const price = 149_999_999_999n
  t.is(swapValueLamports(swap), 12_345n)
  t.is(swapValueLamports({ ...swap, quoteMint: USDC }), null)
  t.is(swapValueLamports({ ...swap, quoteMismatch: true }), null)
  t.is(swapValueLamports({ ...swap, quoteMint: null, quoteAmount: 0n }), null)
  t.is(swapValueLamports({ ...swap, quoteMint: address('11111111111111111111111111111111') }), null)
  // 30.000001 USD / 149.999999999 USD = 0.200000006668000... SOL
  t.is(
    swapValueLamports({ ...swap, quoteMint: USDC, quoteAmount: 30_000_001n, solPriceUsdE9: price }),
    200_000_006n,
  )
})

test('a sell consumes the oldest lots; cost and proceeds are split to the lamport (C2, C3)', (t) => {
  const state = fold(
    events(
      ['buy', 3n, 10n, 0],
      ['buy', 7n, 20n, 100],
      ['sell', 1n, 5n, 200],
      ['sell', 5n, 17n, 300],
    ),
  )
  t.deepEqual(disposalsOf(state), [
    // 10 x 1 / 3 = 3.33
    { lot: 1, kind: 'sell', amount: 1n, cost: 3n, proceeds: 5n },
    // The lot's last part takes the remaining 7. 17 x 2 / 5 = 6.8, and the last part takes the
    // other 11.
    { lot: 1, kind: 'sell', amount: 2n, cost: 7n, proceeds: 6n },
    // 20 x 3 / 7 = 8.57
    { lot: 2, kind: 'sell', amount: 3n, cost: 8n, proceeds: 11n },
  ])
  t.is(state.pnl, 2n + -1n + 3n)
  t.is(state.investedOpen, 12n)
  // 200 - 0, 300 - 0, 300 - 100
  t.is(state.holdingSecondsSum, 700)
  t.is(state.holdingMatches, 3)
})

test('an amount sold beyond all lots realises nothing, its proceeds count as sold only (C3)', (t) => {
  const state = fold(events(['buy', 4n, 10n, 0], ['sell', 6n, 20n, 50], ['sell', 1n, 9n, 60]))
  t.deepEqual(disposalsOf(state), [
    // 20 x 4 / 6 = 13.33
    { lot: 1, kind: 'sell', amount: 4n, cost: 10n, proceeds: 13n },
  ])
  t.is(state.pnl, 3n)
  t.is(state.soldLamports, 29n)
  t.is(state.soldMoreThanBought, 1)
  t.is(state.openTokens, 0)
})

test('a transfer in costs nothing, a transfer out drains lots and realises nothing (C2, C4)', (t) => {
  const state = fold(
    events(
      ['token_in', 5n, null, 0],
      ['buy', 5n, 50n, 10],
      ['token_out', 7n, null, 20],
      ['sell', 3n, 90n, 30],
      ['token_out', 99n, null, 40],
    ),
  )
  t.deepEqual(disposalsOf(state), [
    { lot: 1, kind: 'transfer_out', amount: 5n, cost: 0n, proceeds: null },
    { lot: 2, kind: 'transfer_out', amount: 2n, cost: 20n, proceeds: null },
    { lot: 2, kind: 'sell', amount: 3n, cost: 30n, proceeds: 90n },
  ])
  t.is(state.pnl, 60n)
  t.deepEqual([state.transfersIn, state.transfersOut], [1, 2])
  t.deepEqual([state.holdingSecondsSum, state.holdingMatches], [20, 1])
})

test('a swap without a value changes no sum; a token is won or lost by sells with a value (C3, C5, C6)', (t) => {
  const state = fold(events(['buy', 4n, null, 0], ['sell', 1n, null, 5], ['sell', 1n, 0n, 6]))
  t.is(state.pnl, 0n)
  t.deepEqual([state.tokensSoldValued, state.tokensWon, state.tokensLost], [1, 0, 0])
  foldEvent(state, { ...events(['sell', 1n, 7n, 9])[0]!, slot: 9 })
  t.deepEqual([state.pnl, state.tokensWon, state.tokensLost], [7n, 1, 0])
  t.is(state.holdingMatches, 3)
})

test('the first buy of a token is reported once, whatever came before (C15)', (t) => {
  const state = fold(
    events(
      ['token_in', 9n, null, 0],
      ['sell', 1n, 5n, 10],
      ['buy', 4n, null, 20],
      ['buy', 7n, 8n, 30],
    ),
  )
  const first = { mint: 'mint', slot: 3, txIndex: 0, eventIndex: 0, blockTime: 20, amount: 4n }
  const reported = takeChanges(state).firstBuys.map(
    ({ mint, slot, txIndex, eventIndex, blockTime, amount, value }) => ({
      mint,
      slot,
      txIndex,
      eventIndex,
      blockTime,
      amount,
      value,
    }),
  )
  t.deepEqual(reported, [{ ...first, value: null }])
  foldEvent(state, {
    ...events(['buy', 1n, 1n, 40])[0]!,
    slot: 9,
    mint: 'other',
    solPriceUsdE9: 5n,
  })
  t.like(takeChanges(state).firstBuys, [{ mint: 'other', value: 1n, solPriceUsdE9: 5n }])
  t.deepEqual(takeChanges(state).firstBuys, [])
})

test('a token is exited at 90% of bought, reopened by a buy, and counts with its latest exit (C8)', (t) => {
  const steps: Step[] = [
    ['sell', 50n, 1n, 5],
    ['buy', 10n, 1n, 10],
    ['token_out', 10n, null, 15],
    ['sell', 1n, 1n, 20],
    ['buy', 100n, 1n, 30],
    ['sell', 47n, 1n, 40],
    ['sell', 1n, 1n, 50],
    ['buy', 1n, 1n, 60],
    ['sell', 2n, 1n, 70],
  ]
  const exits = steps.map((_, at) => {
    const { exitSecondsSum, exitTokens } = fold(events(...steps.slice(0, at + 1)))
    return exitTokens === 0 ? null : exitSecondsSum
  })
  // 51 of 10 at 20; 98 of 110 (89.09%) at 40, 99 of 110 (90%) at 50; 99 of 111 is below again; 101
  // of 111 (90.99%) at 70
  t.deepEqual(exits, [null, null, null, 10, null, null, 40, null, 60])
})

test('a buy is a quick sell when sells consumed half of its lot within 15 s (C9)', (t) => {
  const quick = (...steps: Step[]) => fold(events(...steps)).quickSells
  t.is(quick(['buy', 10n, 1n, 0], ['sell', 5n, 1n, 15]), 1)
  t.is(quick(['buy', 10n, 1n, 0], ['sell', 5n, 1n, 16]), 0)
  t.is(quick(['buy', 11n, 1n, 0], ['sell', 5n, 1n, 15]), 0)
  t.is(
    quick(['buy', 11n, 1n, 0], ['sell', 5n, 1n, 1], ['sell', 1n, null, 2], ['sell', 1n, 1n, 3]),
    1,
  )
  t.is(quick(['buy', 10n, 1n, 0], ['token_out', 10n, null, 1]), 0)
  // An older lot is consumed first.
  t.is(quick(['buy', 10n, 1n, 0], ['buy', 10n, 1n, 20], ['sell', 10n, 1n, 21]), 0)
  t.is(quick(['token_in', 10n, null, 0], ['sell', 10n, 1n, 1]), 0)
})

test('active hours count transactions, not events (C11)', (t) => {
  const hour = (h: number) => h * 3600
  const history = events(
    ['sol_in', 5n, null, hour(23)],
    ['buy', 5n, 5n, hour(23)],
    ['token_in', 5n, null, hour(3)],
    ['sell', 5n, 5n, hour(3)],
    ['sell', 5n, 5n, hour(24)],
    ['sell', 5n, 5n, hour(7)],
  )
  const joined = history.map((event, index) =>
    index === 1 ? { ...event, slot: 1, eventIndex: 1 } : event,
  )
  t.deepEqual(activeHours(fold(joined).hours), [
    { hourUtc: 3, txCount: 2 },
    { hourUtc: 0, txCount: 1 },
    { hourUtc: 7, txCount: 1 },
  ])
})

test('the newest balance record counts, in any order of arrival (B14)', (t) => {
  const state = createWalletState(1)
  const at = (slot: number, txIndex: number, lamports: bigint) =>
    foldBalance(state, { slot, txIndex, lamports })
  t.deepEqual(
    [at(5, 2, 10n), at(5, 1, 20n), at(5, 2, 30n), at(4, 9, 40n), at(6, 0, 0n)],
    [true, false, false, false, true],
  )
  t.is(state.balance, 0n)
})

test('an event that is not newer than the last one is refused', (t) => {
  const [first, second] = events(['buy', 1n, 1n, 0], ['sell', 1n, 1n, 1]) as [FoldEvent, FoldEvent]
  const state = fold([first, second])
  t.throws(() => foldEvent(state, second), { message: /event-key order/ })
  t.throws(() => foldEvent(state, first), { message: /event-key order/ })
})

test('the fold agrees with the slow reference over the whole history', (t) => {
  fc.assert(
    fc.property(aHistory, (history) => {
      const state = fold(history)
      t.deepEqual(booksOf(state), slowBooks(history))
      const { disposals } = takeChanges(state)
      for (const mint of ['mintA', 'mintB', 'mintC'])
        t.deepEqual(
          disposals
            .filter((d) => d.mint === mint)
            .map((d) => [
              d.slot,
              d.eventIndex,
              d.lot.slot,
              d.lot.eventIndex,
              d.amount,
              d.cost,
              d.proceeds,
            ]),
          slowMatches(history.filter((e) => e.mint === mint)).map((m) => [
            m.taker.slot,
            m.taker.eventIndex,
            m.lot.slot,
            m.lot.eventIndex,
            m.amount,
            m.cost,
            m.proceeds,
          ]),
        )
    }),
    { numRuns: 1000 },
  )
})

test('a history folded in any batches, with a snapshot after each, gives the same state', (t) => {
  fc.assert(
    fc.property(aHistory, fc.array(fc.nat(60), { maxLength: 5 }), (history, cuts) => {
      let state = createWalletState(1, 3)
      const disposals: unknown[] = []
      for (const batch of batchesOf(history, cuts)) {
        fold(batch, state)
        disposals.push(...disposalsOf(state))
        state = decodeSnapshot(encodeSnapshot(state))
      }
      const whole = fold(history, createWalletState(1, 3))
      t.deepEqual(disposals, disposalsOf(whole))
      t.is(encodeSnapshot(state), encodeSnapshot(whole))
      t.deepEqual(booksOf(state), booksOf(whole))
    }),
    { numRuns: 1000 },
  )
})

test('amount and cost are conserved: incoming is open plus disposed', (t) => {
  fc.assert(
    fc.property(aHistory, (history) => {
      const state = fold(history)
      const { disposals } = takeChanges(state)
      const total = (values: bigint[]) => values.reduce((a, b) => a + b, 0n)
      for (const token of state.tokens.values()) {
        const came = history.filter(
          (e) => e.mint === token.mint && (e.kind === 'buy' || e.kind === 'token_in'),
        )
        const gone = disposals.filter((d) => d.mint === token.mint)
        const open = openLots(token)
        t.is(total(came.map((e) => e.amount)), token.openAmount + total(gone.map((d) => d.amount)))
        t.is(total(came.map((e) => e.value ?? 0n)), token.openCost + total(gone.map((d) => d.cost)))
        t.is(token.openAmount, total(open.map((lot) => lot.left)))
        t.is(token.openCost, total(open.map((lot) => lot.leftCost)))
        t.true(open.every((lot) => lot.left > 0n && lot.leftCost >= 0n))
      }
    }),
  )
})
