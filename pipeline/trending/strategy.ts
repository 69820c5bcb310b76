import { compareFractions, decimalFraction, nearestTo } from '../domain/fraction.ts'
import { STRATEGY_FIELDS, type StrategyField } from './strategy-fields.ts'
import type { ExactToken } from './watched-token.ts'

/** A filter strategy (rule G5): conditions on tokens of the watchlist. */
export interface Strategy {
  /** Letters, digits and `_`. It names the strategy in signals and must not change. */
  readonly name: string
  /** Description of the strategy for users, in one sentence. */
  readonly description: string
  /** At least one condition; all must hold. */
  readonly conditions: readonly Condition[]
}

/** Comparison operators. Texts and flags allow `=` and `!=` only. */
export const OPS = ['>=', '>', '<=', '<', '=', '!='] as const
/** One of `OPS`. */
export type Op = (typeof OPS)[number]

/**
 * A comparison of a field, by its name in the contract (`momentum.holders.change_pct`), with a
 * threshold of the field's kind.
 */
export interface Condition {
  readonly field: string
  readonly op: Op
  readonly threshold: Threshold
}
/**
 * The value that a condition compares a field with. A number counts as the decimal number that it
 * prints as.
 */
export type Threshold = number | string | boolean

/** A condition that held, with the value it held for. A number is the double nearest to it. */
export interface Reason extends Condition {
  readonly value: Threshold
}

/**
 * Returns the reasons why a strategy holds for a listed token at tick `at`, one per condition; null
 * when a condition does not hold. Figures are compared exactly, never after rounding (rule G6). An
 * unknown figure satisfies no condition, not even `!=`.
 */
export function evaluate(
  strategy: Strategy,
  token: ExactToken,
  at: number,
): readonly Reason[] | null {
  for (const condition of strategy.conditions) if (!holds(condition, token, at)) return null
  return strategy.conditions.map((condition) => {
    const value = fieldOf(condition).read(token, at)
    if (value === null) throw new Error('a condition that holds has a value')
    return { ...condition, value: typeof value === 'object' ? nearestTo(value) : value }
  })
}

/** Whether a strategy can come to hold by time alone: it has a condition on a minimum age. */
export function canHoldByTimeAlone({ conditions }: Strategy): boolean {
  return conditions.some(({ field, op }) => field.endsWith('_seconds') && !op.startsWith('<'))
}

function fieldOf({ field }: Condition): StrategyField {
  const known = STRATEGY_FIELDS.get(field)
  if (known === undefined) throw new Error(`no such field: ${field}`)
  return known
}

function holds(condition: Condition, token: ExactToken, at: number): boolean {
  const { op, threshold } = condition
  const value = fieldOf(condition).read(token, at)
  if (value === null) return false
  if (typeof value !== 'object') return (value === threshold) === (op === '=')
  if (typeof threshold !== 'number') throw new Error('a number is compared with a number')
  const order = compareFractions(value, decimalFraction(threshold))
  switch (op) {
    case '>=':
      return order >= 0
    case '>':
      return order > 0
    case '<=':
      return order <= 0
    case '<':
      return order < 0
    case '=':
      return order === 0
    case '!=':
      return order !== 0
  }
}
