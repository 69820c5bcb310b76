import test from 'ava'
import fc from 'fast-check'
import { addressFromBytes } from '../../domain/address.ts'
import { USDC, WSOL } from '../../domain/quote.ts'
import type { SolPrice, WalletRecord } from '../../domain/slot.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Store } from '../../store/store.ts'
import { readStorageMarker } from '../../store/tables/progress.ts'
import { insertSealedSlots } from '../../store/tables/sealed-slots.ts'
import { readSettledSolPrices, storeSolPriceFile } from '../../store/tables/sol-prices.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { writePrices } from '../../store/tables/unpriced-swaps.ts'
import { aChain, type RecordChain } from '../../testing/a-chain.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { dyingStore } from '../../testing/dying-store.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { progressRow } from '../fold/event-rows.ts'
import { startFold } from '../fold/fold.ts'
import { startPriceFill } from './price-fill.ts'

const logger = createLogger('silent')
const WALLETS = 4
const MAX_AGE = 30
const T = 1_700_000_000

let testStore: TestStore
test.before(async () => {
  testStore = await openTestStore()
  await migrate(testStore.store)
})
test.after.always(() => testStore.remove())

async function empty(store: Store): Promise<void> {
  await emptyTables(store)
  const addresses = Array.from({ length: WALLETS }, (_, n) =>
    addressFromBytes(new Uint8Array(32).fill(n + 1)),
  )
  await addTrackedWallets(store, addresses, [], 0)
}

const APART = 'version, inserted_at'
const TABLES = {
  swaps: APART,
  lots: 'version',
  disposals: APART,
  positions: APART,
  first_buys: 'version',
  wallet_metrics: 'version, revision, inserted_at',
}

/** Returns all rows of the tables, without the columns that may differ (rule K4). */
async function dump(store: Store): Promise<unknown> {
  return Promise.all(
    Object.entries(TABLES).map(([table, apart]) =>
      store.query(`SELECT * EXCEPT(${apart}) FROM ${table} FINAL ORDER BY ALL`),
    ),
  )
}

/** Runs the fold over a chain until all of it is stored, then calls `afterwards`. */
async function run(
  store: Store,
  chain: RecordChain,
  afterwards: (fold: Awaited<ReturnType<typeof startFold>>) => Promise<void> = async () => {},
): Promise<void> {
  const log = createMemoryLog(
    { logger, registry: createRegistry() },
    { partitions: 3, retryDelayMs: 1 },
  )
  const last = chain.slots.at(-1)?.marker.slot ?? 0
  let tell: () => void = () => {}
  const isStored = new Promise<void>((resolve) => {
    tell = resolve
  })
  let fail: (error: unknown) => void = () => {}
  const broken = new Promise<never>((_, reject) => {
    fail = reject
  })
  broken.catch(() => {})
  const fold = await startFold({
    log,
    logger,
    registry: createRegistry(),
    now: () => 0,
    windowMs: 1,
    onBug: fail,
    store: {
      ...store,
      async insert(table, rows, options) {
        await store.insert(table, rows, options)
        if (table === 'progress' && (await readStorageMarker(store))?.slot === last) tell()
      },
    },
  })
  try {
    for (const slot of chain.slots) void log.appendSlot(slot).catch(() => {})
    if (chain.slots.length > 0) await Promise.race([isStored, broken])
    await Promise.race([afterwards(fold), broken])
  } finally {
    await fold.stop()
    await log.close()
  }
}

/** Runs one pass of the price fill. Returns how many swaps it reports as filled. */
async function fillOnce(store: Store, books: Parameters<typeof startPriceFill>[0]['books']) {
  const registry = createRegistry()
  let bug: unknown = null
  const onBug = (error: unknown) => {
    bug = error
  }
  const fill = startPriceFill({ store, books, maxAgeSeconds: MAX_AGE, logger, registry, onBug })
  await fill.fillNow()
  await fill.stop()
  if (bug) throw bug
  return (await registry.getSingleMetric('price_fill_swaps_total')?.get())?.values[0]?.value ?? 0
}

/**
 * Returns the chain whose swaps have the prices of `at`, unless they have one already. A later
 * slot, which is final, ends it: all of its times are settled.
 */
function withPrices(chain: RecordChain, at: (time: number) => bigint | null): RecordChain {
  const priced = (record: WalletRecord): WalletRecord =>
    record.kind === 'swap' && record.quoteMint !== null
      ? { ...record, solPriceUsdE9: record.solPriceUsdE9 ?? at(record.blockTime) }
      : record
  const slots = chain.slots.map(({ marker, records }) => ({
    marker: { ...marker, solPrice: null },
    records: records.map(priced),
  }))
  const { marker } = slots.at(-1)!
  const slot = marker.slot + 1
  const last = { slot, parent: marker.slot, blockTime: marker.blockTime + 1, finalized: slot }
  return { late: [], slots: [...slots, { marker: { ...marker, ...last }, records: [] }] }
}

/** A plain implementation of rule C1: the newest price at or before a time that is not too old. */
const priceAt = (prices: readonly SolPrice[]) => (time: number) => {
  let found: SolPrice | null = null
  for (const price of prices) {
    const isUsable = price.time <= time && time - price.time <= MAX_AGE
    if (isUsable && (found === null || price.time > found.time)) found = price
  }
  return found?.usdE9 ?? null
}

const somePrices = fc
  .uniqueArray(
    fc.record({
      time: fc.integer({ min: T - 60, max: T + 200 }),
      usdE9: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    }),
    { selector: ({ time }) => time, maxLength: 12 },
  )
  .map((prices) => prices.sort((a, b) => a.time - b.time))

test.serial(
  'swaps without a price get the price at their time, and every table is as if they had always had it (C1, J7)',
  async (t) => {
    const { store } = testStore
    await fc.assert(
      fc.asyncProperty(fc.nat(1_000_000), somePrices, async (seed, prices) => {
        const chain = withPrices(aChain({ seed, slots: 12, wallets: WALLETS }), () => null)
        const expected = withPrices(chain, priceAt(prices))
        await empty(store)
        await run(store, expected)
        const whole = await dump(store)

        await empty(store)
        let filled = 0
        await run(store, chain, async (fold) => {
          t.is(await storeSolPriceFile(store, prices), prices.length)
          filled = await fillOnce(store, fold)
          t.deepEqual(await dump(store), whole)
          // A second pass writes nothing, and a closer price replaces no price.
          t.is(await fillOnce(store, fold), 0)
          const isCovered = (time: number) =>
            Array.from({ length: MAX_AGE + 1 }).every((_, n) => priceAt(prices)(time + n) !== null)
          const closer = Array.from({ length: 100 }, (_, n) => ({ time: T + 3 * n, usdE9: 7n }))
          const covered = closer.filter(({ time }) => isCovered(time))
          await storeSolPriceFile(store, covered)
          t.is(await fillOnce(store, fold), 0)
          t.deepEqual(await dump(store), whole)
        })
        const unpriced = (of: RecordChain) =>
          of.slots
            .flatMap(({ records }) => records)
            .filter((r) => r.kind === 'swap' && r.quoteMint !== null && r.solPriceUsdE9 === null)
            .length
        t.is(filled, unpriced(chain) - unpriced(expected))
      }),
      { numRuns: 4 },
    )
  },
)

test.serial(
  'killed before any of its writes and started again, the price fill makes the same tables',
  async (t) => {
    const { store } = testStore
    const chain = withPrices(aChain({ seed: 5, slots: 4, wallets: WALLETS }), () => null)
    const prices = [
      { time: T, usdE9: 150_000_000_001n },
      { time: T + 40, usdE9: 149n * 10n ** 9n },
    ]
    await empty(store)
    await run(store, withPrices(chain, priceAt(prices)))
    const whole = await dump(store)
    let points = 0
    for (let n = 1; ; n += 1) {
      await empty(store)
      await run(store, chain, async (fold) => {
        await fold.stop()
      })
      await storeSolPriceFile(store, prices)
      const life = dyingStore(store, n)
      const slot = { ...chain, slots: [] }
      await run(life.store, slot, async (fold) => {
        await fillOnce(life.store, fold)
      }).catch(() => {})
      if (life.writes.length < n) break
      points = n
      await run(store, slot, async (fold) => {
        await fold.amend([], async () => {})
        await fillOnce(store, fold)
      })
      t.deepEqual(await dump(store), whole, `killed instead of write ${n}`)
    }
    t.log(`${points} points`)
    t.true(points > 5)
  },
)

test.serial(
  'a price is written once and replaces no other; all other columns stay (C1)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    const row = (slot: number, change: object) => ({
      slot,
      tx_index: 1,
      wallet: 2,
      event_index: 3,
      block_time: T,
      signature: `s${slot}`,
      side: 'buy',
      base_mint: 'm',
      base_amount: '7',
      quote_mint: USDC,
      quote_amount: '30000001',
      late: 'backfill',
      decoder_version: 9,
      version: '4',
      sol_price_usd_e9: null,
      is_deleted: 0,
      ...change,
    })
    await store.insert('swaps', [
      row(1, {}),
      row(2, { sol_price_usd_e9: '5' }),
      row(3, { is_deleted: 1 }),
      row(4, { quote_mint: WSOL, value_lamports: '30000001' }),
      row(5, { version: '3', is_deleted: 1 }),
      row(5, {}),
    ])
    const swap = (slot: number, quoteMint: typeof USDC) => ({
      slot,
      txIndex: 1,
      wallet: 2,
      eventIndex: 3,
      blockTime: T,
      quoteMint,
      quoteAmount: 30_000_001n,
      quoteMismatch: false,
      solPriceUsdE9: 149_999_999_999n,
    })
    const swaps = [swap(1, USDC), swap(2, USDC), swap(3, USDC), swap(4, WSOL), swap(5, USDC)]
    await writePrices(store, swaps)
    await writePrices(store, swaps)
    const newest = await store.query(
      `SELECT slot, signature, late, decoder_version, is_deleted, version, sol_price_usd_e9, value_lamports
     FROM (SELECT * FROM swaps ORDER BY slot, version DESC LIMIT 1 BY slot)`,
    )
    const stays = (slot: number) => ({
      slot: `${slot}`,
      signature: `s${slot}`,
      late: 'backfill',
      decoder_version: 9,
    })
    const priced = { is_deleted: 0, version: '5', sol_price_usd_e9: '149999999999' }
    t.deepEqual(newest, [
      { ...stays(1), ...priced, value_lamports: '200000006' },
      { ...stays(2), is_deleted: 0, version: '4', sol_price_usd_e9: '5', value_lamports: null },
      { ...stays(3), is_deleted: 1, version: '4', sol_price_usd_e9: null, value_lamports: null },
      { ...stays(4), ...priced, value_lamports: '30000001' },
      { ...stays(5), ...priced, value_lamports: '200000006' },
    ])
  },
)

test.serial(
  'a time has no price until storage holds a later final slot: the stream may bring a nearer price, or withdraw this one (C1, K9)',
  async (t) => {
    const { store } = testStore
    await empty(store)
    await storeSolPriceFile(store, [{ time: T, usdE9: 150n }])
    const at = async (slot: number, blockTime: number, finalized: number | null) => {
      const marker = { ...aMarker(slot), blockTime, finalized }
      await insertSealedSlots(store, [marker])
      const position = { marker, highest: slot, logId: 'a log', nextOffset: 1n, logTime: 0 }
      await store.insert('progress', [
        progressRow('fold', 0, 1, { ...position, fence: 0, generation: 0 }),
      ])
    }
    const read = () => readSettledSolPrices(store, [T - 1, T + 5, T + 20, T + 20], MAX_AGE)
    const known = (...times: number[]) => new Map(times.map((time) => [time, 150n]))
    // Before the first slot is stored, the stream brings no price.
    t.deepEqual(await read(), { prices: known(T + 5, T + 20), isAhead: false })
    await at(1, T + 6, null)
    t.deepEqual(await read(), { prices: known(), isAhead: true })
    await at(2, T + 20, 1)
    t.deepEqual(await read(), { prices: known(T + 5), isAhead: true })
    await at(4, T + 21, 2)
    t.deepEqual(await read(), { prices: known(T + 5), isAhead: true })
    // Slot 5 is final and was not sealed: those before it are final too.
    await at(6, T + 23, 5)
    t.deepEqual(await read(), { prices: known(T + 5, T + 20), isAhead: false })
  },
)
