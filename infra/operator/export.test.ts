import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { daysOf } from './export.ts'
import { type OpenedOperator, openOperator } from './testing/open-operator.ts'

let operator: OpenedOperator
test.before(async () => {
  operator = await openOperator()
})
test.after.always(() => operator.close())

const GIVEN = ['--from', '2026-01-01', '--to', '2026-01-02', '--table', 'swaps']

test.serial('export refuses what it cannot write, and says what it expects', async (t) => {
  const refused = (...args: string[]) => operator.refused('export', ...args)
  t.is(
    await refused(...GIVEN.slice(0, 4), '--table', 'swaps,wallets', '--to-dir', '/a'),
    'invalid_argument: --table: no table "wallets"; expected all, or some of swaps,transfers,sol_transfers,sol_balances,lots,disposals,first_buys,positions,sol_prices,token_prices,wallet_days,pnl_hours,token_hours,watchlist,signals',
  )
  t.is(
    await refused('--from', '2026-02-30', '--to', 'today', '--table', 'all', '--to-dir', 'gs://a'),
    'invalid_argument: --from: expected a UTC day such as 2026-11-24; --to: expected a UTC day such as 2026-11-24; --to-dir: expected a folder, or s3://BUCKET/PREFIX of letters, digits and ._=-',
  )
  t.is(
    await refused(
      '--from',
      '2026-01-02',
      '--to',
      '2026-01-01',
      ...GIVEN.slice(4),
      '--to-dir',
      '/a',
    ),
    'invalid_argument: --from: it is after --to',
  )
  t.is(
    await refused(...GIVEN, '--to-dir', 's3://bucket/a'),
    'bad_config: --to-dir: the embedded store writes into folders only: name one, or set CLICKHOUSE_URL',
  )
})

test('--last names the days before today, in place of --from and --to', (t) => {
  const day = (text: string) => Date.parse(text) / 86_400_000
  const now = Date.parse('2026-03-02T23:59:59Z')
  t.deepEqual(daysOf({ last: 1 }, now), { from: day('2026-03-01'), to: day('2026-03-01') })
  t.deepEqual(daysOf({ last: 30 }, now), { from: day('2026-01-31'), to: day('2026-03-01') })
  t.deepEqual(daysOf({ from: 7, to: 7 }, now), { from: 7, to: 7 })
  for (const given of [
    {},
    { from: 1 },
    { to: 1 },
    { last: 1, from: 1 },
    { last: 1, from: 1, to: 1 },
  ])
    t.is(
      t.throws(() => daysOf(given, now), { instanceOf: ServiceError }).message,
      'expected either --from and --to, or --last',
    )
})

test.serial('export names the days that are not complete, and fails', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'export-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const { document, failed } = await operator.run('export', ...GIVEN, '--to-dir', folder)
  t.true(failed)
  t.like(document, {
    tables: [{ table: 'swaps', written: 0, incomplete_from: '2026-01-01' }],
    message:
      'not written, because the service has not stored these days to their end: swaps from 2026-01-01. Repeat the command later; if the day is long past, see whether the workers are behind',
  })
})

test.serial('export refuses a number of days that it does not know', async (t) => {
  for (const last of ['0', '1001', '-1', 'week'])
    t.is(
      await operator.refused('export', '--table', 'all', '--last', last, '--to-dir', '/a'),
      'invalid_argument: --last: expected a number of days from 1 to 1000',
    )
})
