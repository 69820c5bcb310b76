import test from 'ava'
import fc from 'fast-check'
import { createPerturb, type Perturb, perturbAmount } from '../domain/perturbation.ts'
import { aHistory, batchesOf } from '../testing/histories.ts'
import { slowMatches } from '../testing/slow-books.ts'
import type { FoldEvent, FoldKind } from './fold-event.ts'
import { foldEvent } from './fold-wallet.ts'
import type { ProfitHour } from './profit-hours.ts'
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts'
import { createWalletState, takeChanges } from './wallet-state.ts'

const isSwap = ({ kind }: FoldEvent) => kind === 'buy' || kind === 'sell'
const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n)

type Hours = Record<string, Omit<ProfitHour, 'dirty'>>

/** Folds batches, with a snapshot after each. Returns the last row of each mint and hour. */
function foldHours(batches: readonly FoldEvent[][], perturb: Perturb | null = null): Hours {
  const hours: Hours = {}
  let state = createWalletState(1)
  for (const batch of batches) {
    for (const event of batch) foldEvent(state, event, perturb)
    for (const { mint, sums } of takeChanges(state).profitHours) {
      const { dirty, ...figures } = sums
      hours[`${mint} ${sums.hour}`] = figures
    }
    state = decodeSnapshot(encodeSnapshot(state))
  }
  return hours
}

/** What the rows must be, from the served events alone. */
function slowHours(history: readonly FoldEvent[], perturb: Perturb | null): Hours {
  const served = history.map((event) => {
    if (perturb === null || !isSwap(event)) return event
    const perturbation = perturb({ wallet: 1, ...event })
    return {
      ...event,
      blockTime: event.blockTime - perturbation.earlierSeconds,
      amount: perturbAmount(event.amount, perturbation),
      value: event.value === null ? null : perturbAmount(event.value, perturbation),
    }
  })
  const hourOf = (event: { readonly blockTime: number }) =>
    Math.floor(event.blockTime / 3600) * 3600
  const hours: Hours = {}
  for (const { mint } of served.filter(isSwap)) {
    const events = served.filter((event) => event.mint === mint)
    const swaps = events.filter(isSwap)
    for (const hour of new Set(swaps.map(hourOf))) {
      const ofHour = swaps.filter((event) => hourOf(event) === hour)
      const profitOf = (folded: readonly FoldEvent[]) =>
        sum(
          slowMatches(folded)
            .filter(({ taker }) => taker.kind === 'sell' && hourOf(taker) === hour)
            .map(({ proceeds, cost }) => (proceeds === null ? 0n : proceeds - cost)),
        )
      hours[`${mint} ${hour}`] = {
        hour,
        trades: ofHour.length,
        valuedSells: ofHour.filter((e) => e.kind === 'sell' && e.value !== null).length,
        volume: sum(ofHour.map((event) => event.value ?? 0n)),
        realized: profitOf(events),
        strictRealized: profitOf(swaps),
      }
    }
  }
  return hours
}

const PERTURBS = [null, createPerturb('a salt of this test')]

for (const perturb of PERTURBS)
  test(`${perturb === null ? 'without' : 'with'} a salt, hours are those of a slow reference, however the events come (L6, L10, L13)`, (t) => {
    fc.assert(
      fc.property(aHistory, fc.array(fc.nat(60), { maxLength: 5 }), (history, cuts) => {
        t.deepEqual(foldHours(batchesOf(history, cuts), perturb), slowHours(history, perturb))
      }),
    )
  })

test('transfers change no strict figure (L6)', (t) => {
  for (const perturb of PERTURBS)
    fc.assert(
      fc.property(aHistory, (history) => {
        const strict = (events: FoldEvent[]) =>
          Object.entries(foldHours([events], perturb)).map(([key, { realized, ...rest }]) => [
            key,
            rest,
          ])
        t.deepEqual(strict(history.filter(isSwap)), strict(history))
      }),
    )
})

const TEN = 1_700_002_800 // a full hour
const event = (slot: number, kind: FoldKind, amount: bigint, value: bigint | null): FoldEvent => ({
  slot,
  txIndex: 0,
  eventIndex: 0,
  blockTime: TEN + slot,
  kind,
  mint: 'mint',
  decimals: 6,
  amount,
  value,
  solPriceUsdE9: null,
})

test('a gift that is sold is profit in raw books, and none in strict ones (L6)', (t) => {
  const history = [
    event(1, 'token_in', 100n, null),
    event(2, 'sell', 100n, 5_000_000_000n),
    event(3, 'buy', 10n, 40n),
    event(4, 'sell', 10n, 90n),
  ]
  t.deepEqual(foldHours([history]), {
    [`mint ${TEN}`]: {
      hour: TEN,
      trades: 3,
      valuedSells: 2,
      volume: 5_000_000_130n,
      realized: 5_000_000_050n,
      strictRealized: 50n,
    },
  })
})

test('strict lots are not kept for a token without transfers, nor once nothing is left of them', (t) => {
  const state = createWalletState(1)
  const strictLots = () => state.tokens.get('mint')?.strictLots
  foldEvent(state, event(1, 'buy', 10n, 40n))
  t.is(strictLots(), null)
  foldEvent(state, event(2, 'token_in', 5n, null))
  t.truthy(strictLots())
  foldEvent(state, event(3, 'sell', 15n, 40n))
  t.is(strictLots(), null)
})
