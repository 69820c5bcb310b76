import fc from 'fast-check'
import type { FoldEvent, FoldKind } from '../fold/fold-event.ts'

/**
 * Small amounts, which often meet thresholds (halves, 90%, consumed lots), and large ones that do
 * not divide evenly.
 */
const anAmount = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 1n, max: 20n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 30n }) },
)
const aValue = fc.option(
  fc.oneof(fc.bigInt({ min: 0n, max: 1000n }), fc.bigInt({ min: 0n, max: 10n ** 15n })),
  { freq: 6 },
)

/**
 * Any history of one wallet, in event-key order. It has few tokens, so that their events interact,
 * and times from seconds to hours apart.
 */
export const aHistory: fc.Arbitrary<FoldEvent[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom<FoldKind>(
        'buy',
        'buy',
        'buy',
        'sell',
        'sell',
        'sell',
        'token_in',
        'token_out',
        'sol_in',
        'sol_out',
      ),
      mint: fc.constantFrom('mintA', 'mintA', 'mintB', 'mintC'),
      amount: anAmount,
      value: aValue,
      sameTransaction: fc.boolean(),
      seconds: fc.oneof(fc.nat(16), fc.nat(16), fc.nat(20_000)),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let slot = 1000
    let eventIndex = -1
    let blockTime = 1_700_000_000
    return steps.map((step) => {
      const { kind, mint, amount, value, sameTransaction, seconds } = step
      if (sameTransaction) eventIndex += 1
      else {
        eventIndex = 0
        slot += 1 + (seconds % 3)
        blockTime += seconds
      }
      const isSol = kind === 'sol_in' || kind === 'sol_out'
      return {
        slot,
        txIndex: 7,
        eventIndex,
        blockTime,
        kind,
        mint: isSol ? '' : mint,
        decimals: isSol ? 9 : 6,
        amount,
        value: kind === 'buy' || kind === 'sell' ? value : null,
        solPriceUsdE9: kind === 'buy' || kind === 'sell' ? 140_000_000_000n : null,
      }
    })
  })

/** Splits a history at the given cuts. */
export const batchesOf = (events: readonly FoldEvent[], cuts: readonly number[]): FoldEvent[][] => {
  const ends = [...new Set(cuts.map((cut) => cut % (events.length + 1)))].sort((a, b) => a - b)
  return [...ends, events.length].map((end, at) => events.slice(ends[at - 1] ?? 0, end))
}
