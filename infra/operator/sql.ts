import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { connectReader } from '../../pipeline/store/clickhouse.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Command, CommandResult } from './command.ts'
import type { OperatorParts } from './parts.ts'
import { findForbidden } from './sql-scan.ts'

const MAX_ROWS = 100_000

const READS_ONLY =
  'reads only: one SELECT (also WITH ... SELECT or EXPLAIN SELECT), DESCRIBE TABLE <name>, or SHOW TABLES'

/**
 * `sql '<select>'`: runs one query that only reads. 64-bit and wider integers come as decimal
 * strings. The engine's own parser formats the query first. The formatted text runs if every
 * function and table in it is on the lists of `findForbidden`.
 */
export const sql: Command = {
  name: 'sql',
  summary: 'Runs one query that only reads.',
  usage: `'<select>'`,
  async run(args, parts) {
    const [text, ...more] = args
    if (text === undefined || more.length > 0) {
      throw new ServiceError('invalid_argument', 'expected one query, in quotes')
    }
    const query = text.replace(/[\s;]+$/, '')
    const reader = await openReader(parts)
    try {
      return await answer(reader.store, query)
    } finally {
      await reader.close()
    }
  },
}

async function answer(store: Store, query: string): Promise<CommandResult> {
  const items = (await describe(store, query)) ?? (await select(store, query))
  if (items.length > MAX_ROWS) {
    throw new ServiceError('invalid_argument', `more than ${MAX_ROWS} rows: add a LIMIT`)
  }
  return { document: { items } }
}

/**
 * Opens the store that runs the query. On a server it is a separate connection of a user who may
 * only read. The embedded engine has no users.
 */
async function openReader({ store, readerUrl }: OperatorParts) {
  if (store.kind === 'chdb') return { store, close: async () => {} }
  if (readerUrl === null)
    throw new ServiceError(
      'bad_config',
      'CLICKHOUSE_READER_URL: required by sql with CLICKHOUSE_URL: a ClickHouse user who may only read (infra/clickhouse/users.d/reader.xml), for example http://reader:password@clickhouse:8123/tracked_wallets',
    )
  const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  const reader = await connectReader(readerUrl, own?.name ?? '')
  return { store: reader, close: () => reader.close() }
}

/** The rows of DESCRIBE and SHOW TABLES; null for another query. */
async function describe(store: Store, query: string): Promise<readonly unknown[] | null> {
  const described = /^\s*DESC(?:RIBE)?\s+(?:TABLE\s+)?(?:(\w+)\.)?(\w+)$/i.exec(query)
  if (described !== null) {
    const [, database = '', table = ''] = described
    const columns = await store.query<unknown>(
      `SELECT name, type, comment FROM system.columns WHERE database = ${DATABASE} AND table = {table:String} ORDER BY position`,
      { database, table },
    )
    if (columns.length > 0) return columns
    throw new ServiceError(
      'invalid_argument',
      'no such table: SHOW TABLES lists the tables, SHOW TABLES FROM analyst the views',
    )
  }
  const shown = /^\s*SHOW\s+TABLES(?:\s+(?:FROM|IN)\s+(\w+))?$/i.exec(query)
  if (shown === null) return null
  return store.query(
    `SELECT name, comment FROM system.tables WHERE database = ${DATABASE} ORDER BY name`,
    { database: shown[1] ?? '' },
  )
}

const DATABASE = `if({database:String} = '', currentDatabase(), {database:String})`

/**
 * Wraps the query in another one, where only a SELECT or its EXPLAIN is grammatical. On a server an
 * EXPLAIN stays as it is, because wrapped it takes a grant that the reader does not have. The
 * embedded engine has no users with limits, so the limits are added here.
 */
function inner(kind: Store['kind'], query: string): string {
  if (kind === 'clickhouse' && /^EXPLAIN\s/.test(query)) return query
  const limits =
    kind === 'clickhouse'
      ? ''
      : ' SETTINGS max_memory_usage = 1000000000, max_result_bytes = 256000000'
  return `SELECT * FROM (\n${query}\n) LIMIT ${MAX_ROWS + 1}${limits}`
}

async function select(store: Store, query: string): Promise<readonly unknown[]> {
  const word = /^(?:\s|\(|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(\w*)/.exec(query)?.[1] ?? ''
  if (!/^(SELECT|WITH|FROM|EXPLAIN)$/i.test(word)) throw refusal(READS_ONLY)
  const read = await readAsEngine(store, query).catch((error: unknown) => {
    throw refusalOf(error, (message) => grammarFaultOf(message, query))
  })
  const { formatted } = read
  const forbidden = findForbidden(formatted, read, new Set(read.functions))
  if (/^EXPLAIN AST\s|\sINTO OUTFILE\s/.test(formatted)) throw refusal(READS_ONLY)
  if (/\sFORMAT \w+$/.test(formatted)) throw refusal('leave out FORMAT: the answer is JSON')
  if (forbidden !== null) throw refusal(`${forbidden} is not allowed: ${ALLOWED}`)
  // The formatter drops the backticks of a function after `APPLY`, which may change its meaning.
  if (read.again !== formatted) throw refusal(AMBIGUOUS)
  return store.query<unknown>(inner(store.kind, formatted)).catch((error: unknown) => {
    throw refusalOf(error, (message) =>
      message.includes('Syntax error') ? READS_ONLY : (message.split('\n')[0] ?? 'refused'),
    )
  })
}

const ALLOWED =
  'sql reads tables of this database, of analyst and a few of system, with functions that compute'

const AMBIGUOUS =
  'the query reads differently once it is formatted: leave out quoted names with dots or commas'

/** The query as the engine's parser formats it, with the databases and functions there are. */
async function readAsEngine(store: Store, query: string) {
  const [read] = await store.query<{
    formatted: string
    again: string
    own: string
    all: string[]
  }>(
    `SELECT formatQuery({query:String}) AS formatted, formatQueryOrNull(formatted) AS again,
       currentDatabase() AS own, (SELECT groupArray(name) FROM system.databases) AS all`,
    { query },
    ['formatted', 'again', 'own', 'all'],
  )
  const [known] = await store.query<{ functions: string[] }>(
    'SELECT groupArray(lower(name)) AS functions FROM system.functions',
    undefined,
    ['functions'],
  )
  if (read === undefined || known === undefined) throw refusal(READS_ONLY)
  return { ...read, ...known }
}

function refusal(message: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_argument', message, { cause })
}

/** An error of the engine as a refusal of the query. Errors of the connection stay as they are. */
function refusalOf(error: unknown, faultOf: (message: string) => string): unknown {
  if (!(error instanceof ServiceError)) return error
  const { code, cause, context } = error
  const reason = REASONS.get(context.code)
  if (reason !== undefined) return refusal(reason, error)
  if (code !== 'internal') return error
  return refusal(faultOf(cause instanceof Error ? cause.message : error.message), error)
}

/** Explanations by ClickHouse's error code: timeout, memory limit, setting of a read-only user. */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  [159, 'the query took longer than 30 s and was stopped: let it read less'],
  [241, 'the query needed more than 1 GB of memory and was stopped: let it read less'],
  [164, 'leave out SETTINGS: the reader of the server may not change them'],
])

/** Explains a syntax error by its position in the operator's query. */
function grammarFaultOf(message: string, query: string): string {
  if (message.includes('Multi-statements')) return READS_ONLY
  const [, position] = /failed at position (\d+)/.exec(message) ?? []
  const bytes = Buffer.from(query)
  const at = Number(position) - 1
  if (position === undefined || message.includes('Unmatched') || at >= bytes.length)
    return 'syntax error: a parenthesis or quote is not closed, or closed once too often, or the query ends too early'
  const rest = bytes.subarray(at).toString()
  const before = bytes.subarray(0, at).toString().split('\n')
  const column = [...(before.at(-1) ?? '')].length + 1
  return `syntax error in line ${before.length}, column ${column}: ${rest.split('\n')[0]?.slice(0, 40)}`
}
