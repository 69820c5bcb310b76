import { type FieldValue, STRATEGY_FIELDS, type StrategyField } from './strategy-fields.ts'
import type { WatchedToken } from './watched-token.ts'

/** A filter strategy (rule G5): what is looked for among the tokens of the watchlist. */
export interface Strategy {
  /** Letters, digits and `_`; names it in signals for ever. */
  readonly name: string
  /** What it looks for, in a sentence for people. */
  readonly description: string
  /** At least one; all must hold. */
  readonly conditions: readonly Condition[]
}

/** How a figure is compared with its threshold; texts and flags by `=` and `!=` alone. */
export const OPS = ['>=', '>', '<=', '<', '=', '!='] as const
export type Op = (typeof OPS)[number]

/** One comparison, of a field by its name in the contract (`momentum.holders.change_pct`), with a threshold of the field's kind. */
export interface Condition {
  readonly field: string
  readonly op: Op
  readonly threshold: Threshold
}
export type Threshold = Exclude<FieldValue, null>

/** A condition that held, with the value that it held for. */
export interface Reason extends Condition {
  readonly value: Threshold
}

/** Why a strategy holds of a listed token at tick `at`, condition by condition; null when one does not. What is not known satisfies no condition, not even `!=`. */
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

/** Whether a strategy may come to hold of a token by time alone: it asks for an age that is more than something. */
export function growsInto({ conditions }: Strategy): boolean {
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
