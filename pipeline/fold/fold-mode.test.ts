import test from 'ava'
import fc from 'fast-check'
import { createPerturb, type Perturb, perturbAmount } from '../domain/perturbation.ts'
import { aHistory } from '../testing/histories.ts'
import { slowEventsOf, slowPositions, slowProfitAt } from '../testing/slow-profit.ts'
import { FOLD_MODES, type FoldEvent } from './fold-event.ts'
import { foldEvent } from './fold-wallet.ts'
import { type OpenPosition, ProfitFold } from './profit-fold.ts'
import { type FoldAs, PositionsFold } from './wallet-positions.ts'
import { createWalletState } from './wallet-state.ts'

const SALTED = createPerturb('a salt of this test')

const positionsOf = (history: readonly FoldEvent[], as: Omit<FoldAs, 'wallet'>) => {
  const fold = new PositionsFold({ wallet: 7, ...as })
  for (const event of history) fold.add(event)
  return fold.positions()
}

const cutsOf = (history: readonly FoldEvent[], times: number[], as: Omit<FoldAs, 'wallet'>) => {
  const fold = new ProfitFold({ wallet: 7, ...as }, times)
  return [...history.flatMap((event) => fold.add(event)), ...fold.end()]
}

/** The swaps of a history as customers see them, by rule I2; transfers as they were. */
const servedForm = (history: readonly FoldEvent[], perturb: Perturb | null): FoldEvent[] =>
  history.map((event) => {
    if (perturb === null || (event.kind !== 'buy' && event.kind !== 'sell')) return event
    const noise = perturb({ ...event, wallet: 7 })
    return {
      ...event,
      blockTime: event.blockTime - noise.earlierSeconds,
      amount: perturbAmount(event.amount, noise),
      value: event.value === null ? null : perturbAmount(event.value, noise),
    }
  })

const [mode, perturb] = [fc.constantFrom(...FOLD_MODES), fc.constantFrom(null, SALTED)]

test('a gift that is sold is profit with transfers, and realises nothing without them (L6)', (t) => {
  const base = { txIndex: 0, eventIndex: 0, decimals: 6, solPriceUsdE9: null, mint: 'mint' }
  const history: FoldEvent[] = [
    { ...base, slot: 1, blockTime: 10, kind: 'token_in', amount: 100n, value: null },
    { ...base, slot: 2, blockTime: 20, kind: 'sell', amount: 100n, value: 5_000_000_000n },
  ]
  const realized = (mode: FoldAs['mode']) =>
    positionsOf(history, { mode, perturb: null }).map((position) => position.realized)
  t.deepEqual([realized('raw'), realized('strict')], [[5_000_000_000n], [0n]])
})

test('positions equal those of the slow reference, in both modes, with and without a salt', (t) => {
  fc.assert(
    fc.property(aHistory, mode, perturb, (history, mode, perturb) => {
      const expected = slowPositions(slowEventsOf(servedForm(history, perturb), mode))
      t.deepEqual(positionsOf(history, { mode, perturb }), expected)
    }),
  )
})

test('what a wallet has at a time is what its events until then add up to, also at served times', (t) => {
  const someTimes = fc.array(fc.oneof(fc.nat(60), fc.nat(300_000)), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(aHistory, someTimes, mode, perturb, (history, after, mode, perturb) => {
      const times = [...new Set(after)].sort((a, b) => a - b).map((time) => 1_700_000_000 + time)
      const events = slowEventsOf(servedForm(history, perturb), mode)
      const open = new Map<string, Omit<OpenPosition, 'mint'>>()
      const found = cutsOf(history, times, { mode, perturb }).map(({ changed, ...cut }) => {
        for (const { mint, ...position } of changed)
          if (position.amount > 0n) open.set(mint, position)
          else open.delete(mint)
        return { ...cut, open: Object.fromEntries(open) }
      })
      const expected = times.map((time) => {
        const { open, ...sums } = slowProfitAt(events, time)
        return { time, ...sums, open: Object.fromEntries(open) }
      })
      t.deepEqual(found, expected)
    }),
    { numRuns: 300 },
  )
})

test('with transfers the positions add up to the metrics of the wallet (L7)', (t) => {
  fc.assert(
    fc.property(aHistory, (history) => {
      const state = createWalletState(7)
      for (const event of history) foldEvent(state, event)
      const positions = positionsOf(history, { mode: 'raw', perturb: null })
      const sum = (pick: (of: (typeof positions)[number]) => bigint | number) =>
        positions.reduce((all, position) => all + BigInt(pick(position)), 0n)
      t.deepEqual(
        {
          pnl: sum(({ realized }) => realized),
          bought: sum(({ boughtLamports }) => boughtLamports),
          sold: sum(({ soldLamports }) => soldLamports),
          invested: sum(({ cost }) => cost),
          open: positions.filter(({ amount }) => amount > 0n).length,
          buys: Number(sum(({ buys }) => buys)),
          sells: Number(sum(({ sells }) => sells)),
          traded: positions.filter(({ firstTradeTime }) => firstTradeTime !== null).length,
        },
        {
          pnl: state.pnl,
          bought: state.boughtLamports,
          sold: state.soldLamports,
          invested: state.investedOpen,
          open: state.openTokens,
          buys: state.buys,
          sells: state.sells,
          traded: state.uniqueTokensTraded,
        },
      )
    }),
  )
})

test('transfers that are added, removed or moved change no strict figure (L6)', (t) => {
  const isSwap = ({ kind }: FoldEvent) => kind === 'buy' || kind === 'sell'
  fc.assert(
    fc.property(aHistory, aHistory, perturb, (history, other, perturb) => {
      const swaps = history.filter(isSwap)
      // The transfers of another history, at other places among the same swaps.
      const moved = [
        ...swaps,
        ...other
          .filter((event) => !isSwap(event))
          .map((event) => ({ ...event, txIndex: 8, slot: event.slot + 1 })),
      ].sort((a, b) => a.slot - b.slot || a.txIndex - b.txIndex || a.eventIndex - b.eventIndex)
      const times = Array.from({ length: 20 }, (_, at) => 1_700_000_000 + at * 5000)
      const strict = { mode: 'strict', perturb } as const
      t.deepEqual(positionsOf(moved, strict), positionsOf(history, strict))
      t.deepEqual(positionsOf(swaps, strict), positionsOf(history, strict))
      t.deepEqual(cutsOf(swaps, times, strict), cutsOf(history, times, strict))
    }),
  )
})
