import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { addressFromBytes } from '../../domain/address.ts'
import type { WalletEvent } from '../../domain/event.ts'
import { compareEventKeys } from '../../domain/event-key.ts'
import { createPerturb, perturbAmount, serveSwap } from '../../domain/perturbation.ts'
import { USDC } from '../../domain/quote.ts'
import { ServiceError } from '../../domain/service-error.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import { swapValueLamports } from '../../domain/swap-value.ts'
import { toFoldEvent } from '../../fold/fold-event.ts'
import { foldBalance, foldEvent } from '../../fold/fold-wallet.ts'
import { activeHours } from '../../fold/wallet-metrics.ts'
import { createWalletState, takeChanges } from '../../fold/wallet-state.ts'
import { createKafkaLog } from '../../log/kafka.ts'
import { LateOrder } from '../../log/late-order.ts'
import type { EventLog } from '../../log/log.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Row, Store } from '../../store/store.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { readPoolPrices, readSolPrices } from '../../store/tables/sol-prices.ts'
import { addTrackedWallets, readTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { readEventPages, readShortEvents, START_PLACE } from '../../store/tables/wallet-events.ts'
import { aChain, type RecordChain } from '../../testing/a-chain.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { noteBooksRead } from '../../testing/books-read.ts'
import { dyingStore } from '../../testing/dying-store.ts'
import { aForkedChain, type ForkedSlot } from '../../testing/forked-chain.ts'
import { StateMirror } from '../../testing/state-mirror.ts'
import { TABLE_KEYS } from '../../testing/table-keys.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { NO_DECIMALS } from '../ingest/decode-records.ts'
import type { RefoldLimits } from './background-refolds.ts'
import {
  disposalRow,
  firstBuyRow,
  lotRow,
  metricsRow,
  positionRow,
  profitHourRow,
} from './book-rows.ts'
import { lateRow, recordRow } from './event-rows.ts'
import { type RunningBooks, startFold } from './fold.ts'
import { readRefoldProgress, requestRefolds, waitUntilFolded } from './refold.ts'
import { WalletCache } from './wallet-cache.ts'

const logger = createLogger('silent')
const PARTITIONS = 3
const WALLETS = 5
/** Chains with forks. The first is folded slot by slot, the others seven slots at a time. */
const FORKED_CHAINS = Number(process.env.FORKED_CHAINS ?? 3)
const addresses = [1, 2, 3, 4, 5].map((n) => addressFromBytes(new Uint8Array(32).fill(n)))

let testStore: TestStore
/** What a reader of the log of states has of the tables (rule K26). `dump` checks it. */
let mirror = new StateMirror()
test.before(async () => {
  testStore = await openTestStore()
  await migrate(testStore.store)
  await learnWideColumns(testStore.store)
})
test.after.always(() => testStore.remove())

/** Reads all tables in key order, without the columns that may differ (rule K4). */
type Table = keyof typeof TABLE_KEYS
type Dump = Record<Table, Record<string, unknown>[]>

async function dump(store: Store): Promise<Dump> {
  await mirror.check(store)
  return readTables(store)
}

async function readTables(store: Store): Promise<Dump> {
  const tables = Object.entries(TABLE_KEYS).map(async ([table, key]) => {
    const rows = await store.query<Record<string, unknown>>(
      `SELECT * EXCEPT(${columnsApart[table as Table].join(', ')}) FROM ${table} FINAL
       ${NOT_VOID[table] ?? ''} ORDER BY ${key}`,
    )
    return [table, rows]
  })
  return Object.fromEntries(await Promise.all(tables)) as Dump // every table is there
}

/** Rows that FINAL returns although their slot was withdrawn. */
const NOT_VOID: Readonly<Record<string, string>> = {
  sol_balances: 'WHERE is_deleted = 0',
  token_links: 'WHERE is_deleted = 0',
  transactions: 'WHERE is_deleted = 0',
  sol_prices: 'WHERE usd_e9 > 0',
}

const EVENT_APART = ['version', 'is_deleted', 'inserted_at', 'late']
const columnsApart: Record<Table, string[]> = {
  swaps: EVENT_APART,
  transfers: EVENT_APART,
  sol_transfers: EVENT_APART,
  sol_balances: ['version', 'is_deleted', 'inserted_at'],
  token_links: ['version', 'is_deleted', 'inserted_at'],
  undecoded: ['version', 'is_deleted', 'inserted_at'],
  transactions: ['version', 'is_deleted', 'inserted_at'],
  lots: ['version', 'is_deleted'],
  disposals: ['version', 'is_deleted', 'inserted_at'],
  positions: ['version', 'is_deleted', 'inserted_at'],
  first_buys: ['version', 'is_deleted'],
  profit_hours: ['version', 'is_deleted'],
  wallet_metrics: ['version', 'revision', 'computed_at', 'inserted_at'],
  sol_prices: ['inserted_at'],
}

async function empty(store: Store): Promise<void> {
  await emptyTables(store)
  mirror = new StateMirror()
}

const recordsOf = (chain: RecordChain): WalletRecord[] => [
  ...chain.slots.flatMap((slot) => slot.records),
  ...chain.late.flatMap((late) => late.records),
]

const eventsOf = (chain: RecordChain): WalletEvent[] =>
  recordsOf(chain)
    .filter((r) => 'eventIndex' in r)
    .sort(compareEventKeys)

/**
 * Returns the tables for records that come in order: a pure fold of all records, as rows.
 */
function expectedDump(chain: RecordChain, isSalted = false): Dump {
  const records = recordsOf(chain)
  const events = eventsOf(chain)
  const rows: Record<Table, Row[]> = {
    swaps: events.flatMap((e) => (e.kind === 'swap' ? [recordRow(e)] : [])),
    transfers: events.flatMap((e) => (e.kind === 'token_transfer' ? [recordRow(e)] : [])),
    sol_transfers: events.flatMap((e) => (e.kind === 'sol_transfer' ? [recordRow(e)] : [])),
    sol_balances: records.flatMap((r) => (r.kind === 'balance' ? [recordRow(r)] : [])),
    token_links: records.flatMap((r) => (r.kind === 'token_link' ? [recordRow(r)] : [])),
    undecoded: records.flatMap((r) => (r.kind === 'undecoded' ? [recordRow(r)] : [])),
    transactions: records.flatMap((r) => {
      if (r.kind !== 'kept') return []
      const { base64, ...row } = recordRow(r)
      return [{ ...row, format: 'yellowstone', bytes: new TextDecoder().decode(r.bytes) }]
    }),
    lots: [],
    disposals: [],
    positions: [],
    first_buys: [],
    profit_hours: [],
    wallet_metrics: [],
    sol_prices: chain.slots.flatMap(({ marker: { solPrice } }) =>
      solPrice ? [{ time: solPrice.time, source: 'pool', usd_e9: solPrice.usdE9 }] : [],
    ),
  }
  for (let wallet = 1; wallet <= WALLETS; wallet += 1) {
    const state = createWalletState(wallet)
    for (const event of events) if (event.wallet === wallet) foldEvent(state, toFoldEvent(event))
    for (const r of records) if (r.kind === 'balance' && r.wallet === wallet) foldBalance(state, r)
    const { lots, disposals, tokens, firstBuys, profitHours } = takeChanges(state)
    rows.lots.push(...lots.map(({ mint, lot }) => lotRow(wallet, 0n, mint, lot)))
    rows.disposals.push(...disposals.map((d) => disposalRow(wallet, 0n, d)))
    rows.first_buys.push(...firstBuys.map((buy) => firstBuyRow(wallet, 0n, buy, isSalted)))
    rows.profit_hours.push(...profitHours.map((change) => profitHourRow(wallet, 0n, change)))
    rows.positions.push(...tokens.map((token) => served(positionRow(wallet, 0n, token))))
    rows.wallet_metrics.push({
      ...metricsRow(state, 0n, 0, isSalted),
      active_times: activeHours(state.hours).map(({ hourUtc, txCount }) => ({
        hour_utc: hourUtc,
        tx_count: String(txCount),
      })),
    })
  }
  return Object.fromEntries(
    Object.entries(rows).map(([table, found]) => [table, asRead(table as Table, found)]),
  ) as Dump // the same keys
}

/** Columns of positions for served figures; without a salt they equal the columns named here. */
const SERVED = [
  ...['bought_amount', 'sold_amount', 'bought_lamports', 'sold_lamports'],
  ...['first_buy_time', 'first_trade_time', 'last_trade_time'],
] as const

/** Returns a position with served figures: the true ones, except those in `otherwise`. */
function served(position: Row, otherwise: Row = {}): Row {
  const pairs = SERVED.map((name) => [`served_${name}`, otherwise[name] ?? position[name]])
  return { ...position, ...Object.fromEntries(pairs) }
}

/** Returns the served figures of each position: sums and times over its perturbed swaps. */
function servedFigures(chain: RecordChain, salt: string): Map<string, Row> {
  const perturb = createPerturb(salt)
  const figures = new Map<string, Row>()
  for (const event of eventsOf(chain)) {
    if (event.kind !== 'swap' || perturb === null) continue
    const { baseAmount, blockTime } = serveSwap(event, perturb)
    const value = perturbAmount(swapValueLamports(event) ?? 0n, perturb(event))
    const key = `${event.wallet}/${event.baseMint}`
    const before = figures.get(key) ?? {}
    const add = (name: string, by: bigint) => ({ [name]: ((before[name] as bigint) ?? 0n) + by })
    figures.set(key, {
      ...before,
      ...(event.side === 'buy' ? add('bought_amount', baseAmount) : add('sold_amount', baseAmount)),
      ...(event.side === 'buy' ? add('bought_lamports', value) : add('sold_lamports', value)),
      ...(event.side === 'buy' && { first_buy_time: before.first_buy_time ?? blockTime }),
      first_trade_time: before.first_trade_time ?? blockTime,
      last_trade_time: blockTime,
    })
  }
  return figures
}

/** Columns that ClickHouse returns as text in JSON (64 bits and wider). */
const wide = new Map<Table, Set<string>>()

function asRead(table: Table, rows: readonly Row[]): Record<string, unknown>[] {
  const apart = columnsApart[table]
  const keys = TABLE_KEYS[table].split(', ')
  const read = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([name]) => !apart.includes(name))
        .map(([name, value]) => [
          name,
          value !== null && wide.get(table)?.has(name) ? String(value) : value,
        ]),
    ),
  )
  const unique = new Map(read.map((row) => [keys.map((key) => row[key]).join('/'), row]))
  return [...unique.values()].sort((a, b) => {
    for (const key of keys) {
      const [x, y] = [a[key], b[key]]
      const both = wide.get(table)?.has(key) ? [Number(x), Number(y)] : [x, y]
      if (both[0] !== both[1]) return (both[0] as number) < (both[1] as number) ? -1 : 1
    }
    return 0
  })
}

async function learnWideColumns(store: Store): Promise<void> {
  const columns = await store.query<{ table: Table; name: string }>(
    `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND match(type, 'Int(64|128)') AND NOT match(type, 'Array')`,
  )
  for (const { table, name } of columns) wide.set(table, (wide.get(table) ?? new Set()).add(name))
}

function newLog(): EventLog {
  const log = createMemoryLog(
    { logger, registry: createRegistry() },
    { partitions: PARTITIONS, retryDelayMs: 1 },
  )
  void mirror.follow(log.states)
  return log
}

/**
 * Appends the slots beyond `from` and the late records, in chain order. After every `step` slots it
 * waits for `settled`.
 */
async function play(
  log: EventLog,
  chain: RecordChain,
  options: {
    from?: number
    step?: number
    late?: RecordChain['late']
    forks?: readonly ForkedSlot[]
  },
  settled: (slot: number) => Promise<void>,
): Promise<void> {
  const { from = -1, step = 1000, late = chain.late, forks = [] } = options
  for (const [at, slot] of chain.slots.entries()) {
    if (slot.marker.slot > from) await log.appendSlot(slot)
    const isLast = at === chain.slots.length - 1
    for (const { afterSlots, records } of late)
      if (afterSlots === at || (isLast && afterSlots > at)) await log.appendLate(records, 'stream')
    for (const { afterSlots, withdrawal, final } of forks) {
      if (afterSlots !== at) continue
      await log.appendWithdrawal(withdrawal)
      await log.appendLate(final, 'stream')
    }
    if (at % step === step - 1) await settled(slot.marker.slot)
  }
  // One more slot: once it is stored, the late records before it are too.
  await log.appendSlot({ marker: { ...lastMarker(chain), slot: lastSlot(chain) }, records: [] })
  await settled(lastSlot(chain))
}

const lastMarker = (chain: RecordChain) => chain.slots.at(-1)!.marker
const lastSlot = (chain: RecordChain) => lastMarker(chain).slot + 1

/**
 * A store for workers, and `settled`, which resolves once they have stored everything up to a slot.
 */
function watchProgress(store: Store) {
  let stored = -1
  let tell: () => void = () => {}
  const watched: Store = {
    ...store,
    async insert(table, rows, options) {
      await store.insert(table, rows, options)
      if (table !== 'progress') return
      stored = Math.max(stored, (await readStorageMarker(store))?.slot ?? -1)
      tell()
    },
  }
  const settled = async (slot: number) => {
    while (stored < slot)
      await new Promise<void>((resolve) => {
        tell = resolve
      })
  }
  return { watched, settled }
}

/**
 * Runs the worker over what `play` appends until all of it is stored. `kill` ends it like a power
 * cut.
 */
async function run(
  store: Store,
  chain: RecordChain,
  options: Parameters<typeof play>[2] & {
    kill?: Promise<void>
    /** A small one packs and evicts states all the time. */
    cache?: WalletCache
    salt?: string
    refoldLimits?: RefoldLimits
    /** Runs while the worker is still running, once everything is stored. */
    afterwards?: (
      fold: RunningBooks,
      log: EventLog,
      settled: (slot: number) => Promise<void>,
    ) => Promise<void>
  } = {},
): Promise<void> {
  const log = newLog()
  const { watched, settled } = watchProgress(store)
  let fail: (error: unknown) => void = () => {}
  const bug = new Promise<never>((_resolve, reject) => {
    fail = reject
  })
  const fold = await startFold({
    onBug: fail,
    store: watched,
    log,
    logger,
    registry: createRegistry(),
    now: () => 0,
    windowMs: 1,
    ...(options.cache && { cache: options.cache }),
    ...(options.salt && { salt: options.salt }),
    ...(options.refoldLimits && { refoldLimits: options.refoldLimits }),
  })
  const played = play(log, chain, options, settled)
    .then(() => options.afterwards?.(fold, log, settled))
    .then(() => 'played' as const)
  const killed = options.kill?.then(() => 'killed' as const) ?? bug
  try {
    if ((await Promise.race([bug, played, killed])) === 'played') await fold.stop()
  } finally {
    await log.close()
  }
}

/** A worker over a log of its own. `settled` resolves when it has stored what was appended. */
async function startWorker(t: ExecutionContext) {
  const log = newLog()
  const fold = await startFold({
    store: testStore.store,
    log,
    logger,
    registry: createRegistry(),
    windowMs: 1,
    onBug: (error) => t.fail(String(error)),
  })
  return {
    log,
    settled: () => log.settled('fold', new AbortController().signal),
    async close() {
      await fold.stop()
      await log.close()
    },
  }
}

async function track(store: Store): Promise<void> {
  await addTrackedWallets(store, addresses, [], 1)
  await addTrackedWallets(store, addresses, addresses, 2)
}

test.serial('the tables hold a pure fold of the records', async (t) => {
  const { store } = testStore
  const chain = aChain({ seed: 1, slots: 60, wallets: WALLETS - 1 })
  await track(store)
  await run(store, chain, { step: 7 })
  t.deepEqual(await dump(store), expectedDump(chain))
  t.deepEqual(await readStorageMarker(store), {
    ...lastMarker(chain),
    slot: lastSlot(chain),
    blockId: null,
    finalized: null,
  })
  t.deepEqual(await readTrackedWallets(store), addresses)
})

test.serial(
  'the first stored price of a second stays, even when a restarted process brings another (J7)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const chainOf = (
      first: number,
      ...prices: readonly (readonly [number, bigint])[]
    ): RecordChain => ({
      late: [],
      slots: prices.map(([time, usdE9], at) => {
        const slot = first + at
        const marker = {
          slot,
          parent: slot - 1,
          blockTime: time,
          solPrice: { time, usdE9 },
          blockId: null,
          finalized: null,
        }
        return { marker, records: [] }
      }),
    })
    const prices = () =>
      store.query('SELECT time, source, usd_e9 FROM sol_prices FINAL ORDER BY time')
    const row = (time: number, usd_e9: string) => ({ time, source: 'pool', usd_e9 })
    await run(store, chainOf(10, [100, 5n], [100, 5n], [101, 7n]))
    t.deepEqual(await prices(), [row(100, '5'), row(101, '7')])
    // A restarted process that did not see the slot with the first price of second 101.
    await run(store, chainOf(20, [101, 9n], [102, 8n]))
    t.deepEqual(await prices(), [row(100, '5'), row(101, '7'), row(102, '8')])
  },
)

test.serial('a price is stored before the swaps that have it (K1, K4)', async (t) => {
  // The price must be durable first: after a crash it could not be read again, because RPC blocks
  // have no pool account.
  const { store } = testStore
  await empty(store)
  await track(store)
  const { slots } = aChain({ seed: 1, slots: 20, wallets: 2 })
  const both = slots.filter(
    ({ marker, records }) => marker.solPrice && records.some(({ kind }) => kind === 'swap'),
  )
  const order: string[] = []
  const insert: Store['insert'] = async (table, rows, options) => {
    order.push(table)
    await store.insert(table, rows, options)
    order.push(`${table} stored`)
  }
  await run({ ...store, insert }, { slots: both.slice(0, 1), late: [] })
  const told = order.filter((text) => /^(sol_prices|swaps|sealed_slots)/.test(text))
  t.deepEqual(told.slice(0, 6), [
    // A restart has to know which block a price came from (rule K9).
    ...['sealed_slots', 'sealed_slots stored', 'sol_prices', 'sol_prices stored'],
    ...['swaps', 'swaps stored'],
  ])
})

test.serial(
  'twenty pages of a backfill cost a wallet one refold; until then its rows lack them (C16)',
  async (t) => {
    const { store } = testStore
    const chain = aChain({ seed: 8, slots: 60, wallets: 2 })
    const [old, live] = [chain.slots.slice(0, 40), chain.slots.slice(40)]
    const stop = new AbortController().signal
    const books = async () => {
      const { lots, disposals, positions, first_buys, profit_hours, wallet_metrics } =
        await dump(store)
      return { lots, disposals, positions, first_buys, profit_hours, wallet_metrics }
    }
    const onlyLive = expectedDump({ slots: live, late: [] })
    for (const ending of ['it is over', 'time has passed', 'killed'] as const) {
      await empty(store)
      await track(store)
      let now = 0
      let registry = createRegistry()
      let log = newLog()
      const begin = () =>
        startFold({
          store,
          log,
          logger,
          registry,
          windowMs: 1,
          now: () => now,
          onBug: (error) => t.fail(String(error)),
        })
      const refolds = async () =>
        (await registry.getSingleMetric('fold_refolds_total')?.get())?.values[0]?.value
      const append = async (slots: RecordChain['slots']) => {
        for (const slot of slots) await log.appendSlot(slot)
        await log.settled('fold', stop)
      }
      let fold = await begin()
      await append(live.slice(0, 10))
      for (let page = 20; page > 0; page -= 1) {
        const records = old.slice(2 * page - 2, 2 * page).flatMap((slot) => slot.records)
        await log.appendLate(records, 'backfill')
        await log.settled('fold', stop)
      }
      await append(live.slice(10))
      t.is(await refolds(), 0, ending)
      const { lots, disposals, positions, first_buys, profit_hours, wallet_metrics } = onlyLive
      t.deepEqual(
        await books(),
        { lots, disposals, positions, first_buys, profit_hours, wallet_metrics },
        ending,
      )
      const next = { marker: { ...lastMarker(chain), slot: lastSlot(chain) }, records: [] }
      if (ending === 'it is over') await waitUntilFolded({ store, log }, [1, 2, 3], stop)
      else if (ending === 'time has passed') {
        now = 2_100
        await append([next])
      } else {
        await log.close()
        registry = createRegistry()
        log = newLog()
        fold = await begin()
        await append([next])
      }
      t.is(await refolds(), 2, ending)
      await fold.stop()
      await log.close()
      const { sol_prices: _prices, ...rest } = await dump(store)
      const { sol_prices: _live, ...expected } = expectedDump(chain)
      t.deepEqual(rest, expected, ending)
      // No refold is left.
      t.deepEqual(await store.query('SELECT wallet FROM fold_snapshots FINAL WHERE format = 0'), [])
    }
  },
)

test.serial('late and repeated records lead to the same tables (C16, K1)', async (t) => {
  const { store } = testStore
  for (let seed = 1; seed <= 2; seed += 1) {
    await empty(store)
    const chain = aChain({ seed, slots: 40, wallets: WALLETS, lateShare: 0.3 })
    t.true(chain.late.length > 3)
    await track(store)
    await run(store, chain, {
      step: 3,
      cache: new WalletCache({ maxOpen: 6, maxPacked: 9 }),
    })
    t.deepEqual(await dump(store), expectedDump(chain), `seed ${seed}`)
    // Everything once more, to a worker with an empty memory: the same rows, not written again.
    const before = await countRows(store)
    await run(store, chain)
    t.deepEqual(await dump(store), expectedDump(chain), `seed ${seed}, replayed`)
    t.deepEqual(await countRows(store), before)
  }
})

test.serial('a history of many pages is folded page by page into the same tables', async (t) => {
  const { store } = testStore
  await empty(store)
  const chain = aChain({ seed: 7, slots: 5, wallets: 1 })
  // 45000 swaps before the chain begins: three pages, and more changes than one insert takes.
  await store.command(
    `INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program, program_id, confidence, quote_mismatch, fee_lamports, value_lamports)
     SELECT intDiv(number, 50), number % 50, 1, 0, 1600000000 + number, 's', if(number % 5 < 3, 'buy', 'sell'), 'm', 1000 + number % 7, 6, NULL, number, 'p', 'p', 'high', 0, 0, number FROM numbers(45000)`,
  )
  const [page] = await readEventPages(store, new Map([[1, START_PLACE]]), 50_000)
  const events = page?.events() ?? []
  t.is(events.length, 45_000)
  const state = createWalletState(1)
  for (const event of events) foldEvent(state, event)
  for (const event of eventsOf(chain)) foldEvent(state, toFoldEvent(event))
  for (const r of recordsOf(chain)) if (r.kind === 'balance') foldBalance(state, r)
  await run(store, chain, {
    afterwards: (_fold, log) => waitUntilFolded({ store, log }, [1], new AbortController().signal),
  })
  const { lots, disposals, tokens } = takeChanges(state)
  const tables = await dump(store)
  t.deepEqual(
    tables.lots,
    asRead(
      'lots',
      lots.map(({ mint, lot }) => lotRow(1, 0n, mint, lot)),
    ),
  )
  t.deepEqual(
    tables.disposals,
    asRead(
      'disposals',
      disposals.map((d) => disposalRow(1, 0n, d)),
    ),
  )
  t.deepEqual(
    tables.positions,
    asRead(
      'positions',
      tokens.map((x) => served(positionRow(1, 0n, x))),
    ),
  )
  t.is(tables.wallet_metrics[0]?.pnl_lamports, String(state.pnl))
  t.is(tables.wallet_metrics[0]?.events, String(state.events))
})

test.serial(
  'short histories of many wallets come together, none of them cut by a page',
  async (t) => {
    const { store } = testStore
    await empty(store)
    // 24000, 9000, 8000 and 7000 swaps: a page of 20000 ends within the first, and within the
    // fourth.
    await store.command(
      `INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint, base_amount, base_decimals, quote_mint, quote_amount, program, program_id, confidence, quote_mismatch, fee_lamports, value_lamports)
     SELECT 400000000 + intDiv(number, 50), number % 50, wallet, 0, 1600000000, 's', 'buy', 'm', 1000, 6, NULL, 0, 'p', 'p', 'high', 0, 0, 0
     FROM numbers(24000) ARRAY JOIN [1, 2, 3, 4] AS wallet WHERE number < [24000, 9000, 8000, 7000][wallet]`,
    )
    const places = new Map([
      [1, START_PLACE],
      [2, { slot: 400_000_020, txIndex: 7, eventIndex: 0 }], // the 1008th
      [3, START_PLACE],
      [4, { slot: 400_000_000, txIndex: 0, eventIndex: 0 }],
      [5, START_PLACE],
    ])
    const pages = await collect(readShortEvents(store, places))
    const firstOf = (events: ReturnType<(typeof pages)[number]['events']>) =>
      events[0] && [events[0].slot - 400_000_000, events[0].txIndex]
    t.deepEqual(
      pages.map(({ wallet, events, isLast }) => ({
        wallet,
        isLast,
        events: events().length,
        first: firstOf(events()),
      })),
      [
        { wallet: 1, isLast: false, events: 20_000, first: [0, 0] },
        { wallet: 2, isLast: true, events: 7992, first: [20, 8] },
        { wallet: 3, isLast: true, events: 8000, first: [0, 0] },
        { wallet: 4, isLast: true, events: 6999, first: [0, 1] },
        { wallet: 5, isLast: true, events: 0, first: undefined },
      ],
    )
    const whole = await readEventPages(store, places, 50_000)
    t.deepEqual(
      whole.map(({ events, isLast }) => [events().length, isLast]),
      [24_000, 7992, 8000, 6999, 0].map((events) => [events, true]),
    )
    t.deepEqual(whole[1]?.events(), pages[1]?.events())
    const cut = await readEventPages(store, places, 24_001)
    t.deepEqual(
      cut.map(({ wallet, events, isLast, reached }) => [wallet, events().length, isLast, reached]),
      [
        [1, 24_000, true, { wallet: 1, slot: 400_000_479, txIndex: 49, eventIndex: 0 }],
        [2, 1, false, { wallet: 2, slot: 400_000_020, txIndex: 8, eventIndex: 0 }],
      ],
    )
  },
)

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

test.serial(
  'workers join and leave while records flow, each with its share of wallets, and the tables are the same (K1, K3)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const chain = aChain({ seed: 12, slots: 48, wallets: WALLETS, lateShare: 0.25 })
    const log = newLog()
    const { watched, settled } = watchProgress(store)
    const bugs: unknown[] = []
    const shares = new Set<string>()
    const start = () =>
      startFold({
        store: watched,
        log,
        logger,
        registry: createRegistry(),
        now: () => 0,
        windowMs: 1,
        onBug: (error) => bugs.push(error),
      })
    const workers = [start()]
    // The next slots are appended while one joins or leaves.
    const changes: (() => unknown)[] = [
      () => workers.push(start()),
      () => workers.push(start()),
      async () => (await workers.shift())?.stop(),
      () => workers.push(start()),
      async () => (await workers.shift())?.stop(),
      async () => (await workers.shift())?.stop(),
    ]
    const under: unknown[] = []
    await play(log, chain, { step: 6 }, async (slot) => {
      await settled(slot)
      const running = await Promise.all(workers)
      for (const worker of running) shares.add(worker.partitions().join())
      under.push(changes.shift()?.())
    })
    await Promise.all(under)
    for (const worker of await Promise.all(workers)) await worker.stop()
    await log.close()
    t.deepEqual(bugs, [])
    t.deepEqual([...shares].sort(), ['0', '0,1,2', '0,2', '1', '2'])
    t.deepEqual(await dump(store), expectedDump(chain))
    t.deepEqual(await store.query('SELECT wallet FROM fold_snapshots FINAL WHERE format = 0'), [])
  },
)

test.serial('without its snapshots a worker makes the same tables', async (t) => {
  const { store } = testStore
  await empty(store)
  const chain = aChain({ seed: 9, slots: 40, wallets: WALLETS, lateShare: 0.2 })
  const half = { ...chain, slots: chain.slots.slice(0, 20), late: [] }
  await track(store)
  await run(store, half)
  await store.command('TRUNCATE TABLE fold_snapshots')
  await run(store, chain, { step: 4 })
  t.deepEqual(await dump(store), expectedDump(chain))
})

test.serial('a refolded wallet has byte-identical rows (K4)', async (t) => {
  const { store } = testStore
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 1_000_000 }), async (seed) => {
      await empty(store)
      await track(store)
      const chain = aChain({ seed, slots: 30, wallets: WALLETS - 1, lateShare: 0.2 })
      await run(store, chain, {
        async afterwards(_fold, log, settled) {
          const before = await dump(store)
          t.deepEqual(before, expectedDump(chain))
          await spoil(store)
          t.notDeepEqual(await readTables(store), before)
          const targets = await requestRefolds({ store, log }, [1, 2, 3, 4, 5])
          await log.appendSlot({ marker: { ...lastMarker(chain), slot: 1e9 }, records: [] })
          await settled(1e9)
          t.deepEqual(await readRefoldProgress(store, targets), { begun: WALLETS, done: WALLETS })
          t.deepEqual(await dump(store), before)

          // Requesting the same refolds again has no effect.
          const rows = await countDerived(store)
          await log.appendRefolds([...targets].map(([wallet, revision]) => ({ wallet, revision })))
          await log.appendSlot({ marker: { ...lastMarker(chain), slot: 2e9 }, records: [] })
          await settled(2e9)
          t.deepEqual(await countDerived(store), rows)
        },
      })
    }),
    { numRuns: 4 },
  )
})

/** Stores rows that follow from no event, and deletes some that do. */
async function spoil(store: Store): Promise<void> {
  await store.command('TRUNCATE TABLE positions')
  await store.command(
    `INSERT INTO lots (wallet, mint, slot, tx_index, event_index, version) VALUES (1, 'm', 1, 0, 0, 7)`,
  )
}

async function countDerived(store: Store): Promise<unknown> {
  return store.query(
    'SELECT (SELECT count() FROM lots) AS lots, (SELECT count() FROM positions) AS positions, (SELECT count() FROM wallet_metrics) AS metrics',
  )
}

test.serial('changed events lead to the books of the changed events', async (t) => {
  const { store } = testStore
  await empty(store)
  await track(store)
  const chain = aChain({ seed: 11, slots: 30, wallets: WALLETS })
  const priced: RecordChain = {
    ...chain,
    slots: chain.slots.map((slot) => ({ ...slot, records: slot.records.map(withPrice) })),
  }
  await run(store, chain, {
    async afterwards(fold) {
      t.deepEqual(await dump(store), expectedDump(chain))
      await fold.amend([1, 2, 3, 4, 5, 2], async (wallets, itsStore) => {
        t.deepEqual(wallets, [1, 2, 3, 4, 5])
        const rows = eventsOf(priced).flatMap((e) => (e.kind === 'swap' ? [recordRow(e)] : []))
        await itsStore.insert(
          'swaps',
          rows.map((row) => ({ ...row, version: 1 })),
        )
      })
      t.deepEqual(await dump(store), expectedDump(priced))
    },
  })
  t.notDeepEqual(expectedDump(priced), expectedDump(chain))
})

const withPrice = (record: WalletRecord): WalletRecord =>
  record.kind === 'swap' && record.quoteMint === USDC
    ? { ...record, solPriceUsdE9: record.solPriceUsdE9 ?? 140_000_000_000n }
    : record

test.serial(
  'killed before a write of any kind and started again, a worker makes the same tables (K1)',
  async (t) => {
    const { store } = testStore
    const chain = aChain({ seed: 4, slots: 8, wallets: 4, lateShare: 0.25 })
    const expected = expectedDump(chain)
    const options = {
      step: 4,
      async afterwards(
        _fold: RunningBooks,
        log: EventLog,
        settled: (slot: number) => Promise<void>,
      ) {
        await log.appendRefolds([{ wallet: 2, revision: 50 }])
        await log.appendSlot({ marker: { ...lastMarker(chain), slot: 1e9 }, records: [] })
        await settled(1e9)
      },
    }
    const life = dyingStore(store, Number.POSITIVE_INFINITY)
    await empty(store)
    await track(store)
    await run(life.store, chain, options)
    t.deepEqual(await dump(store), expected)
    // Two writes of a kind differ in what was stored before them.
    const kinds = life.writes.map((write, at) => `${life.writes[at - 1]} | ${write}`)
    const points = kinds.flatMap((kind, at) => (kinds.indexOf(kind) === at ? [at + 1] : []))
    t.true(points.length > 20)
    for (const n of points) {
      await empty(store)
      await track(store)
      const dying = dyingStore(store, n)
      await run(dying.store, chain, { ...options, kill: dying.death })
      // A log in memory is lost with its process. Slots come again from the stored marker on, late
      // records only if they were not stored.
      const from = (await readStorageMarker(store))?.slot ?? -1
      const late = n % 2 === 0 ? chain.late : await lateNotStored(store, chain)
      await run(store, chain, { ...options, step: 1000, from, late })
      t.deepEqual(await dump(store), expected, `killed instead of write ${n}: ${kinds[n - 1]}`)
    }
    t.log(`${points.length} points of ${kinds.length}`)
  },
)

test.serial(
  'after withdrawals the tables are those of the finalized chain, also when everything is replayed (rule K9)',
  async (t) => {
    const { store } = testStore
    for (let seed = 1; seed <= FORKED_CHAINS; seed += 1) {
      await empty(store)
      await track(store)
      const chain = aForkedChain({ seed, slots: 12, wallets: WALLETS, lateShare: 0.15 })
      const expected = expectedDump(chain.truth)
      const { seen, forks } = chain
      t.true(forks.some(({ final }) => final.length > 0) && forks.length > 3)
      const cache = new WalletCache({ maxOpen: 6, maxPacked: 9 })
      await run(store, seen, { forks, step: seed === 1 ? 1 : 7, cache })
      t.deepEqual(await dump(store), expected, `seed ${seed}`)
      await run(store, seen, { forks, step: 1000 })
      t.deepEqual(await dump(store), expected, `seed ${seed}, replayed at once`)
      await run(store, seen, { forks, step: 1 })
      t.deepEqual(await dump(store), expected, `seed ${seed}, replayed slot by slot`)
      await store.command('TRUNCATE TABLE fold_snapshots')
      await run(store, seen, { forks, from: lastSlot(seen), late: [] })
      t.deepEqual(await dump(store), expected, `seed ${seed}, without snapshots`)
    }
  },
)

test.serial(
  'killed before a write of any kind of a withdrawal and started again, a worker makes the same tables (rules K1, K9)',
  async (t) => {
    const { store } = testStore
    const { truth, seen, forks } = aForkedChain({ seed: 7, slots: 7, wallets: 4 })
    const expected = expectedDump(truth)
    const options = { forks, step: 3 }
    const life = dyingStore(store, Number.POSITIVE_INFINITY)
    await empty(store)
    await track(store)
    await run(life.store, seen, options)
    t.deepEqual(await dump(store), expected)
    const kinds = life.writes
    const points = kinds.flatMap((kind, at) => (kinds.indexOf(kind) === at ? [at + 1] : []))
    t.true(points.some((n) => kinds[n - 1]?.includes('INSERT INTO transactions')))
    for (const n of points) {
      await empty(store)
      await track(store)
      const dying = dyingStore(store, n)
      await run(dying.store, seen, { ...options, kill: dying.death })
      // Ingest appends a withdrawal again when it does not know that the log has it.
      const from = (await readStorageMarker(store))?.slot ?? -1
      await run(store, seen, { ...options, step: 1000, from })
      t.deepEqual(await dump(store), expected, `killed instead of write ${n}: ${kinds[n - 1]}`)
    }
    t.log(`${points.length} points of ${kinds.length}`)
  },
)

test.serial(
  'a price that came from a withdrawn slot is gone, and swaps valued at it wait for another one (rules K9, C1)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const place = { txIndex: 0, wallet: 1, eventIndex: 0, signature: '1'.repeat(64) }
    const [mint] = addresses
    if (mint === undefined) throw new Error('there are five addresses')
    const usd = { quoteMint: USDC, quoteAmount: 3_000_000n, quoteMismatch: false } as const
    const swapAt = (slot: number, blockTime: number, solPriceUsdE9: bigint, of = usd) => ({
      kind: 'swap' as const,
      ...place,
      slot,
      blockTime,
      side: 'buy' as const,
      baseMint: mint,
      baseAmount: 5n,
      baseDecimals: 6,
      program: 'pumpswap',
      programId: mint,
      pool: null,
      confidence: 'high' as const,
      feeLamports: 0n,
      solPriceUsdE9,
      ...of,
    })
    const wrong = { time: 101, usdE9: 99_000_000_000n }
    const prices = [{ time: 100, usdE9: 150_000_000_000n }, wrong, wrong, { time: 103, usdE9: 7n }]
    const slots = [
      { slot: 10, blockTime: 100, usdE9: 150_000_000_000n },
      { slot: 11, blockTime: 101, usdE9: 99_000_000_000n },
      { slot: 12, blockTime: 102, usdE9: 99_000_000_000n },
      { slot: 13, blockTime: 103, usdE9: 99_000_000_000n },
    ].map(({ slot, blockTime, usdE9 }, at) => ({
      marker: {
        slot,
        parent: slot - 1,
        blockTime,
        solPrice: prices[at] ?? null,
        blockId: BigInt(slot),
        finalized: null,
      },
      records: [swapAt(slot, blockTime, usdE9)],
    }))
    const log = newLog()
    let unpriced = 0
    const fold = await startFold({
      store,
      log,
      logger,
      registry: createRegistry(),
      windowMs: 1,
      onBug: (error) => t.fail(String(error)),
      onUnpriced: () => {
        unpriced += 1
      },
    })
    t.is(unpriced, 1, 'an earlier owner of the partitions may have left swaps without a price')
    for (const slot of slots) await log.appendSlot(slot)
    // A swap of an earlier slot in the same second that comes late is valued at that price too.
    await log.appendLate([{ ...swapAt(10, 101, wrong.usdE9), txIndex: 5 }], 'stream')
    await log.appendWithdrawal({
      slot: 11,
      blockId: 11n,
      solPrice: wrong,
      rewind: null,
    })
    await log.settled('fold', new AbortController().signal)
    const found = await store.query(
      'SELECT toUInt32(slot) AS slot, sol_price_usd_e9 AS price, value_lamports AS value FROM swaps FINAL ORDER BY slot, tx_index',
    )
    t.deepEqual(found, [
      { slot: 10, price: '150000000000', value: '20000000' },
      { slot: 10, price: null, value: null },
      { slot: 12, price: null, value: null },
      // The price was the same, but another one held at that time.
      { slot: 13, price: '99000000000', value: '30303030' },
    ])
    t.is(unpriced, 2)
    t.deepEqual(
      await readSolPrices(store, [101, 102, 103], 3600),
      new Map([
        [101, 150_000_000_000n],
        [102, 150_000_000_000n],
        [103, 7n],
      ]),
    )
    t.deepEqual(
      (await readPoolPrices(store, 10)).map(({ time }) => time),
      [100, 103],
    )
    const [metrics] = await store.query<{ bought_lamports: string }>(
      'SELECT bought_lamports FROM wallet_metrics FINAL WHERE wallet = 1',
    )
    t.is(metrics?.bought_lamports, String(20_000_000 + 30_303_030))
    await fold.stop()
    await log.close()
  },
)

test.serial(
  'the price of the block that is sealed instead is stored, also in the same second and by another process (rule K9)',
  async (t) => {
    const { store } = testStore
    const slotWith = (slot: number, time: number, usdE9: bigint) => ({
      marker: { ...aMarker(slot), blockTime: time, solPrice: { time, usdE9 }, blockId: usdE9 },
      records: [],
    })
    const before = [slotWith(10, 100, 5n), slotWith(11, 101, 6n), slotWith(12, 102, 7n)]
    const instead = [slotWith(11, 101, 60n), slotWith(12, 102, 70n)]
    for (const isRestarted of [false, true]) {
      await empty(store)
      await track(store)
      const log = newLog()
      const deps = {
        store,
        log,
        logger,
        windowMs: 1,
        onBug: (error: unknown) => t.fail(`${error}`),
      }
      const start = () => startFold({ ...deps, registry: createRegistry() })
      const settled = () => log.settled('fold', new AbortController().signal)
      let fold = await start()
      for (const slot of before) await log.appendSlot(slot)
      const rewind = { checkpoint: before[0]?.marker ?? null, attempt: 1 }
      for (const { marker } of before.slice(1)) await log.appendWithdrawal({ ...marker, rewind })
      await settled()
      t.deepEqual(await readPoolPrices(store, 9), [{ time: 100, usdE9: 5n }])
      if (isRestarted) {
        await fold.stop()
        fold = await start()
      }
      for (const slot of instead) await log.appendSlot(slot)
      await settled()
      t.deepEqual(await readPoolPrices(store, 9), [
        { time: 100, usdE9: 5n },
        { time: 101, usdE9: 60n },
        { time: 102, usdE9: 70n },
      ])
      await fold.stop()
      await log.close()
    }
  },
)

test.serial(
  'after a rewind a worker is at its checkpoint again: later slots are in order, and a jump leaves a hole behind it (rules K9, K2)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const chain = aChain({ seed: 3, slots: 8, wallets: WALLETS, lateShare: 0 })
    const [checkpoint, ...void_] = chain.slots
    if (checkpoint === undefined) throw new Error('there are eight slots')
    const { log, settled, close } = await startWorker(t)
    for (const slot of chain.slots) await log.appendSlot(slot)
    await settled()
    t.is((await readStorageMarker(store))?.slot, lastMarker(chain).slot)
    const rewind = { checkpoint: checkpoint.marker, attempt: 1 }
    for (const { marker } of void_) await log.appendWithdrawal({ ...marker, rewind })
    await settled()
    t.is((await readStorageMarker(store))?.slot, checkpoint.marker.slot)
    for (const slot of void_.slice(0, 3)) {
      await log.appendSlot(slot)
      await settled()
      t.is((await readStorageMarker(store))?.slot, slot.marker.slot)
    }
    t.deepEqual(await store.query('SELECT * FROM late_swaps FINAL'), [])
    const last = void_[2]?.marker.slot ?? 0
    await log.appendSlot({ marker: aMarker(last + 5000, last + 4999), records: [] })
    await settled()
    t.deepEqual(
      await store.query(
        'SELECT DISTINCT toUInt32(from_slot) AS after, toUInt32(to_slot) AS to FROM slot_gaps',
      ),
      [{ after: last, to: last + 4999 }],
    )
    await close()
  },
)

test.serial(
  'a swap that was withdrawn, then undecoded in the finalized block, is stored once it can be decoded (rules K9, K10)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const chain = aChain({ seed: 5, slots: 30, wallets: 1, lateShare: 0 })
    const swaps = chain.slots.flatMap(({ records }) => records.filter((one) => one.kind === 'swap'))
    const [swap] = swaps
    if (swap === undefined) throw new Error('the chain has swaps')
    const { slot, txIndex, wallet, blockTime, signature } = swap
    const [reason] = NO_DECIMALS
    const place = { slot, txIndex, wallet, blockTime, signature }
    const { log, settled, close } = await startWorker(t)
    const stored = () =>
      store.query(
        `SELECT toUInt32((SELECT count() FROM swaps FINAL WHERE is_deleted = 0)) AS swaps,
           toUInt32((SELECT count() FROM undecoded FINAL WHERE is_deleted = 0)) AS undecoded`,
      )
    await log.appendSlot({ marker: aMarker(slot), records: [swap] })
    await log.appendWithdrawal({ slot, blockId: null, solPrice: null, rewind: null })
    await log.appendLate([{ kind: 'undecoded', ...place, programId: null, reason }], 'stream')
    await settled()
    t.deepEqual(await stored(), [{ swaps: 0, undecoded: 1 }])
    await log.appendLate([swap], 'backfill')
    await settled()
    t.deepEqual(await stored(), [{ swaps: 1, undecoded: 0 }])
    await close()
  },
)

const brokers = process.env.KAFKA_BROKERS?.split(',')
const onKafka = brokers ? test.serial : test.skip
onKafka(
  `a worker joins while the log grows, another leaves: the tables end up the same, and none reads the books of a wallet twice (rules K1, K23)${brokers ? '' : ' (skipped: KAFKA_BROKERS is not set)'}`,
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const chain = aChain({ seed: 21, slots: 90, wallets: WALLETS, lateShare: 0.1 })
    const topicPrefix = `test-${randomUUID()}-`
    let tell: () => void = () => {}
    const watched: Store = {
      ...store,
      async insert(table, rows, options) {
        await store.insert(table, rows, options)
        if (table === 'progress') tell()
      },
    }
    const start = async () => {
      const registry = createRegistry()
      const config = { brokers: brokers ?? [], topicPrefix, ssl: false, sasl: null }
      const log = await createKafkaLog(config, { logger, registry }, PARTITIONS)
      const { noting, read } = noteBooksRead(watched)
      const fold = await startFold({
        store: noting,
        log,
        logger,
        registry,
        now: () => 0,
        windowMs: 1,
        onBug: (error) => t.fail(String(error)),
      })
      return {
        log,
        read,
        async stop() {
          await fold.stop()
          await log.close()
          const taken = await registry.getSingleMetric('fold_records_total')?.get()
          return taken?.values.reduce((sum, { value }) => sum + value, 0) ?? 0
        },
      }
    }
    /** Appends slots without waiting for the workers. */
    const append = async (log: EventLog, from: number, to: number) => {
      for (let at = from; at < to; at += 1) {
        const slot = chain.slots[at]
        if (slot) await log.appendSlot(slot)
        for (const { afterSlots, records } of chain.late)
          if (afterSlots === at) await log.appendLate(records, 'stream')
      }
    }
    const stored = async (slot: number) => {
      for (;;) {
        const next = new Promise<void>((resolve) => {
          tell = resolve
        })
        if (((await readStorageMarker(store))?.slot ?? -1) >= slot) return
        await next
      }
    }

    const first = await start()
    const growing = append(first.log, 0, 45)
    const second = await start()
    await growing
    await stored(chain.slots[44]?.marker.slot ?? 0) // both have joined, and have taken their share
    const { log } = second
    await append(log, 45, 60)
    const leaving = first.stop()
    await append(log, 60, 100)
    const takenByFirst = await leaving
    await log.appendSlot({ marker: { ...lastMarker(chain), slot: 1e9 }, records: [] })
    await stored(1e9)
    const takenBySecond = await second.stop()
    t.deepEqual(await readTables(store), expectedDump(chain))
    t.true(takenByFirst > 0 && takenBySecond > 0)
    for (const { read } of [first, second]) t.deepEqual(read, [...new Set(read)])
  },
)

/** Returns the late records that are not all stored. */
async function lateNotStored(store: Store, chain: RecordChain): Promise<RecordChain['late']> {
  const families = {
    swap: 'swaps',
    token_transfer: 'transfers',
    sol_transfer: 'sol_transfers',
    balance: 'sol_balances',
    undecoded: 'undecoded',
  } as const
  const parts = Object.entries(families).map(
    ([kind, table]) =>
      `SELECT '${kind}' AS kind, slot, tx_index, wallet, ${table === 'sol_balances' || table === 'undecoded' ? 0 : 'event_index'} AS event_index FROM ${table}`,
  )
  parts.push(`SELECT 'kept', slot, tx_index, 0, 0 FROM transactions`)
  const rows = await store.query<Record<string, unknown>>(parts.join(' UNION ALL '))
  const stored = new Set(rows.map((row) => Object.values(row).join('/')))
  return chain.late.filter(({ records }) =>
    records.some((r) => {
      const eventIndex = 'eventIndex' in r ? r.eventIndex : 0
      const wallet = r.kind === 'kept' ? 0 : r.wallet
      return !stored.has([r.kind, r.slot, r.txIndex, wallet, eventIndex].join('/'))
    }),
  )
}

test.serial(
  'while the store is down the worker waits, then resumes, and loses nothing',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const chain = aChain({ seed: 5, slots: 20, wallets: WALLETS })
    let calls = 0
    const flaky = <T>(run: () => Promise<T>): Promise<T> => {
      calls += 1
      if (calls % 4 === 0)
        throw new ServiceError('unavailable', 'the store does not answer', { retriable: true })
      return run()
    }
    await run(
      {
        ...store,
        query: async (sql, params) => flaky(() => store.query(sql, params)),
        insert: async (table, rows, options) => {
          await flaky(() => store.insert(table, rows, options))
          // The rows are stored but the response is lost, so the insert is retried with the same
          // token.
          if (calls % 5 === 0)
            throw new ServiceError('unavailable', 'the store does not answer', { retriable: true })
        },
      },
      chain,
    )
    t.deepEqual(await dump(store), expectedDump(chain))
    t.deepEqual(
      await store.query(
        'SELECT count() = uniqExact(slot, tx_index, wallet, event_index) AS once FROM swaps',
      ),
      [{ once: 1 }],
    )
  },
)

test.serial(
  'late swaps and gaps are stored at the places that a follower of the log sees, even over restarts (rules F4, K2)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await track(store)
    const chain = aChain({ seed: 9, slots: 40, wallets: WALLETS, lateShare: 0.4 })
    const log = newLog()
    const order = new LateOrder(log.epoch)
    const places = new Map<string, Row>()
    await log.consume({ mode: 'follow', sinceMs: 1000 }, async ({ partition, records }) => {
      for (const entry of records) {
        if (entry.kind === 'marker') order.pass(partition, entry.marker.slot)
        const mark = order.markOf(partition, entry)
        if (mark === null || entry.kind !== 'record' || entry.record.kind !== 'swap') continue
        const row = lateRow(entry.record, mark, entry.blockId ?? null)
        const key = [row.slot, row.tx_index, row.wallet, row.event_index].join('/')
        if (!places.has(key)) places.set(key, row)
      }
    })
    const start = () =>
      startFold({
        onBug: (error) => t.fail(String(error)),
        store,
        log,
        logger,
        registry: createRegistry(),
        windowMs: 1,
      })
    let fold = await start()
    for (const [at, slot] of chain.slots.entries()) {
      const late = chain.late.filter(({ afterSlots }) => afterSlots === at)
      for (const { records } of late) {
        await log.appendLate(records, 'stream')
        await fold.stop() // between two late records after one marker
        fold = await start()
        await log.appendLate(records, 'stream')
      }
      await log.appendSlot(slot)
    }
    const { marker } = chain.slots.at(-1)!
    const next = { ...marker, slot: marker.slot + 9, parent: marker.slot + 8 }
    await log.appendSlot({ marker: next, records: [] })
    while ((await readStorageMarker(store))?.slot !== next.slot) await fold.between(async () => {})
    await fold.stop()
    await log.close()
    const read = (table: string, columns: string, key: string) =>
      store.query<Row>(`SELECT ${columns} FROM ${table} FINAL ORDER BY ${key}`)
    const number = (row: Row) =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [column, Number(value)]))
    const stored = (
      await read('late_swaps', '* EXCEPT inserted_at', 'epoch, passed_slot, partition, offset')
    ).map(number)
    const byPlace = (a: Row, b: Row) =>
      Number(a.passed_slot) - Number(b.passed_slot) ||
      Number(a.partition) - Number(b.partition) ||
      Number(a.offset) - Number(b.offset)
    t.true(stored.length > 5)
    t.deepEqual(stored, [...places.values()].map(number).sort(byPlace))
    t.deepEqual((await read('slot_gaps', 'to_slot, from_slot', 'to_slot')).map(number), [
      { to_slot: marker.slot + 8, from_slot: marker.slot },
    ])
  },
)

async function countRows(store: Store): Promise<unknown> {
  return store.query(
    'SELECT (SELECT count() FROM swaps) AS swaps, (SELECT count() FROM transfers) AS transfers, (SELECT count() FROM sol_transfers) AS sol_transfers, (SELECT count() FROM sol_balances) AS sol_balances, (SELECT count() FROM transactions) AS transactions',
  )
}

/** The positions that a worker with this salt stores. */
function saltedPositions(chain: RecordChain, salt: string) {
  const figures = servedFigures(chain, salt)
  const rows = expectedDump(chain).positions.map((row) =>
    served(row, figures.get(`${row.wallet}/${row.mint}`)),
  )
  return asRead('positions', rows)
}

test.serial(
  'when the salt changes, long wallets show the figures of the former one until they are refolded in the background, and never exact ones (rules I2, J16)',
  async (t) => {
    const { store } = testStore
    const chain = aChain({ seed: 12, slots: 60, wallets: WALLETS, lateShare: 0.1 })
    const textOf = (row: Row) => JSON.stringify(row, Object.keys(row).sort())
    const [former, next] = ['the former salt', 'the next salt'].map((salt) =>
      saltedPositions(chain, salt),
    )
    const allowed = new Set([former, next].flatMap((rows = []) => rows.map((row) => textOf(row))))
    await empty(store)
    await track(store)
    await run(store, chain, { salt: 'the former salt' })
    t.deepEqual((await dump(store)).positions, former)
    const wallets = Array.from({ length: WALLETS }, (_, at) => at + 1)
    let looks = 0
    await run(store, chain, {
      from: lastSlot(chain),
      late: [],
      salt: 'the next salt',
      refoldLimits: { rowsPerFlush: 10, rowsPerSlice: 20 },
      async afterwards(_fold, log) {
        let isDone = false
        const done = waitUntilFolded({ store, log }, wallets, new AbortController().signal)
        const ended = done.finally(() => {
          isDone = true
        })
        for (; !isDone; looks += 1) {
          const { positions } = await readTables(store)
          t.deepEqual(
            positions.filter((row) => !allowed.has(textOf(row))),
            [],
          )
        }
        await ended
      },
    })
    t.true(looks > 0)
    t.deepEqual((await dump(store)).positions, next)
  },
)

test.serial(
  'with a salt positions hold the served figures of perturbed swaps, and metrics coarsened sums; when the salt changes, every wallet is refolded (rules I2, I2a, C14)',
  async (t) => {
    const { store } = testStore
    const chain = aChain({ seed: 11, slots: 60, wallets: WALLETS, lateShare: 0.1 })
    await empty(store)
    await track(store)
    await run(store, chain, { salt: 'a salt of this test', cache: new WalletCache({ maxOpen: 3 }) })
    t.deepEqual((await dump(store)).positions, saltedPositions(chain, 'a salt of this test'))
    t.notDeepEqual(saltedPositions(chain, 'a salt of this test'), expectedDump(chain).positions)
    const again = { from: lastSlot(chain), late: [] }
    // Killed before it saved: no snapshot says with which salt the books were made.
    await store.command('TRUNCATE TABLE fold_snapshots')
    await run(store, chain, { ...again, salt: 'another salt of it' })
    const salted = await dump(store)
    t.deepEqual(salted.positions, saltedPositions(chain, 'another salt of it'))
    t.deepEqual(salted.wallet_metrics, expectedDump(chain, true).wallet_metrics)
    t.deepEqual(salted.first_buys, expectedDump(chain, true).first_buys)
    await store.command('TRUNCATE TABLE fold_snapshots')
    await run(store, chain, again)
    t.deepEqual(await dump(store), expectedDump(chain))
  },
)
