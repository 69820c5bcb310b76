import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { ServiceError } from '../../domain/service-error.ts'
import { FILLED_DAYS, fillDays } from '../../testing/fill-days.ts'
import { openTestChdb, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { migrate } from '../migrate.ts'
import type { Row, Store } from '../store.ts'
import { insertProgress } from '../tables/progress.ts'
import { dayText, type ExportOptions, exportDays } from './export.ts'
import { openPlace, parseTarget } from './export-place.ts'
import { describeExport } from './export-query.ts'
import { EXPORT_TABLES } from './export-tables.ts'

/*
 * Exports (rule M4) from the embedded engine, and from the server of CLICKHOUSE_URL. Parquet is
 * read by the embedded engine; infra/export reads it with other programs.
 */

const DAY = 86_400
/** 4 January 2026, and the two days after it. */
const FILLED = Date.parse('2026-01-04') / 1000 / DAY
/** 1 March 2026. */
const MARCH = Date.parse('2026-03-01') / 1000 / DAY
const TABLES = Object.keys(EXPORT_TABLES)
const BONK = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'
const WSOL = 'So11111111111111111111111111111111111111112'

let opened: TestStore
let reader: TestStore
test.before(async () => {
  opened = await openTestStore()
  reader = opened.store.kind === 'chdb' ? opened : await openTestChdb()
  await migrate(opened.store)
  await fillDays(opened.store, { day: FILLED, rows: 300 })
})
test.after.always(async () => {
  await opened.remove()
  if (reader !== opened) await reader.remove()
})

function newFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'export-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const exportTo = (path: string, change: Partial<ExportOptions> = {}) =>
  exportDays(opened.store, {
    target: { kind: 'folder', path },
    tables: TABLES,
    from: FILLED,
    to: FILLED + FILLED_DAYS - 1,
    stop: new AbortController().signal,
    ...change,
  })

/** SHA-256 of each file of a folder. */
const filesOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
      .map((name) => [name, sha256(join(folder, name))]),
  )
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
/** A number that changes when a file is replaced. */
const inodesOf = (folder: string, names: readonly string[]) =>
  names.map((name) => statSync(join(folder, name)).ino)
const manifestOf = (folder: string, table: string) =>
  JSON.parse(readFileSync(join(folder, table, 'manifest.json'), 'utf8'))

const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServiceError)) throw new Error('not refused')
  return `${error.code}: ${error.message}`
}

const storeMark = (store: Store, block_time: number) =>
  insertProgress(
    store,
    ['fold', 'rollups', 'trending'].map((worker) => ({
      worker,
      partition: 0,
      partitions: 1,
      slot: block_time,
      complete_slot: block_time,
      parent: 1,
      block_time,
    })),
  )

const swap = (slot: number, block_time: number, change: Row): Row => ({
  slot,
  tx_index: 0,
  wallet: 1,
  event_index: 0,
  block_time,
  signature: 's',
  side: 'buy',
  base_mint: BONK,
  base_amount: '1000',
  base_decimals: 5,
  quote_mint: WSOL,
  quote_amount: '2000000000',
  program: 'pumpswap',
  program_id: 'p',
  confidence: 'high',
  quote_mismatch: false,
  fee_lamports: '5000',
  sol_price_usd_e9: '200000000000',
  value_lamports: '2000000000',
  ...change,
})

test.serial(
  'each day has its rows, from its first second to its last, exact to 38 digits',
  async (t) => {
    const { store } = opened
    const folder = newFolder(t)
    const largest = '9'.repeat(38)
    await store.insert('swaps', [
      swap(1000, MARCH * DAY + 43_200, {}),
      swap(1002, (MARCH + 2) * DAY - 1, { wallet: 12, fee_lamports: '18446744073709551615' }),
      swap(1001, (MARCH + 1) * DAY, {
        wallet: 2,
        side: 'sell',
        base_amount: largest,
        quote_mint: null,
        quote_amount: '0',
        quote_mismatch: true,
        confidence: 'delta_only',
        sol_price_usd_e9: null,
        value_lamports: null,
      }),
      swap(1003, (MARCH + 2) * DAY, {}),
    ])
    await storeMark(store, (MARCH + 3) * DAY)
    const done = await exportTo(folder, { tables: ['swaps'], from: MARCH, to: MARCH + 1 })
    const rowsOf = (day: number) =>
      reader.store.query<Row>(
        `SELECT * EXCEPT (event_id, time, block_time_utc), match(event_id, '^[0-9a-f]{32}$') AS has_id,
         toUnixTimestamp(time) AS time, toUnixTimestamp(block_time_utc) AS block_time_utc
       FROM file({path:String}, 'Parquet') SETTINGS output_format_json_quote_decimals = 1`,
        { path: join(folder, 'swaps', `${dayText(day)}.parquet`) },
      )
    const timeOf = (time: number) => ({ block_time: time, time, block_time_utc: time })
    const first = {
      wallet: 'W1',
      wallet_number: 1,
      side: 'buy',
      base_mint: BONK,
      base_amount: '1000',
      base_decimals: 5,
      quote_mint: WSOL,
      quote_amount: '2000000000',
      program: 'pumpswap',
      confidence: 'high',
      quote_mismatch: false,
      fee_lamports: '5000',
      sol_price_usd_e9: '200000000000',
      value_lamports: '2000000000',
      base_tokens: 0.01,
      quote_tokens: 2,
      fee_sol: 0.000005,
      sol_price_usd: 200,
      value_sol: 2,
      has_id: 1,
    }
    t.deepEqual(await rowsOf(MARCH), [{ ...first, ...timeOf(MARCH * DAY + 43_200) }])
    t.deepEqual(await rowsOf(MARCH + 1), [
      {
        ...first,
        ...timeOf((MARCH + 1) * DAY),
        wallet: 'W2',
        wallet_number: 2,
        side: 'sell',
        base_amount: largest,
        base_tokens: 1e33,
        quote_mint: null,
        quote_amount: '0',
        quote_tokens: null,
        quote_mismatch: true,
        confidence: 'delta_only',
        sol_price_usd_e9: null,
        sol_price_usd: null,
        value_lamports: null,
        value_sol: null,
      },
      {
        ...first,
        ...timeOf((MARCH + 2) * DAY - 1),
        wallet: 'W12',
        wallet_number: 12,
        fee_lamports: '18446744073709551615',
        fee_sol: 18446744073.709553,
      },
    ])
    const paths = ['2026-03-01', '2026-03-02'].map((day) => join(folder, 'swaps', `${day}.parquet`))
    const bytes = paths.map((path) => statSync(path).size)
    const { columns, schema_version, files, ...rest } = manifestOf(folder, 'swaps')
    t.deepEqual(rest, { format: 1, table: 'swaps', complete_through: '2026-03-02' })
    t.deepEqual(
      columns.slice(3, 8),
      [
        ['side', 'String'],
        ['base_mint', 'String'],
        ['base_amount', 'Decimal(38, 0)'],
        ['base_decimals', 'UInt8'],
        ['quote_mint', 'Nullable(String)'],
      ].map(([name, type]) => ({ name, type })),
    )
    t.deepEqual(
      files.map(({ digest, ...file }: { digest: string }) => file),
      [
        { day: '2026-03-01', file: '2026-03-01.parquet', rows: 1 },
        { day: '2026-03-02', file: '2026-03-02.parquet', rows: 2 },
      ].map((file, at) => ({
        ...file,
        bytes: bytes[at],
        sha256: sha256(paths[at] ?? ''),
        schema_version,
      })),
    )
    t.deepEqual(done, [
      {
        table: 'swaps',
        written: 2,
        unchanged: 0,
        rows: 3,
        bytes: (bytes[0] ?? 0) + (bytes[1] ?? 0),
        incomplete_from: null,
      },
    ])
  },
)

test.serial(
  'a day counts as complete 16 s after its end, and one that is not is not written',
  async (t) => {
    const folder = newFolder(t)
    const day = MARCH + 10
    const days = { tables: ['swaps', 'wallet_days', 'signals'], from: day - 1, to: day }
    await storeMark(opened.store, (day + 1) * DAY + 15)
    const incomplete = await exportTo(folder, days)
    t.deepEqual(
      incomplete.map((one) => [one.table, one.written, one.incomplete_from]),
      days.tables.map((table) => [table, 1, dayText(day)]),
    )
    t.is(manifestOf(folder, 'swaps').complete_through, dayText(day - 1))
    await storeMark(opened.store, (day + 1) * DAY + 16)
    const complete = await exportTo(folder, days)
    t.deepEqual(
      complete.map((one) => [one.table, one.written, one.unchanged, one.incomplete_from]),
      days.tables.map((table) => [table, 1, 1, null]),
    )
  },
)

test.serial('the same command again writes only days whose rows changed', async (t) => {
  const folder = newFolder(t)
  const first = await exportTo(folder)
  t.deepEqual(
    first.map(({ table, written, unchanged, incomplete_from }) => [
      table,
      written,
      unchanged,
      incomplete_from,
    ]),
    TABLES.map((table) => [table, 3, 0, null]),
  )
  const before = filesOf(folder)
  const names = Object.keys(before)
  const inodes = inodesOf(folder, names)
  t.deepEqual(
    await exportTo(folder),
    TABLES.map((table) => ({
      table,
      written: 0,
      unchanged: 3,
      rows: 0,
      bytes: 0,
      incomplete_from: null,
    })),
  )
  t.deepEqual([filesOf(folder), inodesOf(folder, names)], [before, inodes], 'nothing is replaced')
  // A transfer of the second day is corrected, and one of the third is withdrawn.
  for (const [n, change] of [
    [1, 'amount + 1 AS amount'],
    [2, '1 AS is_deleted'],
  ])
    await opened.store.command(
      `INSERT INTO transfers SELECT * REPLACE (version + 1 AS version, ${change})
       FROM transfers WHERE slot = ${400_000_000 + Number(n)}`,
    )
  const again = await exportTo(folder)
  t.deepEqual(
    again
      .filter(({ written }) => written > 0)
      .map(({ table, written, rows }) => [table, written, rows]),
    [
      ['transfers', 2, 199],
      // A transfer moves no position that swaps alone make.
    ],
  )
  const changed = names.filter((name) => before[name] !== filesOf(folder)[name])
  t.deepEqual(changed, [
    'transfers/2026-01-05.parquet',
    'transfers/2026-01-06.parquet',
    'transfers/manifest.json',
  ])
  const other = newFolder(t)
  await exportTo(other)
  t.deepEqual(filesOf(other), filesOf(folder), 'as an export into an empty folder')
})

test.serial(
  'a file that is gone, and one without its entry in the manifest, are written again',
  async (t) => {
    const folder = newFolder(t)
    await exportTo(folder, { tables: ['swaps'] })
    const before = filesOf(folder)
    const manifest = manifestOf(folder, 'swaps')
    rmSync(join(folder, 'swaps/2026-01-04.parquet'))
    writeFileSync(
      join(folder, 'swaps/manifest.json'),
      JSON.stringify({ ...manifest, files: manifest.files.slice(0, 2) }),
    )
    writeFileSync(join(folder, 'swaps/2026-01-06.parquet.unfinished'), 'half')
    const [again] = await exportTo(folder, { tables: ['swaps'] })
    t.is(again?.written, 2)
    t.deepEqual(filesOf(folder), before)
  },
)

test.serial('a day that is missing in between bounds complete_through', async (t) => {
  const folder = newFolder(t)
  const through = async (from: number, to: number) => {
    await exportTo(folder, { tables: ['swaps'], from, to })
    return manifestOf(folder, 'swaps').complete_through
  }
  t.is(await through(FILLED + 2, FILLED + 2), '2026-01-06')
  t.is(await through(FILLED, FILLED), '2026-01-04')
  t.is(await through(FILLED + 1, FILLED + 1), '2026-01-06')
})

test.serial(
  'with a salt files have what is served, and another salt writes every day again',
  async (t) => {
    const { store } = opened
    const folder = newFolder(t)
    const tables = ['swaps', 'transfers']
    await exportTo(folder, { tables })
    const before = filesOf(folder)
    await store.insert('privacy_salt', [{ id: 0, salt: 'salt', version: 2 }])
    try {
      t.deepEqual(
        (await exportTo(folder, { tables })).map(({ written }) => written),
        [3, 3],
      )
      const served = filesOf(folder)
      t.deepEqual(
        Object.keys(before).filter((name) => served[name] === before[name]),
        [],
      )
      const rows = (source: string) =>
        `SELECT event_id, block_time, toString(base_amount) AS base_amount FROM ${source}`
      const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
      const analyst = own?.name === 'tracked_wallets' ? 'analyst' : `analyst_${own?.name}`
      t.deepEqual(
        await reader.store.query(`${rows("file({path:String}, 'Parquet')")} LIMIT 1000`, {
          path: join(folder, 'swaps/2026-01-05.parquet'),
        }),
        await store.query(
          `${rows(`${analyst}.swaps`)} WHERE block_time >= {from:UInt32} AND block_time < {to:UInt32} ORDER BY block_time, event_id`,
          { from: (FILLED + 1) * DAY, to: (FILLED + 2) * DAY },
        ),
      )
    } finally {
      await store.insert('privacy_salt', [{ id: 0, salt: '', version: 3 }])
    }
    await exportTo(folder, { tables })
    t.deepEqual(filesOf(folder), before)
  },
)

test.serial(
  'a second export into the same place is refused until the first has ended',
  async (t) => {
    const folder = newFolder(t)
    let second: Promise<string> | undefined
    await exportTo(folder, {
      tables: ['swaps'],
      onDays: () => {
        second ??= refusal(exportTo(folder))
      },
    })
    t.is(
      await second,
      'unavailable: another export writes into this place: wait for its end, or name another place',
    )
    await exportTo(folder, { tables: ['swaps'] })
  },
)

test.serial('a stopped export has a manifest of what it wrote, and goes on', async (t) => {
  const folder = newFolder(t)
  const stop = new AbortController()
  t.is(
    await refusal(
      exportTo(folder, { tables: ['swaps'], stop: stop.signal, onDays: () => stop.abort() }),
    ),
    'closed: stopped: the same command goes on',
  )
  t.is(manifestOf(folder, 'swaps').complete_through, '2026-01-04')
  const [rest] = await exportTo(folder, { tables: ['swaps'] })
  t.deepEqual([rest?.unchanged, rest?.written], [1, 2])
})

test.serial(
  'a place that cannot be written, and a manifest of somebody else, are refused',
  async (t) => {
    const folder = newFolder(t)
    writeFileSync(join(folder, 'file'), '')
    t.is(
      await refusal(exportTo(join(folder, 'file'))),
      `unavailable: --to-dir: ${folder}/file: a part of it is a file: name a folder`,
    )
    await exportTo(folder, { tables: ['swaps'] })
    writeFileSync(join(folder, 'swaps/manifest.json'), '{"format":2}')
    t.is(
      await refusal(exportTo(folder, { tables: ['swaps'] })),
      'newer_format: swaps/manifest.json is not a manifest of this version: export into another place',
    )
  },
)

test.serial('a file that the embedded engine could not write to its end is refused', async (t) => {
  const folder = newFolder(t)
  const { store } = reader
  if (store !== opened.store) await migrate(store)
  // As on a full disk, where the engine reports no error.
  const full: Store = {
    ...store,
    command: async (_, params) => writeFileSync(String(params?.path), 'PAR1 half of a file'),
  }
  const place = openPlace(full, { kind: 'folder', path: folder }, 'export-tag')
  await place.prepare('swaps')
  const query = await describeExport(store, 'swaps')
  const day = { from: FILLED * DAY, to: (FILLED + 1) * DAY }
  t.is(
    await refusal(place.write('swaps/2026-01-04.parquet', query, day)),
    `unavailable: --to-dir: ${folder}: a file was not written to its end, as on a full disk: make room, and run the same command again`,
  )
  t.deepEqual(Object.keys(filesOf(folder)), ['swaps/2026-01-04.parquet.unfinished'])
})

test('a place is a folder, or a prefix of a bucket of plain characters', (t) => {
  t.deepEqual(parseTarget('/a/../b/'), { kind: 'folder', path: '/b' })
  t.deepEqual(parseTarget('s3://my.bucket-1/a/b=1/'), {
    kind: 's3',
    bucket: 'my.bucket-1',
    prefix: 'a/b=1',
  })
  t.deepEqual(parseTarget('s3://bucket'), { kind: 's3', bucket: 'bucket', prefix: '' })
  for (const text of [
    '',
    's3://',
    's3://b',
    's3://Bucket/a',
    "s3://bucket/a'b",
    's3://bucket/../a',
    's3://bucket//a',
    's3://bucket/{a,b}',
    's3://bucket/*',
    's3://user:key@bucket/a',
    'https://bucket/a',
    'a\0b',
  ])
    t.is(parseTarget(text), null, text)
})
