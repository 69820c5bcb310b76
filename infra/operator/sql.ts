import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Command } from './command.ts'

const MAX_ROWS = 100_000

const READS_ONLY =
  'reads only: one SELECT (also WITH ... SELECT or EXPLAIN SELECT), DESCRIBE TABLE <name>, or SHOW TABLES'

/**
 * `sql '<select>'`: runs one query that only reads. 64-bit and wider integers come as decimal strings. The query stands inside another one, where nothing but a
 * SELECT is grammatical. It has no semicolon, in a text neither (`char(59)` is one): the embedded engine would run what a closing parenthesis and a semicolon let out. What describes
 * tables is asked of the system's tables.
 */
export const sql: Command = {
  name: 'sql',
  usage: `'<select>'`,
  async run(args, { store }) {
    const [text, ...more] = args
    if (text === undefined || more.length > 0) {
      throw new ServiceError('invalid_argument', 'expected one query, in quotes')
    }
    const query = text.replace(/[\s;]+$/, '')
    const items = (await describe(store, query)) ?? (await select(store, query))
    if (items.length > MAX_ROWS) {
      throw new ServiceError('invalid_argument', `more than ${MAX_ROWS} rows: add a LIMIT`)
    }
    return { document: { items } }
  },
}

/** The answer to DESCRIBE and SHOW TABLES; null for another query. */
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
      'no such table: SHOW TABLES names them, SHOW TABLES FROM analyst the views',
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
 * Functions that read files, other servers or what runs beside: the embedded engine would do that for whoever asks, with the service's rights. A query that is pasted from
 * somewhere should not get at the secret key; whoever may ask here may do so by other means.
 */
const OUTSIDE =
  /\b((?:file|url|remote|remoteSecure|hdfs|gcs|oss|cosn|s3|azureBlobStorage|iceberg\w*|deltaLake\w*|hudi|paimon\w*)(?:Cluster)?|cluster|clusterAllReplicas|mysql|postgresql|mongodb|redis|sqlite|jdbc|odbc|arrowFlight|ytsaurus|executable\w*|python)["`]?\s*\(/i

/** What stands before the query, and is no part of the positions that are told. */
const BEFORE = 'SELECT * FROM (\n'

async function select(store: Store, query: string): Promise<readonly unknown[]> {
  const word = /^(?:\s|\(|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(\w*)/.exec(query)?.[1] ?? ''
  if (!/^(SELECT|WITH|FROM|EXPLAIN)$/i.test(word) || query.includes(';'))
    throw new ServiceError('invalid_argument', READS_ONLY)
  const [, outside] = OUTSIDE.exec(query) ?? []
  if (outside !== undefined)
    throw new ServiceError('invalid_argument', `${outside}() reads outside the tables`)
  return store
    .query<unknown>(`${BEFORE}${query}\n) LIMIT ${MAX_ROWS + 1}`)
    .catch((error: unknown) => {
      if (isTooSlow(error)) throw new ServiceError('invalid_argument', TOO_SLOW, { cause: error })
      if (!(error instanceof ServiceError) || error.code !== 'internal') throw error
      const told = error.cause instanceof Error ? error.cause.message : error.message
      throw new ServiceError('invalid_argument', faultOf(told, query), { cause: error })
    })
}

/** ClickHouse's code for a query that took longer than it may. */
function isTooSlow(error: unknown): boolean {
  return error instanceof ServiceError && error.context.code === 159
}

const TOO_SLOW = 'the query took longer than 30 s and was stopped: let it read less'

/** What ClickHouse refuses is the operator's to mend: its own words in one line, or where its grammar ends, by the text that was given. */
function faultOf(told: string, query: string): string {
  const [, position] = /Syntax error: failed at position (\d+)/.exec(told) ?? []
  if (position === undefined) return told.split('\n')[0] ?? 'refused'
  if (/\sINTO\s+OUTFILE\s/i.test(query)) return READS_ONLY
  if (/\sFORMAT\s+\w+$/i.test(query)) return 'leave out FORMAT: the answer is JSON'
  const bytes = Buffer.from(query)
  const at = Number(position) - BEFORE.length - 1
  if (at < 0 || at >= bytes.length)
    return 'syntax error: a parenthesis or quote is not closed, or closed once too often, or the query ends too early'
  const rest = bytes.subarray(at).toString()
  const before = bytes.subarray(0, at).toString().split('\n')
  const column = [...(before.at(-1) ?? '')].length + 1
  return `syntax error in line ${before.length}, column ${column}: ${rest.split('\n')[0]?.slice(0, 40)}`
}
