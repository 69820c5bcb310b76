import test from 'ava'
import { openTestStore } from '../../testing/test-store.ts'
import { migrate } from '../migrate.ts'
import type { QueryParams } from '../store.ts'
import { readPeriod } from './profit-hours.ts'

const HOUR = 3600
const GRANULE_ROWS = 1024

test('a period of some wallets reads their hours by the primary key, not the table', async (t) => {
  const { store, remove } = await openTestStore()
  t.teardown(remove)
  await migrate(store)
  await store.command('SYSTEM STOP MERGES profit_hours')
  // 100 wallets with 1,000 hours each of two tokens, then a newer version of each row.
  for (const version of [1, 2])
    await store.command(`
      INSERT INTO profit_hours (wallet, hour, mint, trades, valued_sells, volume_lamports, realized_lamports, strict_realized_lamports, version)
      SELECT 1 + intDiv(number, 2000), ${HOUR} * (intDiv(number, 2) % 1000), concat('mint', toString(number % 2)),
        ${version}, 1, 10, ${version}, -1, ${version} FROM numbers(200000)`)
  const plans: string[] = []
  const spy = {
    ...store,
    async query<T>(sql: string, params?: QueryParams) {
      const lines = await store.query<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`, params)
      plans.push(lines.map(({ explain }) => explain).join('\n'))
      return store.query<T>(sql, params)
    },
  }
  const range = { first: 41, last: 50, from: 900 * HOUR, to: 1000 * HOUR }
  const rows = await readPeriod(spy, range)
  t.deepEqual(
    rows.toSorted((a, b) => a.wallet - b.wallet),
    Array.from({ length: 10 }, (_, at) => ({
      wallet: 41 + at,
      trades: 400,
      volume_lamports: '2000',
      tokens_sold: 2,
      profit_lamports: '400',
      tokens_won: 2,
      strict_profit_lamports: '-200',
      strict_tokens_won: 0,
    })),
  )
  const [plan = ''] = plans
  const [, read, all] = /PrimaryKey[\s\S]*?Granules: (\d+)\/(\d+)/.exec(plan) ?? []
  t.is(plans.length, 1)
  t.regex(plan, /PrimaryKey\n\s+Keys:\s+wallet\s+hour\n/)
  t.true(Number(all) >= 400_000 / GRANULE_ROWS, plan)
  // A wallet's hours of the period are 200 rows, twice: in at most two granules of each part.
  t.true(Number(read) <= 10 * 2 * 2, plan)
})
