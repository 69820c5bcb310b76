import test, { type ExecutionContext } from 'ava'
import { ServiceError } from '../domain/service-error.ts'
import { openTestStore, type TestStore } from '../testing/test-store.ts'
import { migrate } from './migrate.ts'
import { planRepartition, repartition } from './repartition.ts'
import { PARTITION_SLOTS, partitionKey, SLOTS_PER_PARTITION } from './slot-partitions.ts'
import type { Row, Store } from './store.ts'
import { deleteStaleRows, insertDisposals } from './tables/books.ts'
import { insertDecodedRows, voidRows } from './tables/decoded-rows.ts'
import { insertLateSwaps, voidLateSwaps } from './tables/late-swaps.ts'
import { insertTransactions, keepTransactions, voidTransactions } from './tables/transactions.ts'

const TABLES = Object.keys(PARTITION_SLOTS)

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened?.remove())

async function empty(store: Store): Promise<void> {
  for (const table of TABLES) await store.command(`TRUNCATE TABLE ${table}`)
}

/** Makes these tables again, empty and as older versions made them. */
async function toOldLayout(store: Store, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const [row] = await store.query<{ definition: string }>(
      `SELECT create_table_query AS definition FROM system.tables
       WHERE database = currentDatabase() AND name = {table:String}`,
      { table },
    )
    const key = partitionKey(PARTITION_SLOTS[table] ?? '')
    await store.command(`DROP TABLE ${table}`)
    await store.command((row?.definition ?? '').replace(` PARTITION BY ${key}`, ''))
  }
}

const now = Math.floor(Date.now() / 1000)
/** The slot of a row: three partitions. */
const slotOf = (n: number) => (n % 3) * SLOTS_PER_PARTITION + n
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

const keyed = (n: number) => ({ slot: slotOf(n), tx_index: n % 2, wallet: 1 + (n % 5) })
const timed = (n: number) => ({ block_time: now - 1000 + n, signature: 's' })
const event = (n: number, version: number) => ({
  ...keyed(n),
  event_index: 0,
  ...timed(n),
  version,
})

const rowOf = {
  swaps: (n: number, version = 0): Row => ({
    ...event(n, version),
    side: 'buy',
    base_mint: `mint${n % 3}${version}`,
    base_amount: 5 + n,
    base_decimals: 6,
    program: 'p',
    confidence: 'high',
  }),
  transfers: (n: number, version = 0): Row => ({
    ...event(n, version),
    direction: 'in',
    mint: 'm',
    amount: n + version,
  }),
  sol_transfers: (n: number, version = 0): Row => ({
    ...event(n, version),
    direction: 'out',
    lamports: n + version,
  }),
  undecoded: (n: number, version = 0): Row => ({
    ...keyed(n),
    ...timed(n),
    version,
    reason: 'unknown_mint',
  }),
  transactions: (n: number, version = 0): Row => ({
    ...keyed(n),
    ...timed(n),
    format: 'yellowstone',
    base64: Buffer.from(`bytes ${n} ${version}`).toString('base64'),
    version,
  }),
  late_swaps: (n: number): Row => ({
    ...keyed(n),
    event_index: 0,
    epoch: 0,
    passed_slot: slotOf(n) + 2,
    partition: 0,
    offset: n,
    block_id: null,
  }),
  disposals: (n: number, version = 1): Row => ({
    ...keyed(n),
    mint: 'm',
    event_index: 0,
    lot_slot: n,
    lot_tx_index: 0,
    lot_event_index: 0,
    kind: 'sell',
    block_time: now,
    lot_time: now,
    lot_origin: 'buy',
    amount: version,
    cost_lamports: n,
    version,
  }),
}

/** Stores rows `from` to `to` of every table, each through its module. */
function stores(from: number, to: number, version?: number) {
  const rows = (row: (n: number, version?: number) => Row) =>
    range(from, to).map((n) => row(n, version))
  return [
    (store: Store) => insertDecodedRows(store, 'swaps', rows(rowOf.swaps)),
    (store: Store) => insertDecodedRows(store, 'transfers', rows(rowOf.transfers)),
    (store: Store) => insertDecodedRows(store, 'sol_transfers', rows(rowOf.sol_transfers)),
    (store: Store) => insertDecodedRows(store, 'undecoded', rows(rowOf.undecoded)),
    (store: Store) => insertTransactions(store, rows(rowOf.transactions)),
    (store: Store) => insertLateSwaps(store, rows(rowOf.late_swaps)),
    (store: Store) => insertDisposals(store, rows(rowOf.disposals)),
  ]
}

/** Writes of every kind that the tables get. */
const BEFORE = [...stores(0, 40), ...stores(30, 60), ...stores(5, 10, 3)]
const SLOTS = [4, 33, 35, 58, 61].map(slotOf)
const DURING = [
  ...stores(60, 66),
  ...['swaps', 'transfers', 'sol_transfers', 'undecoded'].map(
    (table) => (store: Store) => voidRows(store, table as 'swaps', SLOTS, [1, 2, 3, 4, 5]),
  ),
  (store: Store) => voidTransactions(store, SLOTS, [1, 2, 3, 4]),
  (store: Store) =>
    voidLateSwaps(store, SLOTS, {
      epoch: 0,
      passedSlot: 9 * SLOTS_PER_PARTITION,
      partition: 0,
      offset: 1000,
    }),
  (store: Store) => deleteStaleRows(store, 'disposals', new Map([[2, 2n]])),
  ...stores(34, 37, 5),
  ...stores(62, 63, 2),
]

/** The newest row of every key, tombstones included, and what FINAL shows. */
async function contentOf(store: Store) {
  const content: Record<string, unknown> = {}
  for (const table of TABLES) {
    const [keys] = await store.query<{ sorting_key: string }>(
      'SELECT sorting_key FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
      { table },
    )
    const key = keys?.sorting_key ?? ''
    const version = table === 'late_swaps' ? 'inserted_at' : 'version'
    content[table] = {
      newest: await store.query(
        `SELECT * EXCEPT inserted_at FROM
           (SELECT * FROM ${table} ORDER BY ${key}, ${version} DESC LIMIT 1 BY ${key}) ORDER BY ${key}`,
      ),
      final: await store.query(
        `SELECT * EXCEPT inserted_at FROM ${table} FINAL ORDER BY ${key} SETTINGS optimize_move_to_prewhere = 0`,
      ),
    }
  }
  return content
}

/**
 * A store that runs `between` before each call. With `deaths` it dies after the first call of each
 * kind that is not in it, and adds the kind: its statement without numbers.
 */
function watched(store: Store, between: () => Promise<void>, deaths?: Set<string>): Store {
  let isDead = false
  const through = async <T>(sql: string, call: () => Promise<T>): Promise<T> => {
    if (isDead) throw new ServiceError('closed', 'killed')
    await between()
    const result = await call()
    const kind = sql.replaceAll(/[0-9]+/g, '')
    if (deaths === undefined || deaths.has(kind)) return result
    deaths.add(kind)
    isDead = true
    throw new ServiceError('closed', 'killed')
  }
  return {
    ...store,
    query: (...args) => through(args[0], () => store.query(...args)) as never, // of the same type
    command: (...args) => through(args[0], () => store.command(...args)),
  }
}

const options = { stop: new AbortController().signal, rowsPerInsert: 20, lockSeconds: 0 }

const layoutsOf = async (store: Store) =>
  Object.fromEntries((await planRepartition(store)).map(({ table, layout }) => [table, layout]))

/**
 * Moves tables from the old layout while rows are written and read between the calls of the store.
 * `run` repeats the move until it ends. Returns what the tables have then, what they have without a
 * move, and how many writes were refused and repeated.
 */
async function moveWhileWritten(
  t: ExecutionContext,
  tables: readonly string[],
  run: (between: () => Promise<void>) => Promise<void>,
) {
  const { store } = opened
  await empty(store)
  for (const write of [...BEFORE, ...DURING]) await write(store)
  const expected = await contentOf(store)

  await empty(store)
  await toOldLayout(store, tables)
  for (const write of BEFORE) await write(store)
  await store.command('OPTIMIZE TABLE transactions FINAL') // one large part
  const seen = async () => {
    const [row] = await store.query<{ n: string }>(
      'SELECT (SELECT count() FROM swaps FINAL) + (SELECT count() FROM transactions FINAL) AS n',
    )
    return row?.n
  }
  let rows = await seen()
  let refused = 0
  let calls = 0
  const writes = [...DURING]
  await run(async () => {
    calls += 1
    t.is(await seen(), rows, 'a reader sees every row at every moment')
    const [write] = writes
    if (write === undefined || calls % 5 > 0) return
    try {
      await write(store)
      writes.shift()
      if (writes.length % 5 === 0) await store.command('OPTIMIZE TABLE swaps')
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error
      refused += 1
    }
    rows = await seen()
  })
  for (const write of writes) await write(store)
  t.deepEqual(await layoutsOf(store), Object.fromEntries(TABLES.map((name) => [name, 'by_slot'])))
  return { content: await contentOf(store), expected, refused, late: writes.length }
}

test.serial(
  'tables of the old layout are partitioned while they are written, and keep every row',
  async (t) => {
    const { store } = opened
    await keepTransactions(store, 30)
    const { content, expected, refused, late } = await moveWhileWritten(
      t,
      TABLES,
      async (between) => {
        const done = await repartition(watched(store, between), options)
        t.deepEqual(
          done.map(({ table, partitions }) => [table, partitions]),
          TABLES.map((table) => [table, 3]),
        )
      },
    )
    t.deepEqual(content, expected)
    t.true(refused > 0)
    t.is(late, 0)
    t.deepEqual(await repartition(store, options), [])
  },
)

for (const table of ['swaps', 'transactions']) {
  test.serial(
    `a move of ${table} that is killed after each of its statements goes on, and loses no row`,
    async (t) => {
      const deaths = new Set<string>()
      const { content, expected } = await moveWhileWritten(t, [table], async (between) => {
        for (;;) {
          try {
            await repartition(watched(opened.store, between, deaths), options)
            return
          } catch (error) {
            if (!(error instanceof ServiceError) || error.message !== 'killed') throw error
          }
        }
      })
      t.deepEqual(content, expected)
      const steps = ['CREATE', 'INSERT', 'MODIFY SETTING', 'AS equal', 'EXCHANGE', 'DROP']
      for (const step of steps)
        t.true(
          [...deaths].some((kind) => kind.includes(step)),
          `killed after ${step}`,
        )
    },
  )
}

test.serial('a copy that differs is dropped, and the table stays as it is', async (t) => {
  const { store } = opened
  await empty(store)
  await toOldLayout(store, ['swaps'])
  for (const write of BEFORE) await write(store)
  const before = await contentOf(store)
  const lossy: Store = {
    ...store,
    command: (sql, params) =>
      store.command(
        sql.replace('SETTINGS max_threads', 'AND wallet != 3 SETTINGS max_threads'),
        params,
      ),
  }
  await t.throwsAsync(repartition(lossy, options), {
    message: /^the copy of swaps differed in partition [0-2]: it was dropped/,
  })
  t.deepEqual(await contentOf(store), before)
  t.like(await layoutsOf(store), { swaps: 'whole' })
  await stores(70, 72)[0]?.(store) // inserts are accepted again
})

test.serial('a move is refused beside another one, and for replicated tables', async (t) => {
  const { store } = opened
  await toOldLayout(store, ['swaps'])
  await store.command(
    'CREATE TABLE swaps_by_slot (slot UInt64) ENGINE = ReplacingMergeTree ORDER BY slot',
  )
  const { stop } = options
  await t.throwsAsync(repartition(store, { stop }), {
    message: 'another repartition runs, or one was killed in the last minute (table swaps_by_slot)',
  })
  await t.throwsAsync(repartition({ ...store, replicas: {} as never }, options), {
    message: /^replicated tables and tables of several servers cannot be partitioned anew/,
  })
  await repartition(store, options)
  t.like(await layoutsOf(store), { swaps: 'by_slot' })
})
