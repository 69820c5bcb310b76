import { type FieldValue, STRATEGY_FIELDS, type StrategyField } from './strategy-fields.ts'
import type { WatchedToken } from './watched-token.ts'

/** A filter strategy (rule G5): conditions on tokens of the watchlist. */
export interface Strategy {
  /** Letters, digits and `_`. It names the strategy in signals and must not change. */
  readonly name: string
  /** Description of the strategy for users, in one sentence. */
  readonly description: string
  /** At least one; all must hold. */
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
/** The value that a condition compares a field with. */
export type Threshold = Exclude<FieldValue, null>

/** A condition that held, with the value it held for. */
export interface Reason extends Condition {
  readonly value: Threshold
}

/**
 * Returns the reasons why a strategy holds for a listed token at tick `at`, one per condition; null
 * when a condition does not hold. An unknown figure satisfies no condition, not even `!=`.
 */
export function evaluate(
  strategy: Strategy,
  token: WatchedToken,
  at: number,
): readonly Reason[] | null {
  for (const condition of strategy.conditions) {
    const value = fieldOf(condition).read(token, at)
    if (value === null || !compare(value, condition.op, condition.threshold)) return null
  }
  return strategy.conditions.map((condition) => {
    const value = fieldOf(condition).read(token, at)
    if (value === null) throw new Error('a condition that holds has a value')
    return { ...condition, value }
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

function compare(value: Threshold, op: Op, threshold: Threshold): boolean {
  switch (op) {
    case '>=':
      return value >= threshold
    case '>':
      return value > threshold
    case '<=':
      return value <= threshold
    case '<':
      return value < threshold
    case '=':
      return value === threshold
    case '!=':
      return value !== threshold
  }
}
