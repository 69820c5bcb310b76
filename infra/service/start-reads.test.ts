import test from 'ava'
import { insertWallets, markStored } from '../../api/testing/rows.ts'
import { startApi } from '../../api/testing/start-api.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readLinksBeyond } from '../../pipeline/store/tables/links.ts'
import { insertProgress, readStorageMarker } from '../../pipeline/store/tables/progress.ts'
import { readPoolPrices } from '../../pipeline/store/tables/sol-prices.ts'
import { aMarker } from '../../pipeline/testing/a-marker.ts'
import { openTestChdb, type TestStore } from '../../pipeline/testing/test-store.ts'
import { startPriceFill } from '../../pipeline/workers/facts/price-fill.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { readResumePoint } from '../../pipeline/workers/ingest/resume-point.ts'
import { Roller } from '../../pipeline/workers/rollups/roller.ts'

/*
 * What a start and an assignment of partitions read does not grow with what is stored. Each table
 * has `ROWS` rows, a slot each; no query may read more than `MOST` of all of them together. The
 * bound leaves room for the newest swaps, which the API keeps in memory, and for one granule (8,192
 * rows) of each table, and of each wallet in tables that are ordered by wallet.
 */

const ROWS = 100_000
const MOST = 80_000
const PARTITIONS = 2
const WALLETS = 3
/** Stored completely. Slots beyond it are of a flush that has not ended. */
const STORED = ROWS - 10
const FIRST_TIME = 1_600_000_000
const SLOT_SECONDS = 60
const LONG_AGO = "toDateTime64('2024-01-01 00:00:00', 3)"
const WSOL = 'So11111111111111111111111111111111111111112'

const logger = createLogger('silent')
const timeOf = (slot: number) => FIRST_TIME + slot * SLOT_SECONDS
/** The errors of workers that only a bug can cause. */
const bugs: unknown[] = []
const onBug = (error: unknown) => void bugs.push(error)

let opened: TestStore
test.before(async () => {
  opened = await openTestChdb()
  await migrate(opened.store)
  await fill(opened.store)
})
test.after.always(() => opened.remove())

async function fill(store: Store): Promise<void> {
  await insertWallets(store, WALLETS)
  const place = { slot: 'number', tx_index: '0', wallet: `number % ${WALLETS} + 1` }
  const time = `${FIRST_TIME} + number * ${SLOT_SECONDS}`
  const at = { ...place, block_time: time, inserted_at: LONG_AGO }
  const hour = { mint: 'toString(number)', hour: time, version: 'number' }
  await insert(store, 'swaps', {
    ...at,
    side: "'buy'",
    base_mint: 'toString(number % 100)',
    quote_mint: `'${WSOL}'`,
    confidence: "'high'",
    sol_price_usd_e9: '1',
  })
  await insert(store, 'transfers', { ...at, direction: "'in'" })
  await insert(store, 'sol_transfers', { ...at, direction: "'in'" })
  await insert(store, 'sol_balances', { ...at, lamports_before: '0' })
  await insert(store, 'token_links', { ...at, account: "'a'" })
  await insert(store, 'transactions', at)
  await insert(store, 'disposals', { ...place, block_time: time })
  await insert(store, 'sol_prices', { time, source: "'pool'", usd_e9: '1' })
  const mark = { passed_slot: 'number', offset: 'number', inserted_at: LONG_AGO }
  await insert(store, 'late_swaps', { ...place, ...mark })
  await insert(store, 'withdrawn_swaps', { ...place, ...mark })
  await insert(store, 'sealed_slots', {
    slot: 'number',
    parent: 'number - 1',
    block_time: time,
    finalized: 'number - 32',
    inserted_at: 'now64(3)',
  })
  await insert(store, 'wallet_token_hours', hour)
  await insert(store, 'token_hours', hour)
  await insert(store, 'wallet_days', { day: 'number % 60000', version: 'number' })
  await markStored(store, STORED, PARTITIONS, timeOf(STORED))
  const done = { parent: 0, block_time: timeOf(STORED), partition: 0, partitions: 1 }
  await insertProgress(store, [{ worker: 'rollups', slot: 1.72e12, ...done }])
}

/** Inserts `ROWS` rows. A column is an expression of `number`. */
async function insert(store: Store, table: string, columns: Record<string, string>): Promise<void> {
  await store.command(
    `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
     SELECT ${Object.values(columns).join(', ')} FROM numbers(${ROWS})`,
  )
}

/** A store that runs one statement at a time and notes those that read more than `MOST` rows. */
function watch(store: Store) {
  const large: { sql: string; rows: number }[] = []
  let last: Promise<unknown> = Promise.resolve()
  const counted = <T>(sql: string, run: () => Promise<T>): Promise<T> => {
    const result = last.then(async () => {
      const before = await readRows(store)
      const answer = await run()
      const rows = (await readRows(store)) - before
      if (rows > MOST) large.push({ sql, rows })
      return answer
    })
    last = result.catch(() => {})
    return result
  }
  const watched: Store = {
    ...store,
    query: (sql, params, columns) => counted(sql, () => store.query(sql, params, columns)),
    command: (sql, params) => counted(sql, () => store.command(sql, params)),
  }
  return { store: watched, large }
}

/** Number of rows that the engine has read since it was opened. */
async function readRows(store: Store): Promise<number> {
  const [row] = await store.query<{ value: string }>(
    "SELECT value FROM system.events WHERE event = 'SelectedRows'",
  )
  return Number(row?.value ?? 0)
}

const aLog = () =>
  createMemoryLog({ logger, registry: createRegistry() }, { partitions: PARTITIONS })

test.serial('an assignment of partitions reads only what is newest', async (t) => {
  const { store, large } = watch(opened.store)
  const log = aLog()
  const fold = await startFold({ store, log, logger, registry: createRegistry(), onBug })
  const marker = { ...aMarker(STORED + 1), blockTime: timeOf(STORED + 1) }
  await log.appendSlot({ marker, records: [] })
  while (bugs.length === 0 && (await readStorageMarker(opened.store))?.slot !== STORED + 1)
    await fold.between(async () => {})
  await fold.stop()
  t.deepEqual({ large, bugs }, { large: [], bugs: [] })
})

test.serial('workers that follow the fold read only what is newest at their start', async (t) => {
  const { store, large } = watch(opened.store)
  const registry = createRegistry()
  await readLinksBeyond(store, STORED, 50_000)
  await new Roller(store, () => true).pass()
  const books = { amend: async () => {} }
  const fill = startPriceFill({ store, books, maxAgeSeconds: 3600, logger, registry, onBug })
  await fill.fillNow()
  await fill.stop()
  t.deepEqual({ large, bugs }, { large: [], bugs: [] })
})

test.serial('a start of ingest reads only what is newest', async (t) => {
  const { store, large } = watch(opened.store)
  await readResumePoint({ store, log: aLog(), logger })
  await readPoolPrices(store, 7200)
  t.deepEqual(large, [])
})

test.serial('a start of the API reads only what is newest', async (t) => {
  const { store, large } = watch(opened.store)
  const api = await startApi(store, { logger, readMs: 100_000 })
  await api.close()
  t.deepEqual(large, [])
})
