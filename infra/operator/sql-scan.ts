import { isAllowedFunction } from './sql-functions.ts'

/** The databases that a query may name with a dot. */
export interface Databases {
  /** The database of the service, where names without a database are looked up. */
  readonly own: string
  /** Every database that the engine has. */
  readonly all: readonly string[]
}

/**
 * The first thing in a query that `operator sql` does not allow, as a text that names it; null for
 * a query that may run. `text` is what `formatQuery` of ClickHouse made of one statement: comments
 * are gone, escapes are decoded, every call is `name(...)` or an operator, and what has to be
 * quoted stands in backticks. `EXPLAIN AST` is no help here: it leaves out what stands in `OVER
 * (...)` and `APPLY`. `functions` are the names of all functions that the engine has, in lower case.
 */
export function findForbidden(
  text: string,
  databases: Databases,
  functions: ReadonlySet<string>,
): string | null {
  const tokens = readTokens(text)
  if (typeof tokens === 'string') return tokens
  for (let at = 0; at < tokens.length; at++) {
    const name = tokens[at]
    if (name?.kind !== 'name') continue
    if (name.text === 'SETTINGS' && !name.isQuoted) {
      const setting = forbiddenSetting(tokens, at + 1)
      if (setting !== null) return setting
      continue
    }
    const isApplied = isWord(tokens[at - 1], 'APPLY')
    const path = readPath(tokens, at)
    if (path.includes(SALT_TABLE)) return `table ${SALT_TABLE}`
    at += 2 * (path.length - 1)
    if (path.length > 1 && isForbiddenTable(path, databases)) return `table ${path.join('.')}`
    const isCalled = isMark(tokens[at + 1], '(') && !(KEYWORDS.has(name.text) && !name.isQuoted)
    if (isCalled && isView(path.join('.'), databases)) continue
    // A bare name of a function is taken for a lambda: `arrayMap(file, ...)`.
    const isLambda =
      path.length === 1 && functions.has(name.text.toLowerCase()) && !COLUMNS.has(name.text)
    if ((isCalled || isApplied || isLambda) && !isAllowedFunction(path.join('.')))
      return `function ${path.join('.')}()`
  }
  return null
}

interface Token {
  readonly kind: 'name' | 'mark' | 'value'
  /** Of a name in backticks what stands between them. */
  readonly text: string
  readonly isQuoted: boolean
}

const isMark = (token: Token | undefined, text: string) =>
  token?.kind === 'mark' && token.text === text
const isWord = (token: Token | undefined, text: string) =>
  token?.kind === 'name' && !token.isQuoted && token.text === text

/** A space; a string; a name in backticks; a word; a number; a mark. */
const TOKEN =
  /[ \n]+|('[^'\\]*(?:\\.[^'\\]*)*')|`([^`\\]*(?:\\.[^`\\]*)*)`|([A-Za-z_]\w*)|(\d[\w.]*)|(--|\/[*/]|[()[\],.*+\-/%<>=!?:^])/sy

/** The tokens of a query; a text where one of them is not what `formatQuery` writes of a SELECT. */
function readTokens(text: string): readonly Token[] | string {
  const tokens: Token[] = []
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const from = TOKEN.lastIndex
    const found = TOKEN.exec(text)
    const [, string, quoted, word, number, mark] = found ?? []
    if (found === null || (mark !== undefined && mark.length > 1))
      return `${text.slice(from, from + 10).split('\n')[0]}`
    if (quoted !== undefined) tokens.push({ kind: 'name', text: quoted, isQuoted: true })
    else if (word !== undefined) tokens.push({ kind: 'name', text: word, isQuoted: false })
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark, isQuoted: false })
    else if (string !== undefined || number !== undefined)
      tokens.push({ kind: 'value', text: string ?? number ?? '', isQuoted: false })
  }
  return tokens
}

/** `a`, `a.b`, `a.b.c`: names with dots between them. */
function readPath(tokens: readonly Token[], from: number): readonly string[] {
  const path = [tokens[from]?.text ?? '']
  for (let at = from; isMark(tokens[at + 1], '.') && tokens[at + 2]?.kind === 'name'; at += 2)
    path.push(tokens[at + 2]?.text ?? '')
  return path
}

/**
 * Whether a called name is that of a view with parameters in an open database: functions have no
 * dot.
 */
function isView(name: string, databases: Databases): boolean {
  const [database = '', view, ...more] = name.split('.')
  return (
    view !== undefined &&
    view !== SALT_TABLE &&
    more.length === 0 &&
    database !== 'system' &&
    databases.all.includes(database) &&
    !isForbiddenTable([database, view], databases)
  )
}

/**
 * Whether a path begins with a database that is closed. Which paths are tables is not looked at: no
 * alias or column of ours has the name of a database.
 */
function isForbiddenTable([database = '', table = '']: readonly string[], databases: Databases) {
  if (!databases.all.includes(database)) return false
  if (database === databases.own || /^analyst(?:_|$)/.test(database)) return false
  return !(database === 'system' && SYSTEM_TABLES.has(table))
}

/** Columns of readable tables that have the names of functions; as lambdas these are harmless. */
const COLUMNS: ReadonlySet<string> = new Set(['database', 'format', 'path', 'revision', 'user'])

/** Holds `PRIVACY_SALT` for the views of analysts. No query shows it. */
const SALT_TABLE = 'privacy_salt'

const SYSTEM_TABLES: ReadonlySet<string> = new Set([
  ...['columns', 'databases', 'data_skipping_indices', 'functions', 'numbers', 'one', 'parts'],
  ...['parts_columns', 'projection_parts', 'tables'],
])

/**
 * Settings that change how a query runs or what it joins, by the largest number that they may have.
 */
const SETTINGS: ReadonlyMap<string, number> = new Map([
  ['final', 1],
  ['group_by_use_nulls', 1],
  ['join_use_nulls', 1],
  ['max_block_size', 1_000_000],
  ['max_execution_time', 30],
  ['max_threads', 64],
])

/** `name = 1, name = 2` */
function forbiddenSetting(tokens: readonly Token[], from: number): string | null {
  for (let at = from; ; at += 4) {
    const [name, equals, value, next] = tokens.slice(at, at + 4)
    const number = value?.kind === 'value' ? Number(value.text) : Number.NaN
    const isHarmless =
      isMark(equals, '=') && number > 0 && number <= (SETTINGS.get(name?.text ?? '') ?? -1)
    if (!isHarmless) return `SETTINGS ${name?.text ?? ''} (with this value)`
    if (!isMark(next, ',')) return null
  }
}

/** Words that stand before a parenthesis and call nothing. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...[
    'ALL',
    'AND',
    'APPLY',
    'AS',
    'BETWEEN',
    'BY',
    'COLUMNS',
    'DISTINCT',
    'EXCEPT',
    'FROM',
    'HAVING',
  ],
  ...['ILIKE', 'IN', 'INTERPOLATE', 'INTERSECT', 'JOIN', 'LIKE', 'LIMIT', 'MATERIALIZED', 'NOT'],
  ...[
    'OFFSET',
    'ON',
    'OR',
    'OVER',
    'PREWHERE',
    'QUALIFY',
    'REPLACE',
    'SELECT',
    'SETS',
    'STEP',
    'TO',
  ],
  ...['USING', 'WHERE', 'WITH'],
])
