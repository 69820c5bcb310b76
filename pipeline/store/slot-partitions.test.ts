import test from 'ava'
import { openTestStore, type TestStore } from '../testing/test-store.ts'
import { migrate } from './migrate.ts'
import { PARTITION_SLOTS, partitionKey, SLOTS_PER_PARTITION } from './slot-partitions.ts'
import type { QueryParams } from './store.ts'
import { readSwapRowsAfter } from './tables/swaps.ts'
import { readEventRows } from './tables/token-events.ts'

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened?.remove())

test.serial('a new installation has its event tables partitioned by ranges of slots', async (t) => {
  const rows = await opened.store.query<{ name: string; partition_key: string }>(
    `SELECT name, partition_key FROM system.tables
     WHERE database = currentDatabase() AND partition_key != '' ORDER BY name`,
  )
  t.deepEqual(
    rows.map(({ name, partition_key }) => [name, partition_key]),
    Object.entries(PARTITION_SLOTS)
      .map(([table, slot]) => [table, partitionKey(slot)])
      .sort(),
  )
})

test.serial(
  'the rows of one key lie in one partition, because its columns are columns of the key (rule K29)',
  async (t) => {
    const outside = await opened.store.query(
      `SELECT table, name FROM system.columns
       WHERE database = currentDatabase() AND is_in_partition_key AND NOT is_in_primary_key`,
    )
    t.deepEqual(outside, [])
    const [setting] = await opened.store.query<{ value: string }>(
      "SELECT value FROM system.settings WHERE name = 'enable_automatic_decision_for_merging_across_partitions_for_final'",
    )
    t.is(setting?.value, '1', 'FINAL merges each partition by itself')
  },
)

const PARTITIONS = 4
const SECONDS_PER_PARTITION = SLOTS_PER_PARTITION * 0.4

test.serial('a read with bounds on the slot or the time opens one partition', async (t) => {
  const { store } = opened
  await store.command(`
    INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, program)
    SELECT intDiv(number, 1000) * ${SLOTS_PER_PARTITION} + number % 1000 AS place, 0, 1, 0, 1700000000 + intDiv(place * 2, 5), '', 'buy', 'mint', 1, 0, 'p'
    FROM numbers(${PARTITIONS * 1000})`)
  await store.command('OPTIMIZE TABLE swaps FINAL')
  /** The parts that a query opens, of how many. */
  const opens = async (sql: string, params: QueryParams = {}) => {
    const lines = await store.query<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`, params)
    const counts = lines.flatMap(({ explain }) => /Parts: (\d+)\/(\d+)$/.exec(explain) ?? [])
    return [counts.at(-2), counts[2]].map(Number)
  }
  const sent: [string, QueryParams | undefined][] = []
  const spy = {
    ...store,
    query<T>(sql: string, params?: QueryParams) {
      sent.push([sql, params])
      return store.query<T>(sql, params)
    },
  }
  const first = 2 * SLOTS_PER_PARTITION
  await readEventRows(spy, 'swaps', { from: first + 10, to: first + 20 })
  const after = { slot: first + 10, txIndex: 0, wallet: 1, eventIndex: 0 }
  const all = { wallets: null, mints: null }
  await readSwapRowsAfter(spy, { after, toSlot: first + 20, limit: 5, ...all })
  for (const [sql, params] of sent) t.deepEqual(await opens(sql, params), [1, PARTITIONS], sql)
  const time = 1_700_000_000 + 2 * SECONDS_PER_PARTITION
  t.deepEqual(
    await opens(
      `SELECT program FROM swaps FINAL WHERE block_time >= ${time} AND block_time < ${time + 60}`,
    ),
    [1, PARTITIONS],
  )
})
