import test from 'ava'
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
    'invalid_argument: --table: expected all, or some of swaps,transfers,sol_transfers,sol_balances,lots,disposals,first_buys,positions,sol_prices,token_prices,wallet_days,pnl_hours,token_hours,watchlist,signals',
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
