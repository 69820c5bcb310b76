import { isAllowedFunction } from './sql-functions.ts'

/** The databases that a query may name with a dot. */
export interface Databases {
  /** The database of the service, where names without a database are looked up. */
  readonly own: string
  /** Every database that the engine has. */
  readonly all: readonly string[]
}

/**
 * Returns the first function, table or setting in a query that `operator sql` does not allow; null
 * for a query that may run. `text` is one statement as ClickHouse's `formatQuery` writes it:
 * without comments, with decoded escapes, every call as `name(...)` or an operator, and quoted
 * names in backticks. `EXPLAIN AST` cannot replace this scan: it omits the content of `OVER (...)`
 * and `APPLY`. `functions` are the lower-case names of all functions of the engine.
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
    const secret = path.find((part) => SECRET_TABLES.has(part))
    if (secret !== undefined) return `table ${secret}`
    at += 2 * (path.length - 1)
    if (path.length > 1 && isForbiddenTable(path, databases)) return `table ${path.join('.')}`
    const isCalled = isMark(tokens[at + 1], '(') && !(KEYWORDS.has(name.text) && !name.isQuoted)
    if (isCalled && isView(path.join('.'), databases)) continue
    // ClickHouse takes the bare name of a function for a lambda: `arrayMap(file, ...)`.
    const isLambda =
      path.length === 1 && functions.has(name.text.toLowerCase()) && !COLUMNS.has(name.text)
    if ((isCalled || isApplied || isLambda) && !isAllowedFunction(path.join('.')))
      return `function ${path.join('.')}()`
  }
  return null
}

interface Token {
  readonly kind: 'name' | 'mark' | 'value'
  /** The text of the token; of a quoted name without its backticks. */
  readonly text: string
  readonly isQuoted: boolean
}

const isMark = (token: Token | undefined, text: string) =>
  token?.kind === 'mark' && token.text === text
const isWord = (token: Token | undefined, text: string) =>
  token?.kind === 'name' && !token.isQuoted && token.text === text

/** Space, string, name in backticks, word, number, or punctuation mark. */
const TOKEN =
  /[ \n]+|('[^'\\]*(?:\\.[^'\\]*)*')|`([^`\\]*(?:\\.[^`\\]*)*)`|([A-Za-z_]\w*)|(\d[\w.]*)|(--|\/[*/]|[()[\],.*+\-/%<>=!?:^])/sy

/** The tokens of a query. Returns a text if `formatQuery` would not write one of them. */
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

/** Reads names with dots between them: `a`, `a.b`, `a.b.c`. */
function readPath(tokens: readonly Token[], from: number): readonly string[] {
  const path = [tokens[from]?.text ?? '']
  for (let at = from; isMark(tokens[at + 1], '.') && tokens[at + 2]?.kind === 'name'; at += 2)
    path.push(tokens[at + 2]?.text ?? '')
  return path
}

/**
 * Whether a called name is a view with parameters in a readable database. Names of functions have
 * no dot.
 */
function isView(name: string, databases: Databases): boolean {
  const [database = '', view, ...more] = name.split('.')
  return (
    view !== undefined &&
    !SECRET_TABLES.has(view) &&
    more.length === 0 &&
    database !== 'system' &&
    databases.all.includes(database) &&
    !isForbiddenTable([database, view], databases)
  )
}

/**
 * Whether a path begins with a database or table that may not be read. A path need not be a table
 * for this check: no alias or column of the service has the name of a database.
 */
function isForbiddenTable([database = '', table = '']: readonly string[], databases: Databases) {
  if (!databases.all.includes(database)) return false
  if (database === databases.own || /^analyst(?:_|$)/.test(database)) return false
  return !(database === 'system' && SYSTEM_TABLES.has(table))
}

/** Columns of readable tables that share names with functions, harmless ones as lambdas. */
const COLUMNS: ReadonlySet<string> = new Set(['database', 'format', 'path', 'revision', 'user'])

/** Tables with what the views of analysts keep secret. No query may read them. */
const SECRET_TABLES: ReadonlySet<string> = new Set(['event_id_key', 'privacy_salt'])

const SYSTEM_TABLES: ReadonlySet<string> = new Set(
  `columns databases data_skipping_indices functions numbers one parts parts_columns
   projection_parts tables`.split(/\s+/),
)

/** Settings that a query may change, with the largest allowed number. */
const SETTINGS: ReadonlyMap<string, number> = new Map([
  ['final', 1],
  ['group_by_use_nulls', 1],
  ['join_use_nulls', 1],
  ['max_block_size', 1_000_000],
  ['max_execution_time', 30],
  ['max_threads', 64],
])

/** The first forbidden setting in `name = 1, name = 2`; null if all are allowed. */
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

/** Keywords that may precede a parenthesis without calling a function. */
const KEYWORDS: ReadonlySet<string> = new Set(
  `ALL AND APPLY AS BETWEEN BY COLUMNS DISTINCT EXCEPT FROM HAVING ILIKE IN INTERPOLATE INTERSECT
   JOIN LIKE LIMIT MATERIALIZED NOT OFFSET ON OR OVER PREWHERE QUALIFY REPLACE SELECT SETS STEP
   TO USING WHERE WITH`.split(/\s+/),
)
