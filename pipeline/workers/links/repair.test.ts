import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { compareWith, countStored, describeDifference } from '../../../infra/simulate/compare.ts'
import { FINALIZE_DELAY_SLOTS } from '../../../infra/simulator/grpc/slot-stream.ts'
import { startSimulator } from '../../../infra/simulator/simulator.ts'
import { REGISTRY } from '../../decode/registry.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import { createIngestMetrics } from '../../ingest/telemetry.ts'
import type { LogRecord } from '../../log/log.ts'
import { createMemoryLog } from '../../log/memory.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { migrate } from '../../store/migrate.ts'
import { readSnapshotSlots } from '../../store/tables/balance-snapshots.ts'
import { readBreaks } from '../../store/tables/chain-breaks.ts'
import { aMarker } from '../../testing/a-marker.ts'
import { slowTables } from '../../testing/slow-tables.ts'
import { emptyTables, openTestStore, type TestStore } from '../../testing/test-store.ts'
import { startFold } from '../fold/fold.ts'
import { trackWallets } from '../ingest/track-wallets.ts'
import { startLinkCheck } from './check-links.ts'
import { reconcileWallet } from './reconcile.ts'
import { startBreakRepairs } from './repair-breaks.ts'
import { startSnapshots } from './snapshots.ts'

/*
 * A chain of which the stream leaves transactions out, without any other sign of it.
 */

const START = 405_000_000
const SLOTS = 240
const WALLETS = 10
/** The clock of check and repair runs this much faster than that of the machine. */
const SPEED = 10
const logger = createLogger('silent')

let opened: TestStore
test.before(async () => {
  opened = await openTestStore()
  await migrate(opened.store)
})
test.after.always(() => opened.remove())
test.beforeEach(async () => {
  const { store } = opened
  await emptyTables(store)
})

type IsLeftOut = (record: WalletRecord, at: number) => boolean

/**
 * Follows a market from its start and leaves out the transactions with a record that `isLeftOut`.
 * Returns what the tables have and should have, once no break is open.
 */
async function follow(isLeftOut: IsLeftOut, callsPerHour = 1_000_000) {
  const { store } = opened
  const market = { wallets: WALLETS, coins: 30, trackedPerSlot: 3, othersPerSlot: 0 }
  const clock = { kind: 'manual', startSlot: START } as const
  const simulator = await startSimulator({ ...market, clock, historySlots: 400 })
  await trackWallets(store, simulator.wallets, 'the simulator')
  const began = Date.now()
  const now = () => began + (Date.now() - began) * SPEED
  const registry = createRegistry()
  const log = createMemoryLog({ logger, registry })
  const bugs: unknown[] = []
  const deps = { store, log, logger, registry, now, onBug: (bug: unknown) => bugs.push(bug) }
  const origins = new Map<string, number>()
  await log.consume({ mode: 'follow', sinceMs: 0 }, async ({ records }) => {
    for (const entry of records) countOrigin(origins, entry)
  })
  let check: ReturnType<typeof startLinkCheck> | undefined
  const fold = await startFold({ ...deps, onStored: (stored) => check?.note(stored) })
  check = startLinkCheck({ ...deps, fold, everyMs: 100 })
  const metrics = createIngestMetrics(registry)
  const rpc = createRpc({ url: simulator.rpcUrl, metrics })
  const newest = () => status
  const repairable = () => simulator.finalizedSlot
  let status = { slot: START, blockTime: simulator.market.timeOf(START) }
  simulator.advance(FINALIZE_DELAY_SLOTS + 2) // snapshots are of a finalized slot
  const snapshots = startSnapshots({ ...deps, rpc, newest, everyMs: 100 })
  while ((await readSnapshotSlots(store, null)).size < WALLETS && bugs.length === 0) await pause(10)
  const first = Math.max(...(await readSnapshotSlots(store, null)).values()) + 1
  const limits = {
    programs: REGISTRY,
    callsPerHour,
    refusalMs: 60_000,
    priceMaxAgeSeconds: 3600,
    feedSeconds: 86_400,
  }
  const repairs = startBreakRepairs({
    ...deps,
    ...limits,
    metrics,
    newest,
    repairable,
    everyMs: 100,
    rpcUrl: simulator.rpcUrl,
  })
  const truth: WalletRecord[] = []
  let leftOut = 0
  simulator.advance(SLOTS)
  const { slot: end } = await rpc.getHoldings(simulator.wallets[0]!, { commitment: 'finalized' })
  for (let slot = first; slot <= end; slot += 1) {
    const { records } = simulator.truth(slot)
    const missing = new Set(
      records.filter((record) => isLeftOut(record, slot - first)).map(({ txIndex }) => txIndex),
    )
    leftOut += missing.size
    truth.push(...records)
    status = { slot, blockTime: simulator.market.timeOf(slot) }
    await log.appendSlot({
      marker: { ...aMarker(slot), ...status },
      records: records.filter(({ txIndex }) => !missing.has(txIndex)),
    })
  }
  const stored = async () => {
    while ((fold.status().slot ?? 0) < status.slot && bugs.length === 0) await pause(5)
  }
  await stored()
  return {
    /** Compares every wallet with the chain, as of the last slot. */
    reconcile: () =>
      Promise.all(
        simulator.wallets.map((address, at) =>
          reconcileWallet(at + 1, address, {
            store,
            rpc,
            stop: new AbortController().signal,
          }),
        ),
      ),
    truth,
    leftOut,
    origins,
    registry,
    /** Waits until everything that the market did is stored and no break is open. */
    async healed() {
      for (; bugs.length === 0; await pause(200)) {
        const { records } = await countStored((sql) => store.query(sql))
        const isHealed = records === truth.length
        if (isHealed && (await states()).open === undefined) return
      }
    },
    async stop() {
      await repairs.stop()
      await snapshots.stop()
      await check?.stop()
      await fold.stop()
      await log.close()
      await simulator.close()
      if (bugs.length > 0) throw bugs[0]
    },
  }
}

function countOrigin(origins: Map<string, number>, entry: LogRecord): void {
  if (entry.kind !== 'record' || !('eventIndex' in entry.record)) return
  const origin = entry.late ?? 'no'
  origins.set(origin, (origins.get(origin) ?? 0) + 1)
}

/** Differences between the stored tables and the truth. */
async function differences(truth: readonly WalletRecord[]) {
  const expected = slowTables({
    wallets: WALLETS,
    events: truth.filter((record) => 'eventIndex' in record),
    balances: truth.filter((record) => record.kind === 'balance'),
    links: truth.filter((record) => record.kind === 'token_link'),
  })
  const { differences } = await compareWith((sql) => opened.store.query(sql), expected)
  return differences.map(describeDifference)
}

const states = async () => {
  const found = await readBreaks(opened.store, ['open', 'unexplained', 'accepted', 'closed'])
  const counts: Record<string, number> = {}
  for (const { state } of found) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

test.serial('nothing is asked of RPC while nothing is left out (K8)', async (t) => {
  const run = await follow(() => false)
  await run.healed()
  t.is(
    (await run.registry.getSingleMetricAsString('repair_rpc_calls_total')).split(' ').at(-1),
    '0',
  )
  t.deepEqual(await states(), {})
  await run.stop()
  t.deepEqual(await differences(run.truth), [])
})

test.serial(
  'one of eleven transactions left out in the first half: all heal, marked late (K8, C16)',
  async (t) => {
    const run = await follow(
      ({ slot, txIndex }, at) => at < SLOTS / 2 && (slot * 7 + txIndex) % 11 === 0,
    )
    t.true(run.leftOut > 15)
    await run.healed()
    await run.stop()
    t.deepEqual(await differences(run.truth), [])
    const { unexplained = 0, open = 0, closed = 0 } = await states()
    t.deepEqual([open, unexplained], [0, 0])
    t.true(closed > 15)
    t.is(run.origins.get('backfill'), undefined)
    t.true((run.origins.get('stream') ?? 0) > 5)
  },
)

test.serial(
  'every transaction of a token account for a while heals by the account alone (K8)',
  async (t) => {
    let account: string | null = null
    const run = await follow((record, at) => {
      if (record.kind !== 'token_link' || at < 60 || at > 160) return false
      account ??= record.account
      return record.account === account
    })
    t.true(run.leftOut > 2)
    await run.healed()
    await run.stop()
    t.deepEqual(await differences(run.truth), [])
  },
)

test.serial('a budget of no calls leaves breaks open (K6, K8)', async (t) => {
  const run = await follow(
    ({ wallet, kind, slot }) => wallet === 1 && kind === 'swap' && slot % 9 === 0,
    0,
  )
  t.true(run.leftOut > 0)
  while ((await states()).open === undefined) await pause(50)
  t.is(
    (await run.registry.getSingleMetricAsString('repair_rpc_calls_total')).split(' ').at(-1),
    '0',
  )
  t.deepEqual(Object.keys(await states()), ['open'])
  await run.stop()
})

test.serial(
  'what was left out after the last link of an account is found by reconcile alone, and heals (K8)',
  async (t) => {
    const run = await follow(({ wallet }, at) => wallet === 3 && at >= 120)
    t.true(run.leftOut > 2)
    const differences_ = await run.reconcile()
    const causes = differences_.flatMap(({ wallet, differences }) =>
      differences.map(({ cause }) => ({ wallet, cause })),
    )
    t.true(causes.filter(({ wallet }) => wallet === 3).length > 0)
    t.deepEqual([...new Set(causes.map(({ cause }) => cause))], ['missing'])
    await run.healed()
    const again = await run.reconcile()
    t.deepEqual(
      again.flatMap(({ differences }) => differences),
      [],
    )
    t.true(again.every(({ isOpened, accounts }) => isOpened && accounts > 1))
    await run.stop()
    t.deepEqual(await differences(run.truth), [])
    const verified = await opened.store.query<{ wallets: number }>(
      'SELECT toUInt32(uniqExact(wallet)) AS wallets FROM wallet_verifications FINAL',
    )
    t.deepEqual(verified, [{ wallets: WALLETS }])
  },
)
