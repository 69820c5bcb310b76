import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { WalletEvent } from '../../domain/event.ts'
import { compareEventKeys } from '../../domain/event-key.ts'
import { toFoldEvent } from '../../fold/fold-event.ts'
import { foldEvent } from '../../fold/fold-wallet.ts'
import { createWalletState } from '../../fold/wallet-state.ts'
import { migrate } from '../../store/migrate.ts'
import { SQL_FOLDER } from '../../store/schema-files.ts'
import type { Row, Store } from '../../store/store.ts'
import { aChain } from '../../testing/a-chain.ts'
import { openTestChdb, type TestStore } from '../../testing/test-store.ts'
import { BookWriter } from './book-writer.ts'
import { makeEventIdKey } from './event-id-key.ts'
import { decodedRow } from './event-rows.ts'
import { adoptSalt } from './privacy-salt.ts'

/*
 * What is common to the analyst's views (rules I3, J9): how columns are named, ids of events, and
 * which conditions do not read a view whole.
 */

const WALLETS = 4
const { slots } = aChain({ seed: 5, slots: 120, wallets: WALLETS, lateShare: 0 })
const events = slots
  .flatMap((slot) => slot.records)
  .filter((record): record is WalletEvent =>
    ['swap', 'token_transfer', 'sol_transfer'].includes(record.kind),
  )
  .sort(compareEventKeys)

let opened: TestStore
let store: Store

/** Stores events and books, and 300,000 rows more of tables whose indexes are looked at. */
async function storeHistory(): Promise<void> {
  for (const event of events) {
    const [table, row] = decodedRow(event, null)
    await store.insert(table, [row])
  }
  const rows = new BookWriter(store, () => 0, 1_700_000_059, true)
  for (let wallet = 1; wallet <= WALLETS; wallet += 1) {
    const state = createWalletState(wallet)
    for (const event of events) if (event.wallet === wallet) foldEvent(state, toFoldEvent(event))
    rows.add(state)
  }
  await rows.store()
  await store.insert('wallet_coverage', [
    { wallet: 1, since_slot: 1, since_time: 1_700_000_001, version: 1 },
  ])
  const many = 'FROM numbers(300000)'
  const event = '1000000 + number AS slot, 0 AS tx_index, 10 + number % 5 AS wallet'
  const place = `${event}, 1600000000 + number AS block_time`
  for (const table of ['swaps', 'transfers', 'sol_transfers', 'sol_balances'])
    await store.command(
      `INSERT INTO ${table} (slot, tx_index, wallet, block_time, inserted_at) SELECT ${place}, toDateTime64(block_time, 3) ${many}`,
    )
  for (const table of ['lots', 'disposals'])
    await store.command(
      `INSERT INTO ${table} (slot, tx_index, wallet, block_time) SELECT ${place} ${many}`,
    )
  await store.command(
    `INSERT INTO profit_hours (wallet, hour, mint) SELECT 10 + number % 5, 3600 * number, 'mint' ${many}`,
  )
  await store.command(
    `INSERT INTO positions (wallet, mint) SELECT 10 + number % 5, toString(number) ${many}`,
  )
}

test.before(async () => {
  opened = await openTestChdb()
  store = opened.store
  // The rows are older than the indexes.
  const earlier = mkdtempSync(join(tmpdir(), 'test-sql-'))
  cpSync(SQL_FOLDER, earlier, { recursive: true })
  for (const file of readdirSync(earlier)) if (/^018[0-5]/.test(file)) rmSync(join(earlier, file))
  await migrate(store, earlier)
  rmSync(earlier, { recursive: true })
  await storeHistory()
  await migrate(store)
  const open = 'SELECT count() AS open FROM system.mutations WHERE NOT is_done'
  while ((await store.query<{ open: string }>(open))[0]?.open !== '0');
})
test.after.always(() => opened?.remove())

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly comment: string
}

async function readColumns(): Promise<Column[]> {
  return store.query<Column>(
    "SELECT table, name, type, comment FROM system.columns WHERE database = 'analyst' AND table NOT IN ('positions_at', 'wallet_positions_at')",
  )
}

test.serial(
  'a raw column has one in whole units, unix seconds a time, and a wallet its number, with the same value',
  async (t) => {
    const columns = await readColumns()
    /** The column that has to stand beside another one, and how it follows from it. */
    const siblingOf = ({ name, type, comment }: Column): readonly [string, string] | null => {
      const isTime =
        /^(?:Nullable\()?UInt32/.test(type) &&
        /_at$|^at$|^entry$|^minute$|time$|since$|through$/.test(name)
      if (isTime) return [`${name}_utc`, `toDateTime(${name}, 'UTC')`]
      if (/UTC/.test(type)) return null
      if (/lamports$/.test(name))
        return [name.replace(/^lamports$|lamports$/, 'sol'), `${name} / 1e9`]
      const [, base, power] = /^(.*?)_?e([0-9])$/.exec(name) ?? []
      if (base !== undefined) return [base, `${name} / 1e${power}`]
      if (name === 'wallet') return ['wallet_number', 'toUInt32(substring(wallet, 2))']
      return comment === '' ? [name, 'a comment'] : null
    }
    for (const column of columns) {
      const sibling = siblingOf(column)
      if (sibling === null) continue
      const [name, value] = sibling
      const title = `${column.table}.${column.name} and ${name}`
      t.true(
        columns.some((other) => other.table === column.table && other.name === name),
        title,
      )
      const [row] = await store.query<{ wrong: string }>(
        `SELECT countIf(NOT (${name} <=> ${value})) AS wrong FROM analyst.${column.table}`,
      )
      t.is(row?.wrong, '0', title)
    }
    for (const [view, tokens, raw] of [
      ['swaps', 'base_tokens', 'base_amount / exp10(base_decimals)'],
      ['transfers', 'tokens', 'amount / exp10(decimals)'],
      ['positions', 'open_tokens', 'open_amount / exp10(decimals)'],
    ])
      t.deepEqual(
        await store.query(`SELECT countIf(${tokens} != ${raw}) AS wrong FROM analyst.${view}`),
        [{ wrong: '0' }],
      )
  },
)

/** What the plan of a query uses of keys and indexes, and whether that leaves only a small part. */
async function usesOf(sql: string): Promise<string[]> {
  const plan = await store.query<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`)
  const reads = plan
    .map(({ explain }) => explain)
    .join('\n')
    .split(/ReadFromMergeTree \((?:tracked_wallets\.)?/)
  const use = /(?:PrimaryKey\W+(Keys:\W+\w+)|(Name: \w+)).*?Granules: (\d+)\/(\d+)/gs
  return reads.slice(1).flatMap((read) =>
    [...read.matchAll(use)].map(([, key, index, part, all]) => {
      const name = (key ?? index ?? '').replace(/\W+/g, ' ')
      return `${/^\w+/.exec(read)} ${name} ${Number(part) * 4 < Number(all) ? 'in part' : 'whole'}`
    }),
  )
}

test.serial('a condition on a wallet reaches the key, one on a time an index', async (t) => {
  const expected = {
    'lots WHERE wallet_number = 12': ['lots Keys wallet in part'],
    'disposals WHERE wallet_number = 12': ['disposals Keys wallet in part'],
    'positions WHERE wallet_number = 12': ['positions Keys wallet in part'],
    'sol_balances WHERE wallet_number = 12': ['sol_balances Keys wallet in part'],
    'pnl_hours WHERE wallet_number = 12': ['profit_hours Keys wallet in part'],
    'positions_at(at = 1700000000) WHERE wallet_number = 12': [
      'lots Keys wallet in part',
      'disposals Keys wallet in part',
    ],
    "wallet_positions_at(wallet_number = 12, at = 1600001000, mode = 'raw')": [
      ...Array.from({ length: 4 }, () => 'by_wallet Keys wallet in part'),
      // Other wallets' swaps of a day.
      ...['swaps Keys wallet whole', 'swaps Name times in part'],
      ...Array.from({ length: 2 }, () => 'by_wallet Keys wallet in part'),
    ],
    "swaps WHERE time < '2020-09-13 13:00:00'": ['swaps Name times in part'],
    'swaps WHERE block_time < 1600001000': ['swaps Name times in part'],
    "transfers WHERE block_time_utc < '2020-09-13 13:00:00'": ['transfers Name times in part'],
    "sol_transfers WHERE time < '2020-09-13 13:00:00'": ['sol_transfers Name times in part'],
    "token_prices WHERE minute_utc < '2020-09-13 13:00:00'": ['swaps Name times in part'],
    'swap_changes WHERE wallet_number = 12': ['by_wallet Keys wallet in part'],
    'transfer_changes WHERE wallet_number = 12': ['by_wallet Keys wallet in part'],
    'sol_transfer_changes WHERE wallet_number = 12': ['by_wallet Keys wallet in part'],
    "swap_changes WHERE updated_at < '2020-09-13 13:00:00'": ['swaps Name news in part'],
    "transfer_changes WHERE updated_at < '2020-09-13 13:00:00'": ['transfers Name news in part'],
    "sol_transfer_changes WHERE updated_at < '2020-09-13 13:00:00'": [
      'sol_transfers Name news in part',
    ],
    "sol_balances WHERE time < '2020-09-13 13:00:00'": ['sol_balances Name times in part'],
  }
  const actual: Record<string, string[]> = {}
  for (const query of Object.keys(expected))
    actual[query] = await usesOf(`SELECT count() FROM analyst.${query}`)
  t.deepEqual(actual, expected)
})

const column = async (sql: string) =>
  (await store.query<Row>(sql)).map((row) => String(Object.values(row)[0]))

test.serial(
  'an event has one id in every view, which no other event has and which only the key tells (rule I3)',
  async (t) => {
    await t.throwsAsync(store.query('SELECT event_id FROM analyst.swaps LIMIT 1'))
    await makeEventIdKey(store)
    await makeEventIdKey(store)
    t.deepEqual(await column('SELECT count() FROM event_id_key'), ['1'])
    const all = ['swaps', 'transfers', 'sol_transfers', 'sol_balances']
      .map((view) => `SELECT event_id FROM analyst.${view} WHERE wallet_number <= ${WALLETS}`)
      .join(' UNION ALL ')
    const count = "count(), uniqExact(event_id), countIf(match(event_id, '^[0-9a-f]{32}$'))"
    const n = events.length
    t.deepEqual(await column(`SELECT concatWithSeparator(' ', ${count}) FROM (${all})`), [
      `${n} ${n} ${n}`,
    ])
    for (const [view, id, of] of [
      ['lots', 'event_id', "origin = 'buy'"],
      ['disposals', 'event_id', "kind = 'sell'"],
      ['disposals', 'lot_event_id', "lot_origin = 'buy'"],
      ['first_buys', 'event_id', 'true'],
    ]) {
      const rows = `(SELECT wallet, mint, ${id} FROM analyst.${view} WHERE wallet_number <= ${WALLETS} AND ${of})`
      t.deepEqual(
        await column(
          `SELECT count() > 0 AND countIf((wallet, mint, ${id}) NOT IN (SELECT wallet, base_mint, event_id FROM analyst.swaps)) = 0 FROM ${rows}`,
        ),
        ['1'],
        `${view}.${id}`,
      )
    }
    const [key = ''] = await column('SELECT key FROM event_id_key')
    const plan = await column(
      'SELECT explain FROM (EXPLAIN PLAN actions = 1, header = 1 SELECT event_id FROM analyst.swaps)',
    )
    t.regex(plan.join('\n'), /HMAC/)
    t.false(plan.join('\n').includes(key.slice(0, 10)), 'the plan does not show the key')
    const ids = () => column(`SELECT event_id FROM (${all}) ORDER BY event_id`)
    const before = await ids()
    await adoptSalt(store, 'a salt')
    const salted = await ids()
    t.is(new Set([...before, ...salted]).size, 2 * n, 'a salt changes every id')
    await adoptSalt(store, null)
    t.deepEqual(await ids(), before)
    await store.command('TRUNCATE TABLE event_id_key')
    await makeEventIdKey(store)
    t.is(new Set([...before, ...(await ids())]).size, 2 * n, 'another key makes other ids')
  },
)
