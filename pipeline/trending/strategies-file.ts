import { join } from 'node:path'
import type { Node } from 'jsonc-parser'
import { ServiceError } from '../domain/service-error.ts'
import { Faults, isListOf, parseLocated, readMembers } from './located-json.ts'
import { type Condition, OPS, type Strategy, type Threshold } from './strategy.ts'
import { STRATEGY_FIELDS } from './strategy-fields.ts'

/** Path of the strategies that ship with the program, used when `STRATEGIES_FILE` is unset. */
export const SHIPPED_STRATEGIES = join(
  import.meta.dirname,
  '../../../pipeline/trending/strategies.jsonc',
)

const MAX_CHARACTERS = 1_000_000
const MAX_STRATEGIES = 100
const MAX_CONDITIONS = 32
const MAX_DESCRIPTION = 300
/** Maximum number of faults reported for one file; further ones are counted. */
const MAX_FAULTS_SHOWN = 50

/**
 * Parses a file of strategies (rule G5): JSON with comments,
 *
 * `{"strategies": [{"name": "...", "description": "...", "conditions": [{"field":
 * "wallets_holding", "op": ">=", "value": 3}]}]}`.
 *
 * Throws a ServiceError `bad_strategies_file` that reports all faults, each with line, column,
 * strategy and field. `key` is the setting that named the file.
 */
export function parseStrategies(
  text: string,
  file: string,
  key = 'STRATEGIES_FILE',
): readonly Strategy[] {
  const faults = new Faults(text)
  const strategies = readDocument(text, faults)
  if (faults.lines.length === 0) return strategies
  const count = faults.lines.length
  const shown = faults.lines.slice(0, MAX_FAULTS_SHOWN)
  if (count > shown.length) shown.push(`and ${count - shown.length} more`)
  throw new ServiceError(
    'bad_strategies_file',
    `${key}: ${count === 1 ? '1 fault' : `${count} faults`} in ${file}:\n${shown.map((line) => `  ${line}`).join('\n')}`,
    { context: { file, faults: count } },
  )
}

function readDocument(text: string, faults: Faults): readonly Strategy[] {
  if (text.length > MAX_CHARACTERS) {
    faults.add(0, '', `is longer than ${MAX_CHARACTERS} characters`)
    return []
  }
  const root = parseLocated(text, faults)
  if (root === null) return []
  const members = readMembers(root, ['strategies'], '', faults)
  const list = members?.get('strategies')
  if (list === undefined) return []
  if (!isListOf(list, 'strategies', 0, MAX_STRATEGIES, 'strategies', faults)) return []
  const named = new Map<string, Node>()
  return (list.children ?? []).flatMap((node, at) => {
    const strategy = readStrategy(node, `strategies[${at}]`, faults, named)
    return strategy === null ? [] : [strategy]
  })
}

function readStrategy(
  node: Node,
  path: string,
  faults: Faults,
  named: Map<string, Node>,
): Strategy | null {
  const members = readMembers(node, ['name', 'description', 'conditions'], path, faults)
  if (members === null) return null
  const name = readName(members.get('name'), path, faults, named)
  const where = name === null ? path : `strategy ${name}`
  const description = readDescription(members.get('description'), where, faults)
  const list = members.get('conditions')
  if (list === undefined) return null
  if (!isListOf(list, `${where}, conditions`, 1, MAX_CONDITIONS, 'conditions', faults)) return null
  const conditions = (list.children ?? []).map((condition, at) =>
    readCondition(condition, `${where}, conditions[${at}]`, faults),
  )
  return {
    name: name ?? '',
    description: description ?? '',
    conditions: conditions.filter((one) => one !== null),
  }
}

function readName(
  node: Node | undefined,
  path: string,
  faults: Faults,
  named: Map<string, Node>,
): string | null {
  if (node === undefined) return null
  const { value } = node
  if (typeof value !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(value)) {
    const expected = 'expected 1 to 64 letters a to z, digits and _, for example early_accumulation'
    faults.add(node.offset, `${path}.name`, expected)
    return null
  }
  const twin = named.get(value)
  if (twin === undefined) named.set(value, node)
  else
    faults.add(
      node.offset,
      `strategy ${value}, name`,
      `same name as in line ${faults.position(twin.offset).line}`,
    )
  return value
}

function readDescription(node: Node | undefined, where: string, faults: Faults): string | null {
  if (node === undefined) return null
  const { value } = node
  if (typeof value === 'string' && value.trim() !== '' && value.length <= MAX_DESCRIPTION)
    return value
  const expected = `expected a sentence of at most ${MAX_DESCRIPTION} characters`
  faults.add(node.offset, `${where}, description`, expected)
  return null
}

function readCondition(node: Node, where: string, faults: Faults): Condition | null {
  const members = readMembers(node, ['field', 'op', 'value'], where, faults)
  const fieldNode = members?.get('field')
  const opNode = members?.get('op')
  const valueNode = members?.get('value')
  const name: unknown = fieldNode?.value
  const field = typeof name === 'string' ? STRATEGY_FIELDS.get(name) : undefined
  if (fieldNode !== undefined && field === undefined)
    faults.add(fieldNode.offset, `${where}.field`, unknownField(name))
  const named = field === undefined ? where : `${where} (${name})`
  const op = OPS.find((known) => known === opNode?.value)
  if (opNode !== undefined) {
    const ops = field === undefined || field.kind === 'number' ? OPS : EQUALITY
    if (!ops.some((known) => known === op))
      faults.add(opNode.offset, `${named}.op`, `expected one of ${ops.join(' ')}`)
  }
  if (valueNode === undefined || field === undefined) return null
  const threshold: unknown = valueNode.value
  const expected = thresholdFault(field, threshold)
  if (expected !== null) faults.add(valueNode.offset, `${named}.value`, expected)
  if (op === undefined || typeof name !== 'string' || !isThreshold(threshold)) return null
  return { field: name, op, threshold }
}

const EQUALITY = ['=', '!='] as const
type Field = NonNullable<ReturnType<typeof STRATEGY_FIELDS.get>>

function isThreshold(value: unknown): value is Threshold {
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
}

/** Describes the expected threshold; null if `value` is valid. */
function thresholdFault(field: Field, value: unknown): string | null {
  switch (field.kind) {
    case 'flag':
      return typeof value === 'boolean' ? null : 'expected true or false'
    case 'text':
      if (field.values === null)
        return typeof value === 'string' && value !== '' ? null : 'expected a text'
      return typeof value === 'string' && field.values.includes(value)
        ? null
        : `expected one of ${field.values.map((text) => `"${text}"`).join(', ')}`
    case 'number': {
      const { min, max } = field
      if (typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max)
        return null
      return max === Number.POSITIVE_INFINITY
        ? `expected a number of at least ${min}`
        : `expected a number from ${min} to ${max}`
    }
  }
}

function unknownField(name: unknown): string {
  if (typeof name !== 'string') return 'expected the name of a field of the watchlist'
  const known = [...STRATEGY_FIELDS.keys()]
  const [nearest] = known
    .map((field) => ({ field, distance: editDistance(name, field) }))
    .sort((a, b) => a.distance - b.distance)
  return nearest !== undefined && nearest.distance <= 3
    ? `the watchlist has no field "${name}"; did you mean ${nearest.field}?`
    : `the watchlist has no field "${name}"; it has ${known.join(', ')}`
}

/** Levenshtein distance: the number of letters inserted, deleted or changed. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...a].slice(0, 64).entries()) {
    const next = [at + 1]
    for (let to = 1; to <= b.length; to += 1) {
      const changed = (row[to - 1] ?? 0) + (b[to - 1] === letter ? 0 : 1)
      next.push(Math.min(changed, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
