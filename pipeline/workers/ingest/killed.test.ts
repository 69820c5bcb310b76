import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { type Simulator, startSimulator } from '../../../infra/simulator/simulator.ts'
import { ServiceError } from '../../domain/service-error.ts'
import { readSolPrice } from '../../ingest/pools/whirlpool-account.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import type { Row, Store } from '../../store/store.ts'
import { readPoolPrices, readStoredPrices } from '../../store/tables/sol-prices.ts'
import { addTrackedWallets } from '../../store/tables/tracked-wallets.ts'
import { slowPrices } from '../../testing/slow-events.ts'
import { PRICE_MAX_AGE_SECONDS, startTestIngest } from '../../testing/start-test-ingest.ts'
import { TABLE_KEYS } from '../../testing/table-keys.ts'
import { openTestStore, type TestStore } from '../../testing/test-store.ts'
import { startFold } from '../fold/fold.ts'
import { readResumePoint } from './resume-point.ts'

const START = 405_000_000
const logger = createLogger('silent')

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())

/** A store of a process that is killed before it stores `progress` of a slot. */
function storeUntil(store: Store, slot: number) {
  let isDead = false
  let die: () => void = () => {}
  const death = new Promise<void>((resolve) => {
    die = resolve
  })
  const alive = () => {
    if (isDead) throw new ServiceError('closed', 'killed')
  }
  const dying: Store = {
    ...store,
    async query(...args: Parameters<Store['query']>) {
      alive()
      return store.query(...args)
    },
    async insert(table, rows, options) {
      if (table === 'progress' && rows.some((row: Row) => Number(row.slot) >= slot)) {
        isDead = true
        die()
      }
      alive()
      await store.insert(table, rows, options)
    },
    async command(...args: Parameters<Store['command']>) {
      alive()
      await store.command(...args)
    },
  } as Store // `query` is generic
  return { dying, death }
}

/** Ingest and fold in one process, with a log in memory. */
async function startProcess(simulator: Simulator, store: Store) {
  const registry = createRegistry()
  const log = createMemoryLog({ logger, registry }, { partitions: 2, retryDelayMs: 1 })
  const fold = await startFold({ store, log, logger, registry, onBug: () => {} })
  const ingest = await startTestIngest(simulator, log, {
    resumePoint: () => readResumePoint({ log, store, logger }),
    storedPrices: () => readStoredPrices(store, 7200),
    limits: { recheckSlots: 0, backoffMs: 5, finalityPatienceMs: 50 },
  })
  return { log, fold, ingest }
}

async function empty(store: Store): Promise<void> {
  for (const table of [...Object.keys(TABLE_KEYS), 'progress', 'sealed_slots', 'withdrawn_slots'])
    await store.command(`TRUNCATE TABLE ${table}`)
  await store.command('TRUNCATE TABLE fold_snapshots')
}

async function finalizedSlot(store: Store): Promise<number> {
  const [row] = await store.query<{ newest: string }>(
    'SELECT max(finalized) AS newest FROM sealed_slots WHERE slot <= (SELECT max(slot) FROM progress)',
  )
  return Number(row?.newest ?? 0)
}

/** Prices of the pool in the blocks of the finalized chain, by second. */
function truePrices(simulator: Simulator, last: number): ReadonlySet<string> {
  const prices = new Set<string>()
  for (let slot = START; slot <= last; slot += 1) {
    if (simulator.shape.kind(slot) !== 'produced') continue
    const { time, accounts } = simulator.market.block(slot)
    for (const { account } of accounts) {
      const usdE9 = account === undefined ? null : readSolPrice(account.data)
      if (usdE9 !== null) prices.add(`${time}/${usdE9}`)
    }
  }
  return prices
}

/** A slot whose confirmed block is replaced, and one whose block vanishes. */
function forkedSlots(simulator: Simulator): number[] {
  const slots = new Map<string, number>()
  for (let slot = START + 40; slots.size < 2; slot += 1) {
    const kind = simulator.shape.kind(slot)
    if (simulator.forkAt(slot) !== null && !slots.has(kind)) slots.set(kind, slot)
  }
  return [...slots.values()]
}

test('killed before what it stored of a block counts, which never becomes final, a process leaves no price of it behind (rule K9)', async (t) => {
  const { store } = opened
  const options = {
    wallets: 10,
    coins: 30,
    trackedPerSlot: 3,
    othersPerSlot: 1,
    replaySlots: 20,
    trouble: { replacedBlocks: true, vanishedBlocks: true, skippedSlots: true },
  } as const
  const clock = { kind: 'manual', startSlot: START } as const
  const planned = await startSimulator({ ...options, clock })
  const slots = forkedSlots(planned)
  await planned.close()
  for (const slot of slots) {
    await empty(store)
    const simulator = await startSimulator({ ...options, clock })
    await addTrackedWallets(store, simulator.wallets, [], 1)
    await addTrackedWallets(store, simulator.wallets, simulator.wallets, 2)
    const { dying, death } = storeUntil(store, slot)
    const first = await startProcess(simulator, dying)
    let isKilled = false
    void death.then(() => {
      isKilled = true
    })
    while (!isKilled) {
      simulator.advance(1)
      await pause(10)
    }
    await first.log.close()
    await first.ingest.stop().catch(() => {})
    await first.fold.stop(0).catch(() => {})
    // Meanwhile the other block became final, and is beyond what the stream replays.
    simulator.advance(60)
    const second = await startProcess(simulator, store)
    while ((await finalizedSlot(store)) < slot + 60) {
      simulator.advance(1)
      await pause(10)
    }
    await second.ingest.stop()
    await second.fold.stop()
    await second.log.close()

    const right = truePrices(simulator, simulator.slot)
    const prices = await readPoolPrices(store, 10_000)
    t.true(prices.length > 10)
    t.deepEqual(
      prices.filter(
        ({ time, usdE9 }) =>
          !right.has(`${time}/${usdE9}`) && time < Number(simulator.market.timeOf(slot + 50)),
      ),
      [],
      `killed at slot ${slot - START}`,
    )
    const byTime = new Map(prices.map(({ time, usdE9 }) => [time, usdE9]))
    const swaps = await store.query<{ slot: string; time: number; price: string | null }>(
      'SELECT slot, block_time AS time, sol_price_usd_e9 AS price FROM swaps FINAL WHERE quote_mint IS NOT NULL AND slot <= {last:UInt64}',
      { last: slot + 50 },
    )
    t.true(swaps.length > 10)
    t.deepEqual(
      swaps.filter(({ time, price }) => {
        const allowed = slowPrices(byTime, time, PRICE_MAX_AGE_SECONDS).map(String)
        return price !== null && !allowed.includes(price)
      }),
      [],
      `killed at slot ${slot - START}`,
    )
    await simulator.close()
  }
})
