import test from 'ava'
import fc from 'fast-check'
import { decimalFraction, type Fraction, fraction } from '../domain/fraction.ts'
import { anExactToken } from '../testing/a-watched-token.ts'
import type { Strategy } from './strategy.ts'
import { OutcomeTracker } from './strategy-outcomes.ts'
import { type Signal, SignalDetector } from './strategy-signal.ts'

const AT = 1_790_000_000

test('the outcome of a signal follows from the market caps after it, with any of them unknown', (t) => {
  const known = fc.option(fc.integer({ min: 1, max: 5 }), { freq: 2 })
  const steps = 60 // of half an hour
  fc.assert(
    fc.property(
      fc.array(fc.array(known, { minLength: steps, maxLength: steps }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.array(fc.record({ step: fc.nat(steps - 1), mint: fc.nat(2) }), { maxLength: 6 }),
      (courses, firings) => {
        const outcomes = new OutcomeTracker()
        const followed: [number, number][] = []
        for (let step = 0; step < steps; step += 1) {
          const mcapOf = (mint: string) => exactOf(courses[Number(mint)]?.[step] ?? null)
          const fired = firings.filter((firing) => firing.step === step)
          followed.push(...fired.map(({ mint }): [number, number] => [step, mint]))
          const signals = fired.map(({ mint }) => ({
            ...SIGNAL,
            mint: String(mint),
            firedAt: AT + 1800 * step,
            triggerMcap: mcapOf(String(mint)),
          }))
          outcomes.add({ at: AT + 1800 * step, mcapOf }, signals)
        }
        const expected = followed.map(([step, mint]) => {
          const course = courses[mint] ?? []
          const trigger = course[step] ?? null
          const nothing = { after1h: null, after24h: null, peak: null, peakAt: null }
          if (trigger === null) return nothing
          const later = course.slice(step, step + 49)
          const last = (count: number) =>
            step + count < steps
              ? (later.slice(0, count + 1).findLast((mcap) => mcap !== null) ?? 0) / trigger
              : null
          const peak = Math.max(...later.map((mcap) => mcap ?? 0))
          const peakAt = AT + 1800 * (step + later.indexOf(peak))
          return { after1h: last(2), after24h: last(48), peak: peak / trigger, peakAt }
        })
        t.deepEqual(
          outcomes.outcomes().map(({ outcome }) => outcome),
          expected,
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('the multiples of a signal are rounded once, and its peak is compared exactly', (t) => {
  const outcomes = new OutcomeTracker()
  const cap = (numerator: bigint) => fraction(numerator, 3n * 10n ** 30n)
  const [trigger, higher] = [cap(10n ** 30n), cap(10n ** 30n + 1n)]
  outcomes.add({ at: AT, mcapOf: () => trigger }, [
    { ...SIGNAL, firedAt: AT, triggerMcap: trigger },
  ])
  outcomes.add({ at: AT + 10, mcapOf: () => higher }, [])
  outcomes.add({ at: AT + 3600, mcapOf: () => fraction(7n, 30n) }, [])
  t.deepEqual(
    outcomes.outcomes().map(({ outcome }) => outcome),
    [{ after1h: 0.7, after24h: null, peak: 1, peakAt: AT + 10 }],
  )
})

const ANY: Strategy = {
  name: 'any',
  description: 'For tests.',
  conditions: [{ field: 'wallets_holding', op: '>=', threshold: 0 }],
}

const SIGNAL = new SignalDetector().detect([ANY], {
  at: AT,
  listed: [anExactToken()],
})[0] as Signal // it holds

function exactOf(value: number | null): Fraction | null {
  return value === null ? null : decimalFraction(value)
}
