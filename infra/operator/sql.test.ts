import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { openEmbeddedStore } from '../../api/testing/open-stores.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import type { QueryParams, Store } from '../../pipeline/store/store.ts'
import type { OperatorParts } from './parts.ts'
import { sql } from './sql.ts'
import { isAllowedFunction } from './sql-functions.ts'

let opened: Awaited<ReturnType<typeof openEmbeddedStore>>
let store: Store
const folder = mkdtempSync(join(tmpdir(), 'sql-'))
const SECRET_FILE = join(folder, 'secret.csv')

test.before(async () => {
  opened = await openEmbeddedStore()
  store = listingOnce(opened.store)
  writeFileSync(SECRET_FILE, 'secret\n')
})
test.after.always(async () => {
  await opened.remove()
  rmSync(folder, { recursive: true })
})

const run = (query: string) =>
  sql.run([query], { store, readerUrl: null } as OperatorParts, () => {}) // nothing else is used

/** The store, with a cached list of the engine's functions, because listing takes 15 ms. */
function listingOnce(store: Store): Store {
  let functions: Promise<unknown[]> | undefined
  return {
    ...store,
    query<T>(text: string, ...more: [QueryParams?, (readonly (keyof T & string)[])?]) {
      if (!text.endsWith('FROM system.functions')) return store.query<T>(text, ...more)
      functions ??= store.query(text, ...more)
      return functions as Promise<T[]> // the same text asks for the same rows
    },
  }
}

const rows = async (query: string) => ((await run(query)).document as { items: unknown[] }).items

/** The code and message of a refused query; `answered` and the rows of a successful one. */
const refused = async (query: string) => {
  try {
    return `answered: ${JSON.stringify(await rows(query))}`
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code}: ${error.message}`
    throw error
  }
}

const READS_ONLY =
  'reads only: one SELECT (also WITH ... SELECT or EXPLAIN SELECT), DESCRIBE TABLE <name>, or SHOW TABLES'
const UNCLOSED =
  'syntax error: a parenthesis or quote is not closed, or closed once too often, or the query ends too early'
const ALLOWED =
  'sql reads tables of this database, of analyst and a few of system, with functions that compute'

test('sql runs one query that reads, and no other (rule J3)', async (t) => {
  t.deepEqual(await run('SELECT toUInt64(18446744073709551615) AS n, 1 AS one'), {
    document: { items: [{ n: '18446744073709551615', one: 1 }] },
  })
  for (const [statement, message] of [
    ['DROP TABLE swaps', READS_ONLY],
    ["INSERT INTO tracked_wallets VALUES (9, 'x', 1)", READS_ONLY],
    ['SELECT 1; DROP TABLE swaps', READS_ONLY],
    ['SELECT 1 PARALLEL WITH DROP TABLE swaps', READS_ONLY],
    ['EXPLAIN AST DROP TABLE swaps', READS_ONLY],
    ['DESCRIBE TABLE swaps; DROP TABLE swaps', READS_ONLY],
    ['SYSTEM FLUSH LOGS', READS_ONLY],
    ['1) ; DROP TABLE swaps; SELECT * FROM (SELECT 1', READS_ONLY],
    ['SELECT 1); DROP TABLE swaps; SELECT * FROM (SELECT 1', UNCLOSED],
    ["SELECT 1 INTO OUTFILE '/tmp/x'", READS_ONLY],
    ['SELEC 1', READS_ONLY],
    ['', READS_ONLY],
    ['SELECT 1 FORMAT Pretty;', 'leave out FORMAT: the answer is JSON'],
    ["SELECT 'ü',\n  2 2 2", 'syntax error in line 2, column 5: 2 2'],
    [
      'SELECT sum(cityHash64(number)) FROM numbers(1000000000000) SETTINGS max_execution_time = 0.1',
      'the query took longer than 30 s and was stopped: let it read less',
    ],
    [
      'SELECT groupArray(toString(number)) FROM numbers(1000000000)',
      'the query needed more than 1 GB of memory and was stopped: let it read less',
    ],
    ['SELECT (1', UNCLOSED],
    ["SELECT 'a", "syntax error in line 1, column 8: 'a"],
    ['EXPLAIN DROP TABLE swaps', 'syntax error in line 1, column 14: TABLE swaps'],
    [
      'DESCRIBE TABLE swap',
      'no such table: SHOW TABLES lists the tables, SHOW TABLES FROM analyst the views',
    ],
  ] as const) {
    t.is(await refused(statement), `invalid_argument: ${message}`, statement)
  }
  t.regex(await refused('SELECT nowhere FROM swaps'), /^invalid_argument: .*`nowhere`/)
  t.deepEqual(
    await rows('DESCRIBE TABLE first_buys;'),
    await opened.store.query(
      "SELECT name, type, comment FROM system.columns WHERE database = currentDatabase() AND table = 'first_buys' ORDER BY position",
    ),
  )
  for (const [statement, name] of [
    ['desc analyst.swaps', 'time'],
    ['show tables', 'swaps'],
    ['SHOW TABLES FROM analyst ;\n', 'positions_at'],
  ] as const) {
    const items = (await rows(statement)) as { name: string }[]
    t.true(
      items.some((item) => item.name === name),
      statement,
    )
  }
  const [plan] = await rows('EXPLAIN SELECT 1')
  t.deepEqual(Object.keys(plan as object), ['explain'])
})

test('sql answers queries of tables, views, joins, windows, and strings with any character', async (t) => {
  const none = [{ n: '0' }]
  for (const [query, expected] of [
    ['SELECT count() AS n FROM tracked_wallets WHERE wallet = 9', none],
    ['SELECT count() AS n FROM swaps WHERE wallet = 9 -- with a comment;', none],
    ['/* one */ (WITH 9 AS w SELECT count() AS n FROM swaps WHERE wallet = w); ', none],
    [
      'FROM tracked_wallets.swaps AS s LEFT JOIN analyst.swaps AS a ON s.side = a.side SELECT count() AS n',
      none,
    ],
    ['SELECT count() AS n FROM analyst.positions_at(at = 4000000000)', none],
    ["SELECT count() > 9 AS n FROM system.tables WHERE database = 'tracked_wallets'", [{ n: 1 }]],
    [
      "SELECT 'a;b -- /* \\' \\n ` $$ file(' AS n, `n` AS \"o (p)\"",
      [{ n: "a;b -- /* ' \n ` $$ file(", 'o (p)': "a;b -- /* ' \n ` $$ file(" }],
    ],
    [
      'SELECT sumIf(number, number > 1) AS n, quantiles(0.5)(number)[1] AS q FROM numbers(4)',
      [{ n: '5', q: 1.5 }],
    ],
    [
      'SELECT count() OVER (PARTITION BY number ORDER BY number ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM numbers(1)',
      [{ n: '1' }],
    ],
    [
      'SELECT * EXCEPT (b) REPLACE (a + 1 AS a) APPLY(toString) FROM (SELECT 1 AS a, 2 AS b)',
      [{ 'toString(plus(a, 1))': '2' }],
    ],
    [
      "SELECT CASE WHEN 1 THEN [1, 2][1] END AS n, -1::Int8 AS m, INTERVAL 1 DAY + DATE '2026-01-01' AS d",
      [{ n: 1, m: -1, d: '2026-01-02' }],
    ],
    [
      'SELECT arrayMap(x -> (x, x * 2), [1]) AS n WHERE 1 IN (SELECT 1) AND exists(SELECT 1)',
      [{ n: [[1, 2]] }],
    ],
    [
      '(SELECT number AS n FROM numbers(3) INTERSECT SELECT 2) EXCEPT SELECT 7 SETTINGS max_threads = 1, join_use_nulls = 1',
      [{ n: '2' }],
    ],
  ] as const)
    t.deepEqual(await rows(query).catch(String), expected as unknown as unknown[], query)
})

test('no spelling reads a file, a server, a setting or a table that is not of the service', async (t) => {
  const file = (call: string) => call.replaceAll('FILE', `'${SECRET_FILE}'`)
  for (const [query, forbidden] of [
    ['SELECT file(FILE)', 'function file()'],
    ['SELECT * FROM file(FILE)', 'function file()'],
    ['SELECT file/**/(FILE)', 'function file()'],
    ['SELECT * FROM file -- x\n(FILE)', 'function file()'],
    ['SELECT * FROM filesystem(FILE)', 'function filesystem()'],
    ['SELECT "fi\\x6ce"(FILE)', 'function file()'],
    ['SELECT * FROM "\\x66ile"(FILE)', 'function file()'],
    ['SELECT `fi\\154e`(FILE)', 'function '],
    ['SELECT `file`(FILE)', 'function file()'],
    ["SELECT * FROM eval('SELECT 1')", 'function eval()'],
    ["SELECT * FROM url ('http://127.0.0.1:1/', 'JSON')", 'function url()'],
    [
      "SELECT * FROM url/**/('http://127.0.0.1:1/' || wallet) FROM tracked_wallets",
      'syntax error in',
    ],
    ["WITH s3Cluster('a') AS x SELECT x", 'function s3Cluster()'],
    ["SELECT * FROM python('x')", 'function python()'],
    ['SELECT * FROM Python(x)', 'function Python()'],
    ["SELECT * FROM executable('id', 'CSV', 'a String')", 'function executable()'],
    ["SELECT * FROM remote('127.0.0.1', system.one)", 'function remote()'],
    ["SELECT * FROM cluster('default', system.users)", 'function cluster()'],
    ["SELECT * FROM cluster('default', 'system', 'users')", 'function cluster()'],
    ["SELECT * FROM merge('system', 'users')", 'function merge()'],
    ["SELECT * FROM loop('system', 'users')", 'function loop()'],
    ['SELECT * FROM view(SELECT 1)', 'function view()'],
    ["SELECT * FROM dictionary('x')", 'function dictionary()'],
    ["SELECT dictGet('x', 'y', 1)", 'function dictGet()'],
    ["SELECT joinGet('system.users', 'name', 1)", 'function joinGet()'],
    [
      "SELECT hasColumnInTable('127.0.0.1', 'u', 'p', 'd', 't', 'c')",
      'function hasColumnInTable()',
    ],
    ["SELECT getServerSetting('max_connections')", 'function getServerSetting()'],
    ["SELECT getMacro('x'), 1", 'function getMacro()'],
    ['SELECT sleepEachRow(1)', 'function sleepEachRow()'],
    ["SELECT catboostEvaluate('/x', 1)", 'function catboostEvaluate()'],
    ["SELECT arrayReduce('sum', [1])", 'function arrayReduce()'],
    ['SELECT * APPLY(file) FROM (SELECT FILE)', 'function file()'],
    ['SELECT * APPLY file FROM (SELECT FILE)', 'function file()'],
    ['SELECT arrayMap(file, [FILE])', 'function file()'],
    ['SELECT arrayMap((`file`), [FILE])', 'function file()'],
    ['SELECT arraySort(file AS g, [FILE])', 'function file()'],
    ['SELECT * APPLY(`file.x`) FROM (SELECT FILE)', 'function file.x()'],
    ['SELECT * APPLY(`file, toString`) FROM (SELECT FILE)', 'function file()'],
    ['SELECT count() OVER (ORDER BY file(FILE))', 'function file()'],
    ['SELECT formatRow(FILE, 1)', 'function formatRow()'],
    ['SELECT * FROM system.users', 'table system.users'],
    ['SELECT * FROM `system` . "\\x75sers"', 'table system.users'],
    ['SELECT 1 IN system.users', 'table system.users'],
    ['SELECT 1 AS x WHERE x GLOBAL NOT IN (system.users)', 'table system.users'],
    ['SELECT * FROM system.processes', 'table system.processes'],
    ['SELECT * FROM privacy_salt', 'table privacy_salt'],
    ['SELECT * FROM event_id_key', 'table event_id_key'],
    ['SELECT 1 IN tracked_wallets.`privacy_salt`', 'table privacy_salt'],
    ['SELECT * FROM INFORMATION_SCHEMA.tables', 'table INFORMATION_SCHEMA.tables'],
    [`SELECT * FROM default.\`${SECRET_FILE}\``, `table default.${SECRET_FILE}`],
    ['SELECT * FROM default.file(FILE)', 'function default.file()'],
    ["SELECT * FROM eval('x') SETTINGS max_threads = 1", 'function eval()'],
    ['SELECT 1 SETTINGS max_memory_usage = 0', 'SETTINGS max_memory_usage (with this value)'],
    ['SELECT 1 SETTINGS max_threads = 1, readonly = 0', 'SETTINGS readonly (with this value)'],
    ['SELECT 1 SETTINGS max_execution_time = 0', 'SETTINGS max_execution_time (with this value)'],
    [
      'SELECT (SELECT 1 SETTINGS max_execution_time = 99)',
      'SETTINGS max_execution_time (with this value)',
    ],
    ["SELECT 1 SETTINGS additional_table_filters = {'a': 'file(1)'}", "{'a':'"],
    ['SELECT {x:String}', '{x:String}'],
    ['SELECT * FROM (EXPLAIN SELECT file(FILE))', 'function viewExplain()'],
    ['EXPLAIN QUERY TREE SELECT file(FILE)', 'function file()'],
  ] as const) {
    const answer = await refused(file(query))
    t.true(answer.startsWith(`invalid_argument: ${forbidden}`), `${query}: ${answer}`)
  }
  // A bare name is a table of the service's own database, never a file.
  for (const query of [`SELECT * FROM '${SECRET_FILE}'`, `SELECT * FROM \`${SECRET_FILE}\``])
    t.regex(await refused(query), /^invalid_argument: Unknown table/)
})

/** Queries with an expression in each clause that can hold one. */
const CLAUSES: readonly ((call: string) => string)[] = [
  (call) => `SELECT ${call}`,
  (call) => `SELECT 1 WHERE ${call} = 1`,
  (call) => `SELECT (SELECT ${call})`,
  (call) => `WITH ${call} AS x SELECT x`,
  (call) => `WITH t AS (SELECT ${call} AS x) SELECT x FROM t`,
  (call) => `WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT ${call}) SELECT x FROM t`,
  (call) => `SELECT arrayMap(x -> ${call}, [1])`,
  (call) => `SELECT 1 IN (SELECT ${call})`,
  (call) => `SELECT 1 IN (${call})`,
  (call) => `SELECT x FROM numbers(1) ARRAY JOIN [${call}] AS x`,
  (call) => `SELECT * REPLACE (${call} AS a) FROM (SELECT 1 AS a)`,
  (call) => `SELECT * APPLY (x -> ${call}) FROM (SELECT 1 AS a)`,
  (call) => `SELECT quantile(${call})(1)`,
  (call) => `SELECT * APPLY (quantile(${call})) FROM (SELECT 1 AS a)`,
  (call) => `SELECT count() OVER (PARTITION BY ${call} ORDER BY 1)`,
  (call) => `SELECT count() OVER (ORDER BY 1, ${call} DESC)`,
  (call) => `SELECT count() OVER (ORDER BY 1 ROWS BETWEEN ${call} PRECEDING AND CURRENT ROW)`,
  (call) => `SELECT count() OVER w FROM numbers(1) WINDOW w AS (ORDER BY ${call})`,
  (call) => `SELECT count() FILTER (WHERE ${call})`,
  (call) => `SELECT 1 ORDER BY ${call}`,
  (call) => `SELECT 1 AS a ORDER BY a WITH FILL FROM ${call} TO 3 STEP ${call}`,
  (call) => `SELECT 1 AS a, 2 AS b ORDER BY a WITH FILL TO 3 INTERPOLATE (b AS ${call})`,
  (call) => `SELECT 1 LIMIT ${call}`,
  (call) => `SELECT 1 LIMIT 1 OFFSET ${call}`,
  (call) => `SELECT 1 LIMIT 1 BY ${call}`,
  (call) => `SELECT DISTINCT ON (${call}) 1`,
  (call) => `SELECT count() GROUP BY ${call}`,
  (call) => `SELECT count() GROUP BY GROUPING SETS ((${call}), (1))`,
  (call) => `SELECT count() GROUP BY ROLLUP(${call})`,
  (call) => `SELECT count() HAVING ${call}`,
  (call) => `SELECT count() AS c QUALIFY ${call}`,
  (call) => `SELECT 1 FROM swaps PREWHERE ${call}`,
  (call) => `SELECT 1 FROM numbers(1) AS a JOIN numbers(1) AS b ON ${call}`,
  (call) => `SELECT CASE WHEN ${call} THEN 1 ELSE ${call} END`,
  (call) => `SELECT 1 BETWEEN ${call} AND 2`,
  (call) => `SELECT [${call}][1], (${call}, 1).1, map(1, ${call})`,
  (call) => `SELECT ${call}::String`,
  (call) => `SELECT CAST(${call} AS String)`,
  (call) => `SELECT 1 ? ${call} : 2`,
  (call) => `SELECT 1 UNION DISTINCT (SELECT ${call})`,
  (call) => `SELECT 1 EXCEPT SELECT ${call}`,
  (call) => `EXPLAIN SELECT ${call}`,
  (call) => `SELECT * FROM (EXPLAIN SYNTAX SELECT ${call})`,
  (call) => `SELECT * FROM values('a String', ${call})`,
  (call) => `SELECT * FROM numbers(${call})`,
  (call) => `SELECT EXTRACT(DAY FROM ${call})`,
  (call) => `SELECT -${call}, NOT ${call}, ${call} IS NULL, ${call} || 'x'`,
]

/** Other spellings of a name that the engine reads as the same. */
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `\`${name}\``,
  (name) => `"${name}"`,
  (name) => `${name}/* ' */`,
  (name) => `${name} -- (\n`,
  (name) => `"${[...name].map((letter) => `\\x${letter.charCodeAt(0).toString(16)}`).join('')}"`,
  (name) => `\`\\x${name.charCodeAt(0).toString(16)}${name.slice(1)}\``,
  (name) => `${name}\n\t`,
]

test('a function that is not on the list is refused in every clause and spelling', async (t) => {
  const names = await opened.store.query<{ name: string; isTable: number }>(
    'SELECT name, 0 AS isTable FROM system.functions UNION ALL SELECT name, 1 FROM system.table_functions ORDER BY name',
  )
  const forbidden = names.filter(({ name }) => !isAllowedFunction(name))
  t.true(forbidden.length > 500 && forbidden.some(({ name }) => name === 'filesystem'))
  const allowed = names.filter(({ name, isTable }) => isTable && isAllowedFunction(name))
  t.deepEqual(
    allowed.map(({ name }) => name),
    [
      'generateSeries',
      'generate_series',
      'numbers',
      'numbers_mt',
      'primes',
      'values',
      'zeros',
      'zeros_mt',
    ],
  )
  const passed: string[] = []
  let at = 0
  const ask = async (query: string) => {
    const answer = await refused(query)
    if (!answer.startsWith('invalid_argument: function') && !/syntax error/i.test(answer))
      passed.push(`${query}: ${answer}`)
  }
  for (const { name, isTable } of forbidden) {
    at += 1
    const call = `${SPELLINGS[at % SPELLINGS.length]?.(name)}(1)`
    await ask(isTable ? `SELECT * FROM ${call}` : (CLAUSES[at % CLAUSES.length]?.(call) ?? ''))
  }
  for (const clause of CLAUSES)
    for (const spelling of SPELLINGS) await ask(clause(`${spelling('file')}('${SECRET_FILE}')`))
  t.deepEqual(passed, [])
})

test('a database that is new to the engine cannot be read until it is listed', async (t) => {
  const all = await opened.store.query<{ name: string }>('SELECT name FROM system.databases')
  for (const { name } of all)
    if (name !== 'tracked_wallets' && name !== 'analyst')
      t.is(
        await refused(`SELECT * FROM ${name}.users`),
        `invalid_argument: table ${name}.users is not allowed: ${ALLOWED}`,
      )
})
