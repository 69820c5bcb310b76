import test from 'ava'
import { createWatchlistReader } from '../../../api/rows/watchlist-reader.ts'
import { fillWithHistory } from '../../../infra/simulator/fill-store.ts'
import { WSOL } from '../../domain/quote.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Row, Store } from '../../store/store.ts'
import { readPoolStates } from '../../store/tables/pool-states.ts'
import { readWatchlist } from '../../store/tables/watchlist.ts'
import { slowWatchlist } from '../../testing/slow-watchlist.ts'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { readWatchlistInputs } from '../../testing/watchlist-inputs.ts'
import type { WatchedToken } from '../../trending/watched-token.ts'
import { createTrendingMetrics } from '../telemetry.ts'
import type { PoolSource } from './pool-recorder.ts'
import { startTrending } from './trending.ts'
import { readChanges, readListedTokens } from './trending-rows.ts'
import { readStorageReach, replayTicks } from './trending-ticks.ts'

const CONFIG = { salt: null, solPriceMaxAgeSeconds: 3600 }
const logger = createLogger('silent')

let testStore: TestStore
test.before(async () => {
  testStore = await openTestStore()
  await migrate(testStore.store)
})
test.after.always(() => testStore.remove())

/**
 * Runs a worker until it has reached tick `until`, or dies at its insert number `killAt`, before or
 * after that insert. Returns which.
 */
async function run(
  store: Store,
  until: number,
  kill: { readonly at: number; readonly isDone: boolean } | null = null,
): Promise<'reached' | 'killed'> {
  let inserts = 0
  let tell: (end: 'reached' | 'killed') => void = () => {}
  const ended = new Promise<'reached' | 'killed'>((resolve) => {
    tell = resolve
  })
  let bug: unknown
  const mortal: Store = {
    ...store,
    async insert(table, rows, options) {
      inserts += 1
      const dies = inserts === kill?.at
      if (!dies || kill?.isDone) await store.insert(table, rows, options)
      if (dies) {
        tell('killed')
        throw new ServiceError('closed', 'killed')
      }
      if (table === 'progress' && rows.some((row: Row) => row.block_time === until)) tell('reached')
    },
  }
  const trending = startTrending(
    {
      store: mortal,
      logger,
      metrics: createTrendingMetrics(createRegistry()),
      isMine: () => true,
      onBug: (error) => {
        bug = error
        tell('killed')
      },
      // Storage has no later rows.
      sleep: (_ms, signal) =>
        new Promise((resolve) => {
          if (signal.aborted) resolve()
          signal.addEventListener('abort', () => resolve())
        }),
    },
    CONFIG,
  )
  const end = await ended
  await trending.stop()
  if (bug !== undefined) throw bug
  return end
}

/** Moves the storage marker past a tick. */
async function passTick(store: Store, tick: number): Promise<void> {
  const reach = await readStorageReach(store, null)
  const [stands] = await store.query<{ partitions: number }>(
    "SELECT max(partitions) AS partitions FROM progress WHERE worker = 'fold'",
  )
  await store.insert(
    'progress',
    Array.from({ length: stands?.partitions ?? 0 }, (_, partition) => ({
      worker: 'fold',
      partition,
      partitions: stands?.partitions,
      slot: (reach?.slot ?? 0) + 1000,
      parent: 0,
      block_time: tick + 1,
    })),
  )
}

/**
 * Starts a worker that runs one round of its loop on request, and records its ticks. `mine` may
 * change at any time.
 */
function startByTurns(
  store: Store,
  onTick: () => void = () => {},
  pools: PoolSource | null = null,
) {
  const process = { mine: true, ticks: [] as number[] }
  let wake: () => void = () => {}
  let tellAsleep: () => void = () => {}
  let asleep = new Promise<void>((resolve) => {
    tellAsleep = resolve
  })
  const trending = startTrending(
    {
      store,
      logger,
      metrics: createTrendingMetrics(createRegistry()),
      pools,
      isMine: () => process.mine,
      async onTick({ at }) {
        process.ticks.push(at)
        onTick()
      },
      onBug: (error) => {
        throw error
      },
      sleep: (_ms, signal) =>
        new Promise((resolve) => {
          wake = resolve
          signal.addEventListener('abort', () => resolve())
          tellAsleep()
        }),
    },
    CONFIG,
  )
  return Object.assign(process, {
    started: asleep,
    async turn() {
      await asleep
      asleep = new Promise((resolve) => {
        tellAsleep = resolve
      })
      wake()
      await asleep
    },
    stop: () => trending.stop(),
  })
}

const byMint = <T extends { readonly mint: string }>(tokens: readonly T[]) =>
  tokens.toSorted((a, b) => (a.mint < b.mint ? -1 : 1))

test.serial(
  'over a simulated day the rows match a plain implementation of the rules, whenever the worker is killed',
  async (t) => {
    const { store } = testStore
    const { lastTime } = await fillWithHistory(store, { hours: 26 })
    const reach = await readStorageReach(store, null)
    const through = reach?.tick ?? 0
    t.true(through < lastTime && lastTime - through <= 70)
    const from = through - 86_400
    let kills = 0
    const next = () => ({ at: 1 + (kills % 3), isDone: kills % 2 === 1 })
    while ((await run(store, through, next())) === 'killed') kills += 1
    t.true(kills >= 5)
    const changes = await readChanges(store, 0, 2 ** 32 - 1)
    const stored = await readWatchlistInputs(store, CONFIG.solPriceMaxAgeSeconds)
    const expected = slowWatchlist(stored, { from, through, onlyWhenDue: true })
    t.deepEqual(
      changes.map(({ event, token }) => ({ event, token })),
      expected,
    )
    t.log(`killed ${kills} times; ${changes.length} rows, no difference`)
    t.true(new Set(changes.map(({ token }) => token.mint)).size > 20)
    // A run over the same history without writing gives the same rows, and holdings match the books
    // of the wallets.
    const replayed = []
    for await (const tick of replayTicks(store, CONFIG, { from, through }))
      for (const change of tick.changes) replayed.push(change)
    t.deepEqual(replayed, changes)
    const listed = await readListedTokens(store, through)
    const books = await store.query<{ mint: string; wallet: number; cost: string }>(
      `SELECT mint, wallet, toString(sum(cost)) AS cost FROM (
       SELECT mint, wallet, toInt256(cost_lamports) AS cost FROM lots FINAL WHERE block_time <= {at:UInt32}
       UNION ALL SELECT mint, wallet, -toInt256(cost_lamports) FROM disposals FINAL WHERE block_time <= {at:UInt32})
     GROUP BY mint, wallet`,
      { at: through },
    )
    for (const { mint, wallets, heldLamports } of listed)
      t.is(
        books
          .filter((row) => row.mint === mint && wallets.includes(row.wallet))
          .reduce((sum, { cost }) => sum + BigInt(cost), 0n),
        heldLamports,
      )
    // The list that the API updates from tick to tick equals the list as read from storage.
    const read = createWatchlistReader(store, () => 0)
    t.deepEqual(await read(), { at: through, rows: await readWatchlist(store, through) })
    t.deepEqual(byMint(listed).length, (await read()).rows.length)
  },
)

test.serial(
  'a change of the past shows from the next tick on, and a stored listing keeps its time of entry',
  async (t) => {
    const { store } = testStore
    const before = await readStorageReach(store, null)
    const listed = await readListedTokens(store, before?.tick ?? 0)
    const [token] = listed.filter(({ walletsHolding }) => walletsHolding > 1)
    const wallet = token?.wallets[0] ?? 0
    t.truthy(token)
    // Its first holder never bought it: a redecode deleted the swaps, and the wallet was refolded.
    await store.command(
      `INSERT INTO swaps SELECT * EXCEPT (version, is_deleted), 1 AS version, 1 AS is_deleted FROM swaps FINAL
     WHERE wallet = {wallet:UInt32} AND base_mint = {mint:String}`,
      { wallet, mint: token?.mint },
    )
    await store.insert('fold_snapshots', [
      { wallet, revision: 1000, slot: 0, format: 1, state: '', version: 1000n * 2n ** 32n },
    ])
    const until = (before?.tick ?? 0) + 60
    await passTick(store, until)
    t.is(await run(store, until), 'reached')
    const after = await readListedTokens(store, until)
    const anew = slowWatchlist(await readWatchlistInputs(store, CONFIG.solPriceMaxAgeSeconds), {
      from: until,
      through: until,
      onlyWhenDue: true,
    })
    const apart = (tokens: readonly WatchedToken[]) =>
      byMint(tokens).map((one) => ({ ...one, at: 0, enteredAt: 0 }))
    t.deepEqual(apart(after), apart(anew.map((change) => change.token)))
    const entries = new Map(listed.map(({ mint, enteredAt }) => [mint, enteredAt]))
    for (const { mint, enteredAt } of after) t.is(enteredAt, entries.get(mint) ?? enteredAt)
  },
)

test.serial(
  'two processes resume from what the other wrote, and one that loses its partition stops after a range of ticks',
  async (t) => {
    const { store } = testStore
    const first = (await readStorageReach(store, null))?.tick ?? 0
    const after = (ticks: readonly number[]) => ticks.map((at) => at - first)
    const one = startByTurns(store, () => {
      // Partitions move while the worker catches up.
      if (one.ticks.length === 5) one.mine = false
    })
    await one.started
    await passTick(store, first + 20)
    await one.turn()
    t.deepEqual(after(one.ticks), [10, 20])
    await passTick(store, first + 40)
    const other = startByTurns(store)
    await other.started
    t.deepEqual(after(other.ticks), [30, 40])
    await passTick(store, first + 60)
    await one.turn()
    t.deepEqual(after(one.ticks), [10, 20, 50, 60])
    await passTick(store, first + 30_000)
    const before = one.ticks.length
    await one.turn()
    t.is(one.ticks.length, before + 2160)
    await other.turn()
    t.deepEqual(after(other.ticks.slice(2, 3)), [60 + 21_610])
    t.is(other.ticks.at(-1), first + 30_000)
    await one.stop()
    await other.stop()
  },
)

test.serial(
  'pool states of a process end with the first tick of a process that follows no pools, also those of a tick that it did not finish',
  async (t) => {
    const { store } = testStore
    const first = (await readStorageReach(store, null))?.tick ?? 0
    let watched: readonly { readonly mint: string; readonly pool: string }[] = []
    const known = new Set<string>()
    const state = { slot: 1, quoteMint: WSOL, quoteReserve: 5n, price: { quote: 1n, base: 2n } }
    let kill: (() => void) | null = null
    const mortal: Store = {
      ...store,
      async insert(table, rows, options) {
        if (table !== 'progress' || kill === null) return store.insert(table, rows, options)
        kill()
        throw new ServiceError('closed', 'killed')
      },
    }
    const follows = startByTurns(mortal, undefined, {
      watch(pools) {
        watched = pools
      },
      newest(mint) {
        const pool = known.has(mint) && watched.find((one) => one.mint === mint)?.pool
        return pool ? { mint, pool, ...state } : undefined
      },
    })
    await follows.started
    const [a, b] = byMint(watched)
    if (a === undefined || b === undefined) return t.fail()
    const written = async () =>
      (await readPoolStates(store, null, first, first + 30)).map(({ at, mint, pool }) => ({
        after: at - first,
        mint,
        pool,
      }))
    known.add(a.mint)
    await passTick(store, first + 10)
    await follows.turn()
    t.deepEqual(await written(), [{ after: 10, ...a }])
    known.add(b.mint)
    await passTick(store, first + 20)
    await new Promise<void>((resolve) => {
      kill = resolve
      void follows.turn()
    })
    t.deepEqual(await written(), [
      { after: 10, ...a },
      { after: 20, ...b },
    ])
    const followsNone = startByTurns(store)
    await followsNone.started
    t.deepEqual(await written(), [
      { after: 10, ...a },
      { after: 20, ...a, pool: '' },
      { after: 20, ...b, pool: '' },
    ])
    await follows.stop()
    await followsNone.stop()
  },
)
