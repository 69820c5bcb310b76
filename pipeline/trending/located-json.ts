import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

/**
 * Parses JSON with comments into nodes with offsets. Null when it is invalid or empty: syntax
 * errors are then added to `faults`, at most one per line.
 */
export function parseLocated(text: string, faults: Faults): Node | null {
  const errors: ParseError[] = []
  const root = parseTree(text, errors)
  for (const { error, offset } of errors) faults.addFirstOfLine(offset, syntaxFault(error))
  return errors.length > 0 ? null : (root ?? null)
}

/** Faults of a text in the order of detection, each with its position. */
export class Faults {
  readonly lines: string[] = []
  readonly #text: string
  #lastLine = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Line and column of an offset, both from 1; the column counts characters. */
  position(offset: number): { line: number; column: number } {
    const before = this.#text.slice(0, offset).split('\n')
    return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }

  /** Adds a fault at an offset. `where` names the element, empty for none. */
  add(offset: number, where: string, what: string): void {
    const { line, column } = this.position(offset)
    this.lines.push(`line ${line}:${column}${where === '' ? '' : `, ${where}`}: ${what}`)
  }

  /** Adds a fault unless its line already has one. */
  addFirstOfLine(offset: number, what: string): void {
    const { line } = this.position(offset)
    if (line > this.#lastLine) this.add(offset, '', what)
    this.#lastLine = Math.max(line, this.#lastLine)
  }
}

/**
 * Returns the members of an object that must have exactly these names, each once; null when it is
 * not an object. Adds a fault for each missing, unknown or repeated member.
 */
export function readMembers<Name extends string>(
  node: Node,
  names: readonly Name[],
  where: string,
  faults: Faults,
): ReadonlyMap<Name, Node> | null {
  if (node.type !== 'object') {
    faults.add(node.offset, where, `expected an object of ${names.join(', ')}`)
    return null
  }
  const members = new Map<Name, Node>()
  for (const { children = [], offset } of node.children ?? []) {
    const [key, value] = children
    const name = names.find((known) => known === key?.value)
    if (name === undefined) faults.add(offset, where, `unknown member "${key?.value}"`)
    else if (members.has(name)) faults.add(offset, where, `duplicate member ${name}`)
    else if (value !== undefined) members.set(name, value)
  }
  for (const name of names)
    if (!members.has(name)) faults.add(node.offset, where, `missing member ${name}`)
  return members
}

/**
 * Whether a value is a list with `min` to `max` elements; adds a fault otherwise. `what` names the
 * elements.
 */
export function isListOf(
  node: Node,
  where: string,
  min: number,
  max: number,
  what: string,
  faults: Faults,
): boolean {
  const length = node.type === 'array' ? (node.children ?? []).length : -1
  if (length >= min && length <= max) return true
  faults.add(node.offset, where, `expected a list of ${min} to ${max} ${what}`)
  return false
}

/** Text of a syntax error: `CommaExpected` gives "comma expected". */
function syntaxFault(error: ParseError['error']): string {
  const words = printParseErrorCode(error).replace(/([a-z])([A-Z])/g, '$1 $2')
  return `invalid JSON: ${words.toLowerCase()}`
}
