import test from 'ava'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'

/*
 * What a client of analysts may set (rule J9), as user `analyst` on the server of CLICKHOUSE_URL
 * with its default database.
 */

const { CLICKHOUSE_URL, ANALYST_PASSWORD = '' } = process.env
const isOn = CLICKHOUSE_URL !== undefined && ANALYST_PASSWORD !== ''
const testServer = isOn ? test.serial : test.serial.skip
const why = isOn ? '' : ' (skipped: CLICKHOUSE_URL or ANALYST_PASSWORD is not set)'

/** Returns status and text of the answer of a query, with settings in its URL as clients send. */
async function ask(query: string, settings: Readonly<Record<string, string>> = {}) {
  const url = new URL(new URL(CLICKHOUSE_URL ?? '').origin)
  for (const [name, value] of Object.entries(settings)) url.searchParams.set(name, value)
  const headers = { 'x-clickhouse-user': 'analyst', 'x-clickhouse-key': ANALYST_PASSWORD }
  const response = await fetch(url, { method: 'POST', body: query, headers })
  return { status: response.status, text: await response.text() }
}

test.before(async () => {
  if (CLICKHOUSE_URL === undefined) return
  const store = await createStore({ kind: 'clickhouse', url: new URL(CLICKHOUSE_URL) })
  await migrate(store)
  await store.close()
})

testServer(`a client sets what does not raise cost, and nothing that does${why}`, async (t) => {
  const outcomes: Record<string, string> = {}
  const expected: Record<string, string> = {}
  const tryAll = async (settings: readonly string[], outcome: string) => {
    for (const setting of settings) {
      const [name = '', value = ''] = setting.split('=')
      const { text } = await ask('SELECT 1', { [name]: value })
      outcomes[setting] = /\((SETTING_CONSTRAINT_VIOLATION|READONLY)\)/.exec(text)?.[1] ?? text
      expected[setting] = outcome
    }
  }
  await tryAll(
    [
      ...['max_block_size=5000', 'max_threads=1', 'max_execution_time=30', 'join_use_nulls=1'],
      ...['output_format_json_quote_64bit_integers=0', 'session_timezone=Europe/Berlin'],
      ...['max_result_rows=10', 'result_overflow_mode=break', 'http_wait_end_of_query=0'],
    ],
    '1\n',
  )
  await tryAll(
    [
      ...['max_execution_time=61', 'max_execution_time=0', 'timeout_overflow_mode=break'],
      ...['max_memory_usage=750000001', 'max_memory_usage=0', 'max_untracked_memory=1000000000'],
      ...['max_memory_usage_for_user=0', 'memory_overcommit_ratio_denominator=1'],
      ...['max_bytes_before_external_sort=0', 'max_temporary_data_on_disk_size_for_query=0'],
      ...['max_threads=100', 'priority=1', 'max_concurrent_queries_for_user=0', 'workload=default'],
      ...['max_result_rows=1000001', 'max_result_rows=0', 'max_result_bytes=0'],
      ...['max_rows_to_read=0', 'max_block_size=100000000', 'use_query_cache=1', 'log_queries=0'],
      ...['http_response_buffer_size=1000000000', 'send_logs_level=trace', 'profile=service'],
    ],
    'SETTING_CONSTRAINT_VIOLATION',
  )
  await tryAll(['readonly=0', 'readonly=1'], 'READONLY')
  t.deepEqual(outcomes, expected)
})

testServer(`another profile lifts no limit, and nothing can be created${why}`, async (t) => {
  const session = { session_id: `analyst-${process.pid}-${Date.now()}` }
  t.is((await ask("SET profile = 'default'", session)).status, 200)
  t.deepEqual(await ask("SELECT getSetting('max_memory_usage'), getSetting('readonly')", session), {
    status: 200,
    text: '750000000\t2\n',
  })
  t.regex((await ask('SET max_memory_usage = 0', session)).text, /CONSTRAINT_VIOLATION/)
  t.regex((await ask('CREATE TEMPORARY TABLE x (a UInt8)', session)).text, /ACCESS_DENIED/)
})

testServer(`views need no name of a database${why}`, async (t) => {
  t.deepEqual(await ask('SELECT currentDatabase(), count() >= 0 FROM swaps'), {
    status: 200,
    text: 'analyst\t1\n',
  })
})

testServer(
  `an answer over a limit, or that fails half-way, is an error and no rows${why}`,
  async (t) => {
    for (const query of [
      'SELECT number FROM numbers(1100000) FORMAT JSON',
      'SELECT throwIf(number = 900000) FROM numbers(1000000) FORMAT JSON',
    ]) {
      const { status, text } = await ask(query)
      t.is(status, 500, query)
      t.regex(text, /^Code: \d+\. DB::Exception/, query)
    }
  },
)
