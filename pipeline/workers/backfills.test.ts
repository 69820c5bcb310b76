import test from 'ava'
import { type Simulator, startSimulator } from '../../infra/simulator/simulator.ts'
import { createWallets } from '../domain/wallets.ts'
import { createIngestMetrics } from '../ingest/telemetry.ts'
import type { HistoryRange } from '../ingest/wallet-history.ts'
import { createMemoryLog } from '../log/memory.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRegistry } from '../runtime/telemetry.ts'
import { migrate } from '../store/migrate.ts'
import { readStorageMarker } from '../store/read-storage-marker.ts'
import type { Row } from '../store/store.ts'
import { openTestStore, type TestStore } from '../testing/test-store.ts'
import { createBackfills } from './backfills.ts'
import { startFold } from './fold.ts'
import { startIngest } from './ingest.ts'
import { trackWallets } from './track-wallets.ts'

/*
 * A wallet that was not followed, backfilled, has the rows of one that was (issue of a late start; decisions C16, J3, K2).
 */

const START = 405_000_000
const LATE = START + 120
const END = START + 160
const WALLETS = 10
const logger = createLogger('silent')
let opened: TestStore

test.before(async () => {
  opened = await openTestStore()
})
test.after.always(() => opened.remove())

const TABLES = [
  ...[
    'swaps',
    'transfers',
    'sol_transfers',
    'sol_balances',
    'undecoded',
    'lots',
    'disposals',
    'transactions',
  ],
  'first_buys',
  ...['positions', 'wallet_metrics', 'sol_prices'],
]
/** When and how a row was written, not what it says (decisions C19); and bytes, which are another encoding of the same over RPC. */
const ABOUT_ROWS = ['version', 'inserted_at', 'late', 'computed_at', 'revision', 'base64', 'bytes']

type Tables = Readonly<Record<string, readonly Row[]>>

async function readTables(): Promise<Tables> {
  const { store } = opened
  const tables: Record<string, Row[]> = {}
  for (const table of TABLES) {
    const columns = await store.query<{ name: string }>(
      'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position',
      { table },
    )
    const names = columns.map(({ name }) => name).filter((name) => !ABOUT_ROWS.includes(name))
    tables[table] = await store.query(
      `SELECT ${names.join(', ')} FROM ${table} FINAL ORDER BY ${names.join(', ')}`,
    )
  }
  return tables
}

async function empty(): Promise<void> {
  await migrate(opened.store)
  const tables = await opened.store.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'",
  )
  for (const { name } of tables) await opened.store.command(`TRUNCATE TABLE ${name}`)
}

const market = {
  wallets: WALLETS,
  coins: 40,
  trackedPerSlot: 2,
  othersPerSlot: 1,
  historySlots: 300,
} as const

/** The service's pipeline over a simulator, in this process, from slot `head` on. */
async function startPipeline(simulator: Simulator, head: number) {
  const { store } = opened
  const registry = createRegistry()
  const log = createMemoryLog({ logger, registry })
  const wallets = createWallets(simulator.wallets)
  await trackWallets(store, simulator.wallets, 'the simulator')
  const fold = await startFold({
    ...{ store, log, logger, registry },
    onBug: (error) => {
      throw error
    },
  })
  const blockTime = simulator.market.timeOf(head)
  const [price] = await store.query<{ time: number; usd_e9: string }>(
    'SELECT time, usd_e9 FROM sol_prices FINAL WHERE time <= {blockTime:UInt32} ORDER BY time DESC LIMIT 1',
    { blockTime },
  )
  const solPrice = price ? { time: price.time, usdE9: BigInt(price.usd_e9) } : null
  const ingest = await startIngest({
    config: {
      endpoint: simulator.endpoint,
      xToken: null,
      rpcUrl: simulator.rpcUrl,
      pricePool: simulator.solPricePool,
      priceMaxAgeSeconds: 3600,
    },
    ...{ wallets, log, logger, registry },
    limits: { recheckSlots: 0 }, // what it finds before the start has prices of the start alone
    checkpoint: async () => ({ slot: head, parent: head - 1, blockTime, solPrice }),
  })
  const backfills = (onRequest?: (body: string) => void) =>
    createBackfills({
      ...{ store, log, logger, logIsDurable: false, rpcUrl: simulator.rpcUrl },
      metrics: createIngestMetrics(createRegistry()),
      priceMaxAgeSeconds: 3600,
      ...(onRequest && { onRequest }),
    })
  return {
    backfills,
    ingest,
    async stored(slot: number): Promise<void> {
      while (((await readStorageMarker(store))?.slot ?? 0) < slot)
        await new Promise((resolve) => setTimeout(resolve, 20))
    },
    async stop() {
      await ingest.stop()
      await fold.stop()
      await log.close()
    },
  }
}

const wallets = Array.from({ length: WALLETS }, (_, at) => at + 1)
const history: HistoryRange = { fromSlot: START + 1, toSlot: null }
const unstopped = new AbortController().signal

/** What is stored when everything was seen live. */
let seen: Tables

test.serial(
  'a backfill beside live data leads to the tables of a run that saw everything',
  async (t) => {
    await empty()
    const first = await startSimulator({ ...market, clock: { kind: 'manual', startSlot: START } })
    const live = await startPipeline(first, START)
    first.advance(END - START + 1)
    await live.stored(END)
    await live.stop()
    await first.close()
    seen = await readTables()
    t.true((seen.swaps?.length ?? 0) > 100)
    t.true((seen.transfers?.length ?? 0) > 10)
    t.true((seen.disposals?.length ?? 0) > 10)

    const prices = await opened.store.query<Row>(
      'SELECT time, source, usd_e9 FROM sol_prices FINAL',
    )
    await empty()
    await opened.store.insert('sol_prices', prices)
    const second = await startSimulator({ ...market, clock: { kind: 'manual', startSlot: LATE } })
    const late = await startPipeline(second, LATE)
    const backfills = late.backfills()
    second.advance(20)
    const running = backfills.run(wallets, history, unstopped, () =>
      second.advance(second.slot < END ? 1 : 0),
    )
    const summaries = await running
    second.advance(END + 1 - second.slot)
    await late.stored(END)
    await late.stop()
    t.deepEqual(await readTables(), seen)
    t.is(
      summaries.reduce((sum, { missing }) => sum + missing, 0),
      0,
    )
    backfills.close()
    await second.close()
  },
)
