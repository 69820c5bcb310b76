import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

/** Reads JSON with comments as values that know where they stand; null when it is none, or empty: of that faults are told, one a line, and nothing of what follows from them. */
export function parseLocated(text: string, faults: Faults): Node | null {
  const errors: ParseError[] = []
  const root = parseTree(text, errors)
  for (const { error, offset } of errors) faults.addFirstOfLine(offset, syntaxFault(error))
  return errors.length > 0 ? null : (root ?? null)
}

/** Faults of a text, in the order in which they are found, each with its place. */
export class Faults {
  readonly lines: string[] = []
  readonly #text: string
  #lastLine = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Line and column, from 1, the column in characters. */
  place(offset: number): { line: number; column: number } {
    const before = this.#text.slice(0, offset).split('\n')
    return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }

  add(offset: number, where: string, what: string): void {
    const { line, column } = this.place(offset)
    this.lines.push(`line ${line}:${column}${where === '' ? '' : `, ${where}`}: ${what}`)
  }

  addFirstOfLine(offset: number, what: string): void {
    const { line } = this.place(offset)
    if (line > this.#lastLine) this.add(offset, '', what)
    this.#lastLine = Math.max(line, this.#lastLine)
  }
}

/** The members of an object that has just these, each once; null when it is no object. Of what is missing or strange a fault is told. */
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
    if (name === undefined) faults.add(offset, where, `no member "${key?.value}" is known here`)
    else if (members.has(name)) faults.add(offset, where, `has the member ${name} twice`)
    else if (value !== undefined) members.set(name, value)
  }
  for (const name of names)
    if (!members.has(name)) faults.add(node.offset, where, `lacks the member ${name}`)
  return members
}

/** Whether a value is a list of so many; else a fault is told. `what` names its elements. */
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

/** `CommaExpected`: "comma expected". */
function syntaxFault(error: ParseError['error']): string {
  const words = printParseErrorCode(error).replace(/([a-z])([A-Z])/g, '$1 $2')
  return `no JSON: ${words.toLowerCase()}`
}
