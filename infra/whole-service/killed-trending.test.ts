import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createStore } from '../../pipeline/store/create-store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readPoolStates } from '../../pipeline/store/tables/pool-states.ts'
import { readNewestTick, readStorageMarker } from '../../pipeline/store/tables/progress.ts'
import { slowWatchlist } from '../../pipeline/testing/slow-watchlist.ts'
import { readWatchlistInputs } from '../../pipeline/testing/watchlist-inputs.ts'
import { parseStrategies } from '../../pipeline/trending/strategies-file.ts'
import { SignalDetector } from '../../pipeline/trending/strategy-signal.ts'
import { TICK_SECONDS } from '../../pipeline/trending/watched-token.ts'
import { readChanges } from '../../pipeline/workers/trending/trending-rows.ts'
import { replayTicks } from '../../pipeline/workers/trending/trending-ticks.ts'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { until } from './customer.ts'
import { deploy, WHY_NO_SERVERS } from './deployment.ts'
import { logged, type ServiceProcess } from './service-process.ts'

/*
 * Kills (-9) the one of two `workers` processes that computes the watchlist. The rows written
 * before and after are compared with the plain rule over everything stored (rules G1 to G5).
 */

const START = 405_000_000
/**
 * One coin of each followed program. All are traded before the first tick, so that later ticks have
 * their facts.
 */
const COINS = 6
/** Ticks that pass before the other process computes. */
const MISSED = 3
const EVER = 2 ** 32 - 1
const CONFIG = { salt: null, solPriceMaxAgeSeconds: 3600 }
const STRATEGIES = `{ "strategies": [
  { "name": "held", "description": "Somebody holds it.", "conditions": [{ "field": "wallets_holding", "op": ">=", "value": 1 }] },
  { "name": "held_by_four", "description": "Four hold it.", "conditions": [{ "field": "wallets_holding", "op": ">=", "value": 4 }] }
] }`

const withServers = WHY_NO_SERVERS === '' ? test.serial : test.skip
const title =
  'when the process that computes the watchlist is killed, the other one goes on: each tick and each signal is there once, as one run over history has them (rules G1, G5)'

withServers(WHY_NO_SERVERS === '' ? title : `${title} (skipped: ${WHY_NO_SERVERS})`, async (t) => {
  const { store, workers, ticks: chain } = await start(t)
  await chain.passUntilPoolsAreKnown()
  const [computing, other] = workers.toSorted((a, b) => openedAt(b) - openedAt(a))
  await computing?.kill()
  const killedAt = (await readNewestTick(store)) ?? 0
  const before = await readPoolStates(store, null, 0, EVER)
  await chain.pass(MISSED)
  await chain.passUntilPoolsAreKnown()
  t.true(openedAt(other) > 0)

  // Stored pool facts stay; the in-memory ones end with the first tick.
  t.deepEqual(await readPoolStates(store, null, 0, killedAt), before)
  const next = killedAt + TICK_SECONDS
  const newest = [...new Map(before.map((state) => [state.mint, state])).values()]
  const known = newest.filter(({ pool }) => pool !== '').map(({ mint }) => mint)
  t.deepEqual(
    await readPoolStates(store, null, killedAt, next),
    known.sort().map((mint) => ({
      at: next,
      mint,
      pool: '',
      quoteMint: '',
      quoteReserve: 0n,
      price: { quote: 0n, base: 0n },
    })),
  )

  const changes = await readChanges(store, 0, EVER)
  const ticks = [...new Set(changes.map(({ token }) => token.at))]
  const from = ticks[0] ?? 0
  const through = (await readNewestTick(store)) ?? 0
  t.log(`${changes.length} rows of ${ticks.length} ticks; ${known.length} pools were known`)
  const passed = Array.from({ length: (through - from) / TICK_SECONDS + 1 }, (_, n) => n)
  t.deepEqual(
    ticks,
    passed.map((n) => from + n * TICK_SECONDS),
  )
  t.deepEqual(
    changes.map(({ event, token }) => ({ event, token })),
    slowWatchlist(await readWatchlistInputs(store, CONFIG.solPriceMaxAgeSeconds), {
      from,
      through,
    }),
  )
  const [written] = await store.query('SELECT toUInt32(count()) AS rows FROM watchlist')
  t.deepEqual(written, { rows: changes.length })
  const fired = await store.query(
    'SELECT fired_at, strategy, mint, entry FROM signals ORDER BY fired_at, mint, strategy',
  )
  t.deepEqual(fired, await firedInOneRun(store, { from, through }))
})

/**
 * A chain with a manual clock, and over it ingest and two processes that share the partitions of
 * the fold.
 */
async function start(t: ExecutionContext) {
  const simulator = await startSimulator({
    seed: 5,
    wallets: 10,
    coins: COINS,
    trackedPerSlot: 4,
    othersPerSlot: 1,
    clock: { kind: 'manual', startSlot: START },
  })
  const folder = mkdtempSync(join(tmpdir(), 'killed-trending-'))
  const STRATEGIES_FILE = join(folder, 'strategies.json')
  writeFileSync(STRATEGIES_FILE, STRATEGIES)
  const deployment = await deploy('servers', simulator.wallets, {
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    SOL_PRICE_POOL: simulator.solPricePool,
    STRATEGIES_FILE,
  })
  const url = new URL(deployment.env.CLICKHOUSE_URL ?? '')
  const store = await createStore({ kind: 'clickhouse', url })
  t.teardown(async () => {
    await store.close()
    await deployment.remove()
    await simulator.close()
    rmSync(folder, { recursive: true })
  })
  const workers = [deployment.start('workers'), deployment.start('workers')]
  for (const worker of workers) await logged(worker, 'service started')
  // Ingest starts once both workers have their partitions. Before that, no tick can be computed.
  deployment.start('ingest')
  const ticks = new Ticks(simulator, store)
  await ticks.passSlots(1)
  return { store, workers, ticks }
}

/** The ticks of a chain with a manual clock. */
class Ticks {
  readonly #simulator: Simulator
  readonly #store: Store
  #tick: number

  constructor(simulator: Simulator, store: Store) {
    this.#simulator = simulator
    this.#store = store
    const time = simulator.market.timeOf(START)
    this.#tick = time - (time % TICK_SECONDS)
  }

  async passSlots(count: number): Promise<void> {
    const simulator = this.#simulator
    simulator.advance(count)
    await until(
      async () => {
        const marker = await readStorageMarker(this.#store)
        if (marker === null && simulator.followers > 0) simulator.advance(1)
        return marker?.slot ?? 0
      },
      (slot) => slot >= simulator.confirmedSlot,
    )
  }

  /**
   * Lets ticks pass. The last one waits until the facts of all traded mints are stored: its rows
   * must have them.
   */
  async pass(count: number): Promise<void> {
    this.#tick += count * TICK_SECONDS
    const { confirmedSlot, market } = this.#simulator
    let slots = 0
    while (market.timeOf(confirmedSlot + slots + 1) <= this.#tick) slots += 1
    await this.passSlots(slots)
    await this.#isComputed(this.#tick - TICK_SECONDS)
    await until(
      () => this.#store.query('SELECT mint FROM mints FINAL'),
      (mints) => mints.length === COINS,
    )
    await this.passSlots(1)
    await this.#isComputed(this.#tick)
  }

  /** Lets ticks pass until one has pools, and one more. */
  async passUntilPoolsAreKnown(): Promise<void> {
    const since = this.#tick
    await until(
      async () => {
        await this.pass(1)
        return this.#store.query<{ mint: string }>(
          'SELECT DISTINCT mint FROM pool_states WHERE at > {since:UInt32} AND notEmpty(pool)',
          { since },
        )
      },
      (pools) => pools.length >= 3,
    )
    await this.pass(1)
  }

  async #isComputed(at: number): Promise<void> {
    await until(
      () => readNewestTick(this.#store),
      (newest) => newest === at,
    )
  }
}

/** When a process last began to compute the watchlist, by its log; 0: never. */
function openedAt(worker: ServiceProcess | undefined): number {
  const lines = worker?.stderr().split('\n') ?? []
  const line = lines.findLast((text) => text.includes('trending engine opened'))
  return line === undefined ? 0 : (JSON.parse(line) as { time: number }).time // pino's
}

/** The signals that the strategies give in one run over the stored data. */
async function firedInOneRun(store: Store, range: { from: number; through: number }) {
  const strategies = parseStrategies(STRATEGIES, 'strategies.json')
  const firings = new SignalDetector()
  const rows = []
  for await (const tick of replayTicks(store, CONFIG, range)) {
    const signals = firings.detect(strategies, tick)
    for (const { firedAt, strategy, mint, entry } of signals)
      rows.push({ fired_at: firedAt, strategy, mint, entry })
    firings.add(signals)
    firings.forget(tick.left)
  }
  return rows
}
