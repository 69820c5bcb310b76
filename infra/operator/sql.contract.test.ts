import anyTest from 'ava'
import { openServerStore } from '../../api/testing/open-stores.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { connectReader } from '../../pipeline/store/clickhouse.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { OperatorParts } from './parts.ts'
import { sql } from './sql.ts'

const { CLICKHOUSE_URL = '', CLICKHOUSE_READER_URL = '' } = process.env
const enabled = CLICKHOUSE_URL !== '' && CLICKHOUSE_READER_URL !== ''
const test = enabled ? anyTest.serial : anyTest.serial.skip
const why = enabled ? '' : ' (skipped: CLICKHOUSE_URL and CLICKHOUSE_READER_URL are not both set)'

let opened: Awaited<ReturnType<typeof openServerStore>>
let reader: Store
let database: string

anyTest.before(async () => {
  if (!enabled) return
  opened = await openServerStore(CLICKHOUSE_URL)
  const [own] = await opened.store.query<{ name: string }>('SELECT currentDatabase() AS name')
  database = own?.name ?? ''
  reader = await connectReader(new URL(`/${database}`, CLICKHOUSE_READER_URL), database)
})
anyTest.after.always(async () => {
  await reader?.close()
  await opened?.remove()
})

const rows = async (query: string, readerUrl: URL | null) => {
  const parts = { store: opened.store, readerUrl } as OperatorParts // nothing else is used
  const { document } = await sql.run([query], parts, () => {})
  return (document as { items: unknown[] }).items
}
const ask = (query: string) => rows(query, new URL(`/${database}`, CLICKHOUSE_READER_URL))

/** The error code of ClickHouse; `answered` if it does not refuse. */
const refusal = (query: Promise<unknown>) =>
  query.then(
    () => 'answered',
    (error: unknown) => (error instanceof ServiceError ? error.context.code : error),
  )

test(`on a server sql runs as a separate user who may only read${why}`, async (t) => {
  await t.throwsAsync(rows('SELECT 1', null), {
    instanceOf: ServiceError,
    message: /^CLICKHOUSE_READER_URL: required by sql with CLICKHOUSE_URL/,
  })
  const [own] = await opened.store.query<{ user: string }>('SELECT currentUser() AS user')
  t.not(own?.user, 'reader')
  t.deepEqual(await reader.query("SELECT currentUser() AS user, getSetting('readonly') AS only"), [
    { user: 'reader', only: 1 },
  ])
  t.deepEqual(await ask('SELECT count() AS n, toUInt64(18446744073709551615) AS wide FROM swaps'), [
    { n: '0', wide: '18446744073709551615' },
  ])
  t.deepEqual(await ask(`SELECT count() AS n FROM analyst_${database}.swaps`), [{ n: '0' }])
  t.true((await ask('DESCRIBE TABLE swaps')).length > 20)
  t.true((await ask('SHOW TABLES')).length > 20)
  t.true((await ask(`SHOW TABLES FROM analyst_${database}`)).length > 10)
  t.deepEqual(await ask('EXPLAIN SYNTAX SELECT 1'), [
    { explain: 'SELECT 1' },
    { explain: 'FROM system.one' },
  ])
  await t.throwsAsync(ask('SELECT 2 2'), {
    message: 'syntax error in line 1, column 10: 2',
  })
  await t.throwsAsync(ask('SELECT groupArray(toString(number)) FROM numbers(1000000000)'), {
    message: 'the query needed more than 1 GB of memory and was stopped: let it read less',
  })
  for (const [query, message] of [
    ["SELECT url/**/('http://127.0.0.1:1/', 'LineAsString')", /^function url\(\) is not allowed/],
    ["SELECT file('/etc/hostname')", /^function file\(\) is not allowed/],
    ['SELECT * FROM system.users', /^table system\.users is not allowed|^Unknown|privileges/],
    ['INSERT INTO swaps SELECT * FROM swaps', /^reads only/],
  ] as const)
    await t.throwsAsync(ask(query), { message }, query)
})

test(`the server itself refuses what the reader may not do${why}`, async (t) => {
  // 497: not granted; 164: not in read-only mode; 60, 81: no such table or database for this user.
  for (const [query, code] of [
    ["SELECT * FROM url/**/('http://127.0.0.1:1/', LineAsString)", 497],
    ["SELECT * FROM file('/etc/hostname', LineAsString)", 497],
    ["SELECT * FROM filesystem('/etc')", 497],
    ["SELECT * FROM remote('127.0.0.1', system.one)", 497],
    ["SELECT * FROM executable('id', 'CSV', 'a String')", 497],
    ["SELECT * FROM s3('http://127.0.0.1:1/x.csv')", 497],
    ['SELECT * FROM system.processes', 497],
    ['SELECT * FROM system.users', 497],
    ['SELECT * FROM default.anything', 60],
  ] as const)
    t.is(await refusal(reader.query(query)), code, query)
  for (const [statement, code] of [
    ['INSERT INTO swaps SELECT * FROM swaps', 497],
    ['SET max_memory_usage = 0', 164],
    ['CREATE TEMPORARY TABLE mine (n UInt8)', 497],
    ['DROP TABLE swaps', 497],
    ['SYSTEM FLUSH LOGS', 497],
  ] as const)
    t.is(await refusal(reader.command(statement)), code, statement)
  await opened.store.command('CREATE DATABASE IF NOT EXISTS other_of_tests')
  await opened.store.command(
    'CREATE OR REPLACE TABLE other_of_tests.kept (n UInt8) ENGINE = MergeTree ORDER BY n',
  )
  t.is(await refusal(reader.query('SELECT * FROM other_of_tests.kept')), 497)
  await opened.store.command('DROP DATABASE other_of_tests')
})
