import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { OperatorParts } from '../../../infra/operator/parts.ts'
import { walletsCommand as listCommand } from '../../../infra/operator/wallets.ts'
import { FINALIZE_DELAY_SLOTS } from '../../../infra/simulator/grpc/slot-stream.ts'
import type { Trouble } from '../../../infra/simulator/options.ts'
import { type Simulator, startSimulator } from '../../../infra/simulator/simulator.ts'
import { eventKeyText } from '../../domain/event-key.ts'
import type { HistoryRange } from '../../domain/history.ts'
import type { ServiceError } from '../../domain/service-error.ts'
import type { SolPrice } from '../../domain/slot.ts'
import { LIVE_START } from '../../domain/slot.ts'
import { createWallets } from '../../domain/wallets.ts'
import { createIngestMetrics, type IngestMetrics } from '../../ingest/telemetry.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Row } from '../../store/store.ts'
import { type BackfillReason, newJob } from '../../store/tables/backfills.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { startPriceFill } from '../facts/price-fill.ts'
import { startFold } from '../fold/fold.ts'
import { startIngest } from '../ingest/ingest.ts'
import { trackWallets } from '../ingest/track-wallets.ts'
import { AutoBackfill } from './auto-backfill.ts'
import { createBackfills } from './backfills.ts'
import { isCheaperByBlock } from './gaps-by-block.ts'

/*
 * A backfilled wallet has the same rows as one that was followed live (rules C16, J3, K2).
 */

const START = 405_000_000
const LATE = START + 120
const END = START + 200
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
/**
 * Columns left out of comparisons: when and how a row was written (rule C19), and transaction
 * bytes, which RPC encodes differently.
 */
const ABOUT_ROWS = ['version', 'inserted_at', 'late', 'computed_at', 'revision', 'base64', 'bytes']

type Tables = Readonly<Record<string, readonly Row[]>>

async function readTables(): Promise<Tables> {
  const { store } = opened
  const tables: Record<string, Row[]> = {}
  for (const table of TABLES) {
    const columns = await store.query<{ name: string }>(
      "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} AND default_kind != 'EPHEMERAL' ORDER BY position",
      { table },
    )
    const names = columns
      .map(({ name }) => name)
      .filter((name) => !ABOUT_ROWS.includes(name))
      // A backfill of one wallet brings a transaction that names two.
      .filter((name) => table !== 'transactions' || name !== 'wallet')
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

/** Starts the service's pipeline over a simulator, in this process, from slot `head`. */
async function startPipeline(
  simulator: Simulator,
  head: number,
  { maxGapSlots = 3000, prices = [] }: { maxGapSlots?: number; prices?: readonly SolPrice[] } = {},
) {
  const { store } = opened
  const registry = createRegistry()
  const log = createMemoryLog({ logger, registry })
  const wallets = createWallets(simulator.wallets)
  await trackWallets(store, simulator.wallets, 'the simulator')
  const fold = await startFold({
    store,
    log,
    logger,
    registry,
    onBug: (error) => {
      throw error
    },
  })
  const metrics = createIngestMetrics(createRegistry())
  const backfills = (onRequest?: (body: string) => void) =>
    createBackfills({
      store,
      log,
      logger,
      logIsDurable: false,
      rpcUrl: simulator.rpcUrl,
      metrics,
      priceMaxAgeSeconds: 3600,
      ...(onRequest && { onRequest }),
    })
  /** Numbers of open gaps that the metric had while their history was fetched. */
  const openSeen = new Set<number>()
  /** RPC methods that automatic backfills called. */
  const called = new Set<string>()
  const own = backfills(async (body) => {
    called.add(JSON.parse(body).method)
    openSeen.add((await progressOf(metrics, 'gap')).open)
  })
  const auto = new AutoBackfill({
    store,
    logger,
    backfills: own,
    metrics,
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
    wallets,
    log,
    logger,
    registry,
    prices,
    // Slots checked again at the start only have the prices known at the start.
    limits: { recheckSlots: 0, maxGapSlots },
    resumePoint: async () => ({
      ...LIVE_START,
      checkpoint: { ...aMarker(head), blockTime, solPrice },
    }),
  })
  return {
    backfills,
    ingest,
    openSeen,
    called,
    progress: (reason: BackfillReason) => progressOf(metrics, reason),
    async stored(slot: number): Promise<void> {
      while (((await readStorageMarker(store))?.slot ?? 0) < slot)
        await new Promise((resolve) => setTimeout(resolve, 20))
    },
    /** Returns the gaps whose backfill is not done. */
    openGaps: () => own.jobs.open(['gap']),
    async begin() {
      const newest = ingest.status()
      if (newest) await auto.begin(newest)
    },
    /** Gives fetched swaps their SOL prices, as far as these are settled (rule J7). */
    async fillPrices() {
      const onBug = (error: unknown) => {
        throw error
      }
      const deps = { store, books: fold, maxAgeSeconds: 3600, logger, registry, onBug }
      const fill = startPriceFill(deps)
      await fill.fillNow()
      await fill.stop()
    },
    async stop() {
      await auto.close()
      own.close()
      await ingest.stop()
      await fold.stop()
      await log.close()
    },
  }
}

/** What the metrics say of the backfills with this reason. */
async function progressOf(metrics: IngestMetrics, reason: BackfillReason) {
  const { openBackfills, doneBackfills, backfillTransactions } = metrics
  const [open = 0, done = 0, transactions = 0] = await Promise.all(
    [openBackfills, doneBackfills, backfillTransactions].map(async (metric) => {
      const { values } = await metric.get()
      return values.find(({ labels }) => labels.reason === reason)?.value
    }),
  )
  return { open, done, transactions }
}

/** Starts the pipeline on empty tables at slot `LATE`. Prices are inputs (rule C1). */
async function startLate(trouble: Partial<Trouble> = {}) {
  await empty()
  await opened.store.insert('sol_prices', seen.sol_prices ?? [])
  const clock = { kind: 'manual', startSlot: LATE } as const
  const simulator = await startSimulator({ ...market, clock, trouble })
  const pipeline = await startPipeline(simulator, LATE)
  const advance = (slots: number) => {
    simulator.advance(Math.min(slots, END + 1 - simulator.slot))
  }
  // Backfills begin once the first live slot is final.
  advance(FINALIZE_DELAY_SLOTS + 10)
  return {
    simulator,
    late: {
      ...pipeline,
      advance,
      stored(slot: number) {
        advance(END)
        return pipeline.stored(slot)
      },
    },
    async close() {
      await pipeline.fillPrices()
      await pipeline.stop()
      await simulator.close()
    },
  }
}

/** Returns the coverage that `operator wallets` prints. */
async function listWallets() {
  const parts = { store: opened.store } as OperatorParts // the command only uses the store
  const { document } = await listCommand.run([], parts, () => {})
  return (document as { items: { complete_since: number | null; gaps: object[] }[] }).items
}

const wallets = Array.from({ length: WALLETS }, (_, at) => at + 1)
const history: HistoryRange = { fromSlot: START + 1, toSlot: null }
const unstopped = new AbortController().signal

/** Returns the tables of a run that saw everything live. */
let seen: Tables

test.serial(
  'a backfill beside live data makes the same tables as a run that saw everything live',
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

    const { late, close } = await startLate()
    const backfills = late.backfills()
    const summaries = await backfills.run(wallets, history, unstopped, () => late.advance(1))
    const progress = await late.progress('operator')
    await late.stored(END)
    await close()
    backfills.close()
    t.deepEqual(await readTables(), seen)
    const sum = (of: 'missing' | 'transactions') =>
      summaries.reduce((all, summary) => all + summary[of], 0)
    t.is(sum('missing'), 0)
    t.deepEqual(progress, { open: 0, done: WALLETS, transactions: sum('transactions') })
  },
)

test.serial(
  'a backfill that was cut off resumes at its page; a second run changes nothing',
  async (t) => {
    const { late, close } = await startLate()
    let requests = 0
    const count = (body: string) => {
      if (body.includes('"getTransaction"')) requests += 1
    }
    const first = late.backfills(count)
    const cut = new AbortController()
    const done = async () => {
      const [row] = await opened.store.query<{ done: string }>(
        'SELECT sum(transactions) AS done FROM backfills FINAL',
      )
      return Number(row?.done)
    }
    // The process dies at some time after a page is durable.
    const running = first.run(wallets, history, cut.signal, async () => {
      if ((await done()) > 0) cut.abort()
    })
    t.is(await running.catch((error: ServiceError) => error.code), 'closed')
    t.is((await late.progress('operator')).open, 0)
    first.close()
    const safe = await done()
    t.true(safe > 0)
    requests = 0
    const second = late.backfills(count)
    const summaries = await second.run(wallets, history, unstopped)
    const total = summaries.reduce((sum, { transactions }) => sum + transactions, 0)
    t.is(requests, total - safe)
    t.is(await done(), total)
    // Backfilling a completed range starts again.
    requests = 0
    await second.run([1], history, unstopped)
    t.is(requests, summaries[0]!.transactions)
    second.close()
    await late.stored(END)
    await close()
    t.deepEqual(await readTables(), seen)
  },
)

/** Gaps of all wallets between two slots, as they are found in the log. */
const gapsOf = (fromSlot: number, toSlot: number) =>
  wallets.map((wallet) => newJob(wallet, 'gap', { fromSlot, toSlot }, Date.now()))

test.serial(
  'gaps that are fetched by block make the same tables, also if they were cut off, and by wallet afterwards (rule K25)',
  async (t) => {
    const { late, simulator, close } = await startLate()
    const calls: string[] = []
    const backfills = late.backfills((body) => calls.push(JSON.parse(body).method))
    const half = START + 61
    await backfills.runGaps(gapsOf(half, LATE), simulator.wallets, unstopped)
    t.deepEqual(calls.slice(0, 3), ['getSlot', 'getFirstAvailableBlock', 'getBlocks'])
    t.is(calls.filter((method) => method === 'getBlock').length, LATE - half + 1)
    t.deepEqual(
      calls.filter((method) => method.startsWith('getSig') || method.startsWith('getTr')),
      [],
    )
    const rest = gapsOf(START + 1, LATE).map((gap) => ({
      ...gap,
      position: { slot: half, signature: '' },
    }))
    await backfills.runGaps(rest.slice(0, 5), simulator.wallets, unstopped)
    for (const job of rest.slice(5))
      await backfills.runJob(
        { job, address: simulator.wallets[job.wallet - 1]!, liveSlot: 0 },
        unstopped,
      )
    t.deepEqual(await backfills.jobs.open(['gap']), [])
    backfills.close()
    await late.stored(END)
    await close()
    t.deepEqual(await readTables(), seen)
  },
)

test.serial(
  'automatic backfills fetch gaps by block if that takes fewer calls (rule K25)',
  async (t) => {
    const { late, close } = await startLate()
    const backfills = late.backfills()
    await backfills.jobs.save(gapsOf(LATE - 29, LATE))
    backfills.close()
    await late.stored(END)
    await late.begin()
    while ((await late.openGaps()).length > 0) await new Promise((go) => setTimeout(go, 20))
    t.true(late.called.has('getBlock'))
    t.false(late.called.has('getSignaturesForAddress'))
    const { open, done } = await late.progress('gap')
    t.deepEqual({ open, done }, { open: 0, done: WALLETS })
    await close()
  },
)

test.serial(
  'coverage does not reach behind blocks that the server no longer has (rule K25)',
  async (t) => {
    const { late, simulator, close } = await startLate()
    const backfills = late.backfills()
    const first = (await backfills.rpc.getFirstAvailableBlock()) ?? 0
    await backfills.coverage.begin(wallets, { slot: first - 100, time: 1 })
    const [older, ...gaps] = gapsOf(first - 50, first + 5)
    if (older === undefined) throw new Error('there are wallets')
    // The gap of the first wallet ends before the first block.
    const range = { fromSlot: first - 50, toSlot: first - 10 }
    await backfills.runGaps([{ ...older, range }, ...gaps], simulator.wallets, unstopped)
    const covered = await backfills.coverage.of(wallets)
    const { slot } = covered.get(1) ?? {}
    t.is(slot, first - 9)
    const others = { slot: first, time: simulator.market.timeOf(first) }
    t.deepEqual(
      [...covered].filter(([wallet]) => wallet !== 1),
      wallets.filter((wallet) => wallet !== 1).map((wallet) => [wallet, others]),
    )
    backfills.close()
    await close()
  },
)

test('gaps are fetched by block once that takes fewer calls (rule K25)', (t) => {
  const ofWallets = (count: number, slots: number) =>
    Array.from({ length: count }, (_, at) =>
      newJob(at + 1, 'gap', { fromSlot: 1001, toSlot: 1000 + slots }, 0),
    )
  t.false(isCheaperByBlock([]))
  t.false(isCheaperByBlock(ofWallets(750, 3000)))
  t.true(isCheaperByBlock(ofWallets(751, 3000)))
  // Slots that several gaps have in common are read once, and those in between not at all.
  const apart = [...ofWallets(10, 30), newJob(11, 'gap', { fromSlot: 1021, toSlot: 1040 }, 0)]
  const far = newJob(12, 'gap', { fromSlot: 5001, toSlot: 5004 }, 0)
  t.true(isCheaperByBlock([...apart, far]))
  t.false(isCheaperByBlock([...apart, { ...far, range: { fromSlot: 5001, toSlot: 5008 } }]))
})

test.serial(
  'a slow server that answers 429 gets requests until it has returned everything',
  async (t) => {
    const { late, close } = await startLate({ slowRpc: true, rateLimitedRpc: true })
    const backfills = late.backfills()
    const from = LATE - 15
    await backfills.run([1, 2, 3], { fromSlot: from, toSlot: LATE }, unstopped)
    backfills.close()
    await late.stored(END)
    await close()
    const found = await readTables()
    for (const table of ['swaps', 'transfers', 'sol_transfers', 'sol_balances']) {
      const ofRange = ({ slot, wallet }: Row) =>
        Number(wallet) <= 3 && Number(slot) >= from && Number(slot) <= LATE
      const rows = seen[table]?.filter(ofRange)
      if (table === 'sol_balances') t.true((rows?.length ?? 0) > 10)
      t.deepEqual(found[table]?.filter(ofRange), rows)
    }
  },
)

test.serial(
  'records of a page go to the log in key order, and those of a transaction together: events, a balance, the bytes',
  async (t) => {
    await empty()
    const clock = { kind: 'manual', startSlot: END } as const
    const simulator = await startSimulator({ ...market, clock })
    const { store } = opened
    await trackWallets(store, simulator.wallets, 'the simulator')
    const log = createMemoryLog({ logger, registry: createRegistry() })
    const backfills = createBackfills({
      store,
      log,
      logger,
      logIsDurable: true,
      hasFold: false,
      priceMaxAgeSeconds: 3600,
      rpcUrl: simulator.rpcUrl,
      metrics: createIngestMetrics(createRegistry()),
    })
    const sortKeys: { slot: number; txIndex: number; step: number }[] = []
    await log.consume({ mode: 'shared', group: 'fold' }, async ({ records }) => {
      for (const entry of records) {
        if (entry.kind !== 'record') continue
        const { slot, txIndex, kind } = entry.record
        const last = Number.MAX_SAFE_INTEGER
        const step =
          'eventIndex' in entry.record ? entry.record.eventIndex : kind === 'kept' ? last : last - 1
        sortKeys.push({ slot, txIndex, step })
      }
    })
    const [summary] = await backfills.run([1], history, unstopped)
    await log.settled('fold', unstopped)
    t.is(sortKeys.length, summary?.records ?? 0)
    t.true(sortKeys.length > 50)
    const inOrder = sortKeys.toSorted(
      (a, b) => a.slot - b.slot || a.txIndex - b.txIndex || a.step - b.step,
    )
    t.deepEqual(sortKeys, inOrder)
    backfills.close()
    await log.close()
    await simulator.close()
  },
)

test.serial('a backfill fetches no block that may still be replaced (rule K9)', async (t) => {
  await empty()
  const trouble = { replacedBlocks: true, vanishedBlocks: true }
  const clock = (startSlot: number) => ({ kind: 'manual', startSlot }) as const
  const planned = await startSimulator({ ...market, clock: clock(START), trouble })
  let fork = START + 200
  while (planned.forkAt(fork) === null) fork += 1
  await planned.close()
  // The fork is confirmed, and not final.
  const simulator = await startSimulator({ ...market, clock: clock(fork + 5), trouble })
  const { store } = opened
  await trackWallets(store, simulator.wallets, 'the simulator')
  const log = createMemoryLog({ logger, registry: createRegistry() })
  const backfills = createBackfills({
    store,
    log,
    logger,
    logIsDurable: true,
    hasFold: false,
    priceMaxAgeSeconds: 3600,
    rpcUrl: simulator.rpcUrl,
    metrics: createIngestMetrics(createRegistry()),
  })
  const found = new Set<string>()
  await log.consume({ mode: 'shared', group: 'fold' }, async ({ records }) => {
    for (const entry of records)
      if (entry.kind === 'record' && 'eventIndex' in entry.record)
        found.add(eventKeyText(entry.record))
  })
  await backfills.run(wallets, history, unstopped)
  await log.settled('fold', unstopped)
  const due: string[] = []
  for (let slot = START + 1; slot <= simulator.finalizedSlot; slot += 1)
    if (simulator.shape.kind(slot) === 'produced')
      due.push(...simulator.truth(slot).events.map(eventKeyText))
  t.true(simulator.finalizedSlot < fork)
  t.true(due.length > 100)
  t.deepEqual([...found].sort(), due.sort())
  backfills.close()
  await log.close()
  await simulator.close()
})

test.serial('a closed backfill stops waiting for RPC, and can resume', async (t) => {
  let onRequest: () => void = () => {}
  const firstRequest = new Promise<void>((resolve) => {
    onRequest = resolve
  })
  const server = createServer((_request, response) => {
    onRequest()
    response.writeHead(429, { 'Retry-After': '30' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { store } = opened
  const log = createMemoryLog({ logger, registry: createRegistry() })
  const backfills = createBackfills({
    store,
    log,
    logger,
    logIsDurable: true,
    priceMaxAgeSeconds: 3600,
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it is a TCP server
    metrics: createIngestMetrics(createRegistry()),
  })
  const run = backfills.run([1], history, unstopped)
  await firstRequest
  backfills.close()
  await t.throwsAsync(run, {
    code: 'closed',
    message: 'stopped; run the same command again to resume',
  })
  await log.close()
  server.close()
})

test.serial(
  'a gap too long to be fetched at once stays open for every wallet until an automatic backfill closes it (rule K2)',
  async (t) => {
    await empty()
    await opened.store.insert('sol_prices', seen.sol_prices ?? [])
    const clock = { kind: 'manual', startSlot: START } as const
    const simulator = await startSimulator({ ...market, clock, replaySlots: 10 })
    const before = await startPipeline(simulator, START)
    simulator.advance(20)
    const head = simulator.confirmedSlot
    await before.stored(head)
    await before.begin()
    await before.stop()
    // More slots pass during the disconnect than ingest fetches, so a gap is recorded.
    simulator.advance(80)

    const after = await startPipeline(simulator, head, {
      maxGapSlots: 50,
      // The first slot after the gap may not be the first of its second. Prices are inputs (rule
      // C1).
      prices: (seen.sol_prices ?? []).map(({ time, usd_e9 }) => ({
        time: Number(time),
        usdE9: BigInt(String(usd_e9)),
      })),
    })
    const foundFrom = Math.floor(Date.now() / 1000)
    while ((await after.openGaps()).length === 0) {
      // Slots that pass while the stream reconnects are part of the gap.
      if (simulator.followers > 0) simulator.advance(1)
      await new Promise((go) => setTimeout(go, 50))
    }
    const [gap] = await after.openGaps()
    const lost = gap?.range.toSlot ?? 0
    t.true(lost > head + 50)
    const since = simulator.market.timeOf(head) // the newest slot at the start of coverage
    for (const item of await listWallets()) {
      t.deepEqual(item.gaps, [{ from_slot: head + 1, to_slot: lost }])
      t.true((item.complete_since ?? 0) >= Math.max(foundFrom, since))
    }
    const inGap = `SELECT count() AS swaps FROM swaps FINAL WHERE slot BETWEEN ${head + 1} AND ${lost}`
    t.deepEqual(await opened.store.query(inGap), [{ swaps: '0' }])

    await after.stored(lost + 1)
    await after.begin()
    while ((await after.openGaps()).length > 0) {
      if (simulator.slot <= END) simulator.advance(1) // until the gap is final
      await new Promise((go) => setTimeout(go, 20))
    }
    for (const item of await listWallets())
      t.deepEqual([item.complete_since, item.gaps], [since, []])
    t.is((await after.progress('gap')).done, WALLETS)
    t.true([...after.openSeen].some((open) => open > 0 && open < WALLETS)) // it falls one by one
    simulator.advance(END + 1 - simulator.slot)
    await after.stored(END)
    await after.fillPrices()
    await after.stop()
    await simulator.close()
    t.deepEqual(await readTables(), seen)
  },
)
