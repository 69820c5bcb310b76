import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { TestFn } from 'ava'
import fc from 'fast-check'
import { address } from '../domain/address.ts'
import { ServiceError } from '../domain/service-error.ts'
import { createLogger } from '../runtime/logger.ts'
import type { TestStore } from '../testing/test-store.ts'
import { createGuardedStore } from './guarded-store.ts'
import {
  analystDatabase,
  checkSchema,
  createSchemaCheck,
  migrate,
  planMigration,
} from './migrate.ts'
import { createPatientStore } from './patient-store.ts'
import { SQL_FOLDER } from './schema-files.ts'
import type { Store } from './store.ts'
import { readStorageMarker } from './tables/progress.ts'
import { readPoolPrices } from './tables/sol-prices.ts'
import { addTrackedWallets, readTrackedWallets } from './tables/tracked-wallets.ts'

/** Tests of every store, run on the empty one that `open` returns. `name` is part of the titles. */
export function testStore(test: TestFn, name: string, open: () => Promise<TestStore>): void {
  let opened: TestStore
  let store: Store
  test.before(async () => {
    opened = await open()
    store = opened.store
  })
  test.after.always(() => opened?.remove())

  test.serial(
    `${name}: a changed, missing or badly named schema file is named in the error, and nothing is written; comments may change`,
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'test-sql-'))
      try {
        cpSync(SQL_FOLDER, folder, { recursive: true })
        const refused = (message: RegExp) =>
          t.throwsAsync(migrate(store, folder), { instanceOf: ServiceError, message })
        await t.throwsAsync(checkSchema(store, folder), { message: /0001_swaps\.sql has not been/ })

        writeFileSync(join(folder, 'extra.sql'), 'SELECT 1')
        await refused(/sql\/extra\.sql: expected a name/)
        rmSync(join(folder, 'extra.sql'))
        writeFileSync(join(folder, '0001_again.sql'), 'SELECT 1')
        await refused(/sql\/0001_swaps\.sql: sql\/0001_again\.sql has the same number/)
        rmSync(join(folder, '0001_again.sql'))
        t.deepEqual(
          await store.query('SELECT name FROM system.tables WHERE database = currentDatabase()'),
          [],
        )

        const names = await migrate(store, folder)
        t.is(names[0], '0001_swaps.sql')
        t.deepEqual(await migrate(store, folder), [])
        await checkSchema(store, folder)
        const isCurrent = createSchemaCheck(store, 0, folder)
        await isCurrent()
        cpSync(join(folder, '0002_transfers.sql'), join(folder, '9998_more.sql'))
        const faultOf = () =>
          isCurrent().then(
            () => null,
            ({ message }: Error) => message,
          )
        while ((await faultOf()) !== 'sql/9998_more.sql has not been applied yet') await nextTurn()
        rmSync(join(folder, '9998_more.sql'))
        while ((await faultOf()) !== null) await nextTurn()

        const transfers = readFileSync(join(folder, '0002_transfers.sql'), 'utf8')
        writeFileSync(join(folder, '0002_transfers.sql'), `-- A correction.\n${transfers}\n`)
        t.deepEqual(await migrate(store, folder), [])
        writeFileSync(
          join(folder, '9999_more.sql'),
          'CREATE TABLE IF NOT EXISTS more (n UInt8) ENGINE = Memory;\n',
        )
        writeFileSync(join(folder, '0002_transfers.sql'), 'SELECT 1;\n')
        await refused(/sql\/0002_transfers\.sql has changed/)
        rmSync(join(folder, '0002_transfers.sql'))
        await refused(/sql\/0002_transfers\.sql was applied .* missing/)
        t.deepEqual(await store.query("SELECT name FROM system.tables WHERE name = 'more'"), [])
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )

  test.serial(
    `${name}: a version goes on without newer schema files that are compatible, and neither starts nor writes with others (rule K19)`,
    async (t) => {
      const newer = mkdtempSync(join(tmpdir(), 'test-sql-'))
      const write = (file: string, text: string) => writeFileSync(join(newer, file), text)
      const planOf = async (folder: string) =>
        (await planMigration(store, folder)).map(({ name, compatible, why }) => [
          name,
          compatible,
          why,
        ])
      try {
        cpSync(SQL_FOLDER, newer, { recursive: true })
        await migrate(store)
        await store.command('ALTER TABLE schema_migrations DROP COLUMN compatible') // as of 1.0.0
        const table = 'CREATE TABLE IF NOT EXISTS newer (n UInt8) ENGINE = Memory;\n'
        write('9997_newer.sql', `-- compatible: adds a table\n${table}`)
        t.deepEqual(await planOf(newer), [['9997_newer.sql', true, 'adds a table']])
        t.deepEqual(await planOf(newer), [['9997_newer.sql', true, 'adds a table']])
        const told: string[] = []
        const tell = ({ name, why }: { name: string; why: string }) => told.push(`${name}: ${why}`)
        t.deepEqual(await migrate(store, newer, tell), ['9997_newer.sql'])
        t.deepEqual(told, [])
        t.deepEqual(await migrate(store), [], 'the older version starts')
        t.deepEqual(await planOf(SQL_FOLDER), [])
        await checkSchema(store)

        const column = 'ALTER TABLE newer ADD COLUMN IF NOT EXISTS more UInt8;\n'
        write('9998_more.sql', `-- incompatible: they write no more\n${column}`)
        write('9999_unmarked.sql', `-- One more.\n${column}`)
        t.deepEqual(await planOf(newer), [
          ['9998_more.sql', false, 'they write no more'],
          ['9999_unmarked.sql', false, ''],
        ])
        await migrate(store, newer, tell)
        t.deepEqual(told, ['9998_more.sql: they write no more', '9999_unmarked.sql: '])
        const refused = {
          instanceOf: ServiceError,
          code: 'schema_changed',
          message:
            'sql/9998_more.sql was applied to this database but is missing here, and a version without it cannot go on: upgrade this process',
        }
        await t.throwsAsync(migrate(store), refused)
        await t.throwsAsync(planMigration(store), refused)
        const isCurrent = createSchemaCheck(store, 0)
        const faultOf = () =>
          isCurrent().then(
            () => null,
            ({ message }: Error) => message,
          )
        while ((await faultOf()) !== refused.message) await nextTurn()

        const guarded = createGuardedStore(store, isCurrent)
        const unwritten = {
          instanceOf: ServiceError,
          code: 'unavailable',
          message: refused.message,
        }
        await t.throwsAsync(guarded.insert('newer', [{ n: 1 }]), unwritten)
        await t.throwsAsync(guarded.command('TRUNCATE TABLE newer'), unwritten)
        const running = createPatientStore(
          guarded,
          new AbortController().signal,
          createLogger('silent'),
        )
        const written = running.insert('newer', [{ n: 2 }])
        t.deepEqual(await guarded.query('SELECT n FROM newer'), [])
        await store.command(
          "ALTER TABLE schema_migrations DELETE WHERE name > '9997_newer.sql' SETTINGS mutations_sync = 1",
        )
        await written
        t.deepEqual(await guarded.query('SELECT n FROM newer'), [{ n: 2 }])
      } finally {
        await store.command('DROP TABLE IF EXISTS newer')
        await store.command(
          "ALTER TABLE schema_migrations DELETE WHERE name >= '9' SETTINGS mutations_sync = 1",
        )
        rmSync(newer, { recursive: true, force: true })
      }
    },
  )

  test.serial(`${name}: several processes may migrate at once`, async (t) => {
    await store.command('DROP TABLE schema_migrations')
    await Promise.all([migrate(store), migrate(store), migrate(store)])
    t.deepEqual(await migrate(store), [])
  })

  test.serial(
    `${name}: an answer in many pieces is read to its last row, whatever characters it has`,
    async (t) => {
      const rows = await store.query<{ n: string; text: string }>(
        "SELECT number AS n, repeat(concat(toString(number), 'é\\n€\\r\\n\\\\n\"'), 1 + number % 40) AS text FROM numbers(20000)",
      )
      const expected = Array.from({ length: 20_000 }, (_, n) => ({
        n: String(n),
        text: `${n}é\n€\r\n\\n"`.repeat(1 + (n % 40)),
      }))
      t.true(isDeepStrictEqual(rows, expected))
    },
  )

  test.serial(`${name}: an answer has no rows of an earlier query that failed`, async (t) => {
    const failing = [
      'SELECT number AS slot, throwIf(number = 2000) AS no FROM numbers(10000) SETTINGS max_threads = 1, max_block_size = 100',
      'SELECT number AS slot, sleepEachRow(0.001) FROM numbers(100000) SETTINGS max_block_size = 10, max_execution_time = 0.3',
    ]
    for (const query of failing) {
      await t.throwsAsync(store.query(query), { instanceOf: ServiceError })
      t.deepEqual(await store.query("SELECT 1 AS one, ['[\n'] AS text"), [
        { one: 1, text: ['[\n'] },
      ])
      await t.throwsAsync(store.query(query), { instanceOf: ServiceError })
      t.deepEqual(await store.query('SELECT 1 AS one WHERE one = 2'), [])
      await t.throwsAsync(store.command(query), { instanceOf: ServiceError })
      t.is(await readStorageMarker(store), null)
    }
  })

  test.serial(
    `${name}: an answer without a required column is rejected as retriable`,
    async (t) => {
      t.deepEqual(await store.query<{ a: number }>('SELECT 1 AS a', {}, ['a']), [{ a: 1 }])
      const error = await t.throwsAsync(
        store.query<Record<'a' | 'b' | 'c', number>>('SELECT 1 AS a', {}, ['b', 'a', 'c']),
        { instanceOf: ServiceError, message: 'an answer of the store lacks the columns b, c' },
      )
      t.like(error, { code: 'unavailable', retriable: true })
      t.deepEqual(await store.query<{ b: number }>('SELECT 1 AS a WHERE 0', {}, ['b']), [])
    },
  )

  test.serial(`${name}: many rows are stored as few rows are, whatever their values`, async (t) => {
    const types = `small UInt8, middle UInt16, count UInt32, whole Bool, long UInt64, change Int64, amount UInt128, profit Int128,
       text String, maybe Nullable(UInt128), kind Enum8('buy' = 1, 'sell' = 2), coin LowCardinality(Nullable(String)),
       hours Array(Tuple(hour_utc UInt8, tx_count UInt64)), by_default UInt8 DEFAULT 7, only_inserts UInt32 EPHEMERAL`
    for (const table of ['one_by_one', 'at_once'])
      await store.command(
        `CREATE TABLE ${table} (${types}) ENGINE = MergeTree ORDER BY count SETTINGS non_replicated_deduplication_window = 10`,
      )
    const rows = fc.sample(aWideRow, { numRuns: 300, seed: 1 }).map((row, count) => ({
      ...row,
      count,
      only_inserts: count,
    }))
    const columns = Object.keys(rows[0] ?? {})
    for (let at = 0; at < rows.length; at += 50)
      await store.insert('one_by_one', rows.slice(at, at + 50), { columns })
    // The same block is stored once.
    for (const dedupToken of ['a', 'a'])
      await store.insert('at_once', rows, { columns, dedupToken })
    const read = (table: string) => store.query(`SELECT * FROM ${table} ORDER BY count`)
    t.deepEqual(await read('at_once'), await read('one_by_one'))
    t.is((await read('at_once')).length, 300)

    // A value that does not fit its column, and an unknown column, are refused as with few rows.
    const spoilt = (change: object) =>
      store
        .insert('at_once', [...rows.slice(1), { ...rows[0], ...change }], { columns })
        .then(() => 'taken')
        .catch((error: ServiceError) => error.code)
    t.is(await spoilt({ amount: 'many' }), 'internal')
    t.is(await spoilt({ kind: 'swap' }), 'internal')
    t.is(await spoilt({ count: '12' }), 'taken')
    await t.throwsAsync(
      store.insert(
        'at_once',
        rows.map((row) => ({ ...row, other: 1 })),
      ),
      { instanceOf: ServiceError },
    )
    for (const table of ['one_by_one', 'at_once']) await store.command(`DROP TABLE ${table}`)
  })

  test.serial(`${name}: every table and column has a comment`, async (t) => {
    const [found] = await store.query<{ tables: number }>(
      'SELECT toUInt32(count()) AS tables FROM system.tables WHERE database = currentDatabase()',
    )
    t.true((found?.tables ?? 0) >= 20)
    const without = (from: string, column: string) =>
      store.query(
        `SELECT ${column} AS table, name FROM system.${from} WHERE database = currentDatabase() AND comment = ''`,
      )
    t.deepEqual(await without('columns', 'table'), [])
    t.deepEqual(await without('tables', 'name'), [])
  })

  test.serial(`${name}: analysts see aliases, and no address, signature or slot`, async (t) => {
    const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
    const analyst = analystDatabase(own?.name ?? '')
    const columns = await store.query<{
      table: string
      name: string
      type: string
      comment: string
    }>('SELECT table, name, type, comment FROM system.columns WHERE database = {analyst:String}', {
      analyst,
    })
    t.deepEqual([...new Set(columns.map((column) => column.table))].sort(), [
      ...['coverage', 'disposals', 'first_buys', 'lots', 'mints', 'pnl_hours'],
      ...['positions', 'rollups'],
      ...['signals', 'sol_balances', 'sol_prices', 'sol_transfer_changes', 'sol_transfers'],
      ...['storage', 'swap_changes', 'swaps', 'token_hours', 'token_prices'],
      ...['transfer_changes', 'transfers', 'wallet_days', 'wallet_metrics', 'watchlist'],
    ])
    t.deepEqual(
      columns.filter(
        ({ name: column, type, comment }) =>
          /address|signature|slot|tx_index|program_id|pool|inserted_at/.test(column) ||
          comment === '' ||
          (column === 'wallet' && type !== 'String'),
      ),
      [],
    )
    for (const table of new Set(columns.map((column) => column.table)))
      await store.query(`SELECT * FROM ${analyst}.${table} LIMIT 1`)
  })

  test.serial(`${name}: wide integers keep every digit`, async (t) => {
    await store.command(
      'CREATE TABLE wide (u64 UInt64, i128 Int128, u128 Nullable(UInt128), pairs Array(Tuple(a UInt8, b UInt64))) ENGINE = MergeTree ORDER BY u64',
    )
    const row = {
      u64: '18446744073709551615',
      i128: '-170141183460469231731687303715884105728',
      u128: '340282366920938463463374607431768211455',
      pairs: [{ a: 1, b: '9007199254740993' }],
    }
    await store.insert('wide', [
      { ...row, i128: BigInt(row.i128), u128: BigInt(row.u128) },
      { u64: 7, u128: null },
    ])
    t.deepEqual(await store.query('SELECT * FROM wide ORDER BY u64'), [
      { u64: '7', i128: '0', u128: null, pairs: [] },
      row,
    ])
    t.deepEqual(
      await store.query(
        'SELECT u64 FROM wide WHERE u64 IN {ids:Array(UInt64)} AND {text:String} = {text:String}',
        {
          ids: [18446744073709551615n],
          text: `it's a "quote"\\ and\nmore`,
        },
      ),
      [{ u64: row.u64 }],
    )
    await store.insert('wide', [])
  })

  test.serial(`${name}: a block sent again with its token is stored once`, async (t) => {
    const rows = [{ time: 1, source: 'file', usd_e9: 5 }]
    const count = async () =>
      (await store.query<{ n: string }>('SELECT count() AS n FROM sol_prices'))[0]?.n
    await store.insert('sol_prices', rows, { dedupToken: 'a:1' })
    await store.insert('sol_prices', rows, { dedupToken: 'a:1' })
    t.is(await count(), '1')
    await store.insert('sol_prices', rows, { dedupToken: 'a:2' })
    t.is(await count(), '2')
    await store.insert('sol_prices', rows)
    t.is(await count(), '3')
  })

  test.serial(`${name}: the newest prices of the pool are read oldest first`, async (t) => {
    const price = (time: number, source: string, usd_e9: string) => ({ time, source, usd_e9 })
    await store.insert('sol_prices', [price(9, 'pool', '3'), price(7, 'pool', '1')])
    await store.insert('sol_prices', [price(8, 'pool', '2'), price(10, 'file', '4')])
    t.deepEqual(await readPoolPrices(store, 2), [
      { time: 8, usdE9: 2n },
      { time: 9, usdE9: 3n },
    ])
  })

  test.serial(
    `${name}: the error of a refused statement is a bug and quotes no data`,
    async (t) => {
      for (const wrong of [
        () => store.query("SELECT 'secret' FROM nothing"),
        () => store.insert('sol_prices', [{ secret: 1 }]),
        () => store.command('DROP TABLE secret'),
      ]) {
        const error = await t.throwsAsync(wrong, { instanceOf: ServiceError })
        t.is((error as ServiceError).code, 'internal')
        t.false((error as ServiceError).retriable)
        t.notRegex(String(error?.message), /secret/)
      }
    },
  )

  test.serial(
    `${name}: the storage marker is the lowest partition's, once every partition has one`,
    async (t) => {
      const at = (partition: number, slot: number, price: number | null) => ({
        worker: 'fold',
        partition,
        partitions: 2,
        slot,
        parent: slot - 1,
        block_time: 1000 + slot,
        sol_price_time: price,
        sol_price_usd_e9: price === null ? null : '150000000001',
      })
      t.is(await readStorageMarker(store), null)
      await store.insert('progress', [at(0, 7, null)])
      t.is(await readStorageMarker(store), null)
      await store.insert('progress', [at(1, 5, 900)])
      t.deepEqual(await readStorageMarker(store), {
        slot: 5,
        parent: 4,
        blockTime: 1005,
        solPrice: { time: 900, usdE9: 150_000_000_001n },
        blockId: null,
        finalized: null,
      })
      // Storing an older slot again, after a crash, does not move it back.
      await store.insert('progress', [at(0, 6, null), at(1, 8, null)])
      t.deepEqual(await readStorageMarker(store), {
        slot: 7,
        parent: 6,
        blockTime: 1007,
        solPrice: null,
        blockId: null,
        finalized: null,
      })
    },
  )

  test.serial(
    `${name}: tracked wallets keep their order, and each has metrics from the start`,
    async (t) => {
      const addresses = [
        address('So11111111111111111111111111111111111111112'),
        address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
        address('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
      ]
      t.deepEqual(await readTrackedWallets(store), [])
      await addTrackedWallets(store, addresses.slice(0, 2), [], 5)
      await addTrackedWallets(store, addresses, await readTrackedWallets(store), 6)
      await addTrackedWallets(store, addresses, await readTrackedWallets(store), 7)
      t.deepEqual(await readTrackedWallets(store), addresses)
      t.deepEqual(
        await store.query(
          'SELECT wallet, status, score_e2, computed_at, sol_balance_lamports AS balance FROM wallet_metrics ORDER BY wallet',
        ),
        [1, 2, 3].map((wallet) => ({
          wallet,
          status: 'review',
          score_e2: null,
          computed_at: 0,
          balance: null,
        })),
      )
    },
  )

  test.serial(`${name}: a page of the newest swaps is right before any merge`, async (t) => {
    const swap = (slot: number, version: number, isDeleted: number) => ({
      slot,
      tx_index: 0,
      wallet: 1,
      event_index: 0,
      block_time: slot,
      signature: 's',
      side: 'buy',
      base_mint: 'm',
      base_amount: version + 1,
      base_decimals: 6,
      quote_mint: null,
      quote_amount: 0,
      program: 'p',
      program_id: 'p',
      confidence: 'high',
      quote_mismatch: true,
      fee_lamports: 0,
      sol_price_usd_e9: null,
      value_lamports: null,
      version,
      is_deleted: isDeleted,
    })
    await store.insert('swaps', [swap(1, 0, 0), swap(2, 0, 0), swap(3, 0, 0)])
    await store.insert('swaps', [swap(2, 1, 0), swap(3, 1, 1), swap(1, 0, 0)])
    const page = await store.query(
      `SELECT slot, base_amount FROM (
         SELECT * FROM swaps ORDER BY slot DESC, tx_index DESC, wallet DESC, event_index DESC, version DESC
         LIMIT 1 BY slot, tx_index, wallet, event_index)
       WHERE is_deleted = 0 LIMIT 25`,
    )
    const final = await store.query('SELECT slot, base_amount FROM swaps FINAL ORDER BY slot DESC')
    t.deepEqual(page, [
      { slot: '2', base_amount: '2' },
      { slot: '1', base_amount: '1' },
    ])
    t.deepEqual(page, final)
  })
}

const aBigint = (bits: number, isSigned: boolean) => {
  const limit = 1n << BigInt(isSigned ? bits - 1 : bits)
  const [min, max] = [isSigned ? -limit : 0n, limit - 1n]
  return fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max, 0n, 1n, 2n ** 53n))
}
const asText = (value: bigint) => String(value)

/** One value of each column type. */
const aWideRow = fc.record({
  small: fc.nat(255),
  middle: fc.nat(65_535),
  whole: fc.boolean(),
  long: fc.oneof(aBigint(64, false), aBigint(64, false).map(asText), fc.maxSafeNat()),
  change: fc.oneof(aBigint(64, true), aBigint(64, true).map(asText), fc.maxSafeInteger()),
  amount: aBigint(128, false),
  profit: fc.oneof(aBigint(128, true), aBigint(128, true).map(asText)),
  text: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.constant('x'.repeat(300))),
  maybe: fc.option(aBigint(128, false)),
  kind: fc.constantFrom('buy', 'sell'),
  coin: fc.constantFrom('a', 'b', null),
  hours: fc.array(fc.record({ hour_utc: fc.nat(23), tx_count: fc.nat() }), { maxLength: 3 }),
})
