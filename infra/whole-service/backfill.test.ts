import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest, { type ExecutionContext } from 'ava'
import { createStore } from '../../pipeline/store/create-store.ts'
import { askOperator } from '../operator/socket.ts'
import { compareTables, describeDifference } from '../simulate/compare.ts'
import { TrueChain } from '../simulate/true-chain.ts'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { until } from './customer.ts'
import { type Deployment, deploy, WHY_NO_SERVERS } from './deployment.ts'
import { freePort } from './free-port.ts'
import { logged, type ServiceProcess, startOperator } from './service-process.ts'

/*
 * History comes over RPC beside live data and goes on after a kill -9 where it was; a wallet that
 * joins while the service runs gets its own (rules J3, J5, K2). At the end every table is what the
 * slow reference makes of the whole chain.
 */

const SEED = 5
const START = 405_000_000
/** Slots before the service's first. */
const HISTORY = 80
/** More wallets than are fetched concurrently, so that some backfills wait for others. */
const WALLETS = 10
/** Number of slots that pass after the wallet was added, before its history must be complete. */
const JOIN_SLOTS = 40
/** Time between two slots, each of which adds work; a slot is final 32 slots later. */
const TICK_MS = 200
const PATIENCE_MS = 150_000

interface Listed {
  readonly complete_since: number | null
  readonly gaps: readonly object[]
}

/**
 * A chain with a manual clock, and a service over it that follows all wallets but the last.
 */
async function start(t: ExecutionContext, kind: Deployment['kind']) {
  const simulator = await startSimulator({
    seed: SEED,
    wallets: WALLETS,
    coins: 40,
    trackedPerSlot: 4,
    othersPerSlot: 1,
    clock: { kind: 'manual', startSlot: START },
    firstSlot: START - HISTORY,
  })
  const folder = mkdtempSync(join(tmpdir(), 'backfill-'))
  const file = join(folder, 'wallets.txt')
  const write = (addresses: readonly string[]) =>
    writeFileSync(file, `# followed\n${addresses.join('\n')}\n`)
  write(simulator.wallets.slice(0, WALLETS - 1))
  const metricsPort = await freePort()
  const deployment = await deploy(kind, [], {
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    SOL_PRICE_POOL: simulator.solPricePool,
    WALLETS_FILE: file,
    // A repair fetches what a backfill has not stored yet, and would hide what it leaves out.
    REPAIR_RPC_CALLS_PER_HOUR: '0',
    ...(kind === 'embedded' && { METRICS_PORT: String(metricsPort) }),
  })
  // Backfills wait until their newest slot is final.
  const tick = () => setInterval(() => simulator.advance(1), TICK_MS)
  let ticking = tick()
  const url = deployment.env.CLICKHOUSE_URL
  const store = url ? await createStore({ kind: 'clickhouse', url: new URL(url) }) : null
  t.teardown(async () => {
    clearInterval(ticking)
    await store?.close()
    await deployment.remove()
    await simulator.close()
    rmSync(folder, { recursive: true })
  })
  async function query<T>(sql: string): Promise<T[]> {
    if (store !== null) return store.query<T>(sql)
    return ((await askOwner(deployment, 'sql', sql)) as { items: T[] }).items // rule J3
  }
  return {
    simulator,
    deployment,
    write,
    query,
    /** Number of transactions that the stored progress of backfills covers. */
    async safe(): Promise<number> {
      const [row] = await query<{ safe: string }>(
        'SELECT sum(transactions) AS safe FROM backfills FINAL',
      )
      return Number(row?.safe)
    },
    fetched: () => fetchedTransactions(metricsPort),
    async wallets(): Promise<readonly Listed[]> {
      const document =
        store === null
          ? await askOwner(deployment, 'wallets')
          : (await deployment.operator('wallets')).document
      return (document as { items: readonly Listed[] }).items // rule J3
    },
    stopClock: () => clearInterval(ticking),
    startClock(): void {
      ticking = tick()
    },
    advance: (slots: number) => advance(simulator, deployment, slots),
  }
}

/** The process that owns the data answers, without a process more for each question. */
async function askOwner({ env }: Deployment, ...args: string[]): Promise<unknown> {
  const reply = await askOperator(env.DATA_DIR ?? '', args, () => {})
  if (reply?.kind === 'done') return reply.outcome.document
  throw new Error(JSON.stringify(reply))
}

/** Transactions that the one process has fetched since its start. */
async function fetchedTransactions(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const counted = /_rpc_requests_total\{method="getTransaction",outcome="result"\} (\d+)/
  return Number(counted.exec(text)?.[1] ?? 0)
}

/** Advances the simulator until a slot is stored. The first slot waits for a subscriber. */
async function advance(simulator: Simulator, deployment: Deployment, slots: number): Promise<void> {
  simulator.advance(slots)
  const wanted = simulator.confirmedSlot
  const api = deployment.processes.get('api') ?? deployment.processes.get('all')
  const address = `${await api?.line('url')}/status`
  await until(
    async () => {
      const { storage } = (await (await fetch(address)).json()) as {
        storage: { slot: number | null }
      } // rule J4
      if (storage.slot === null && simulator.followers > 0) simulator.advance(1)
      return storage.slot ?? 0
    },
    (slot) => slot >= wanted,
    PATIENCE_MS,
  )
}

async function run(t: ExecutionContext, kind: Deployment['kind']): Promise<void> {
  const service = await start(t, kind)
  const { deployment, simulator } = service
  deployment.startAll()
  await service.advance(1)

  // The command, or the process that runs it, is killed after some pages are stored.
  const args = ['backfill', '--wallet', 'all']
  const cut = startOperator(deployment.env, args)
  await until(service.safe, (transactions) => transactions > 0, PATIENCE_MS)
  if (kind === 'embedded') {
    await deployment.processes.get('all')?.kill()
    t.is(await cut.ended, 1)
    t.is((JSON.parse(cut.stdout()) as { code: string }).code, 'unreachable')
    deployment.startAll()
    await service.advance(3)
  } else t.is(await cut.kill(), 'SIGKILL')
  const safe = await service.safe()
  const { code, document } = await deployment.operator(...args)
  t.is(code, 0, JSON.stringify(document))
  const summary = document as { wallets: number; transactions: number; missing: number }
  t.log(`${safe} of ${summary.transactions} transactions were safe when it was killed`)
  t.true(safe > 0 && safe < summary.transactions)
  t.deepEqual([summary.wallets, summary.missing], [WALLETS - 1, 0])
  if (kind === 'embedded') t.is(await service.fetched(), summary.transactions - safe)

  const ingest = deployment.processes.get('ingest') ?? deployment.processes.get('all')
  if (ingest === undefined) return t.fail()
  await refusesChangedLine(t, service, ingest)

  // Its history waits until the newest slot is final. Without slots it cannot be there already.
  service.stopClock()
  service.write(simulator.wallets)
  ingest.child.kill('SIGHUP')
  await logged(ingest, '"added":1', PATIENCE_MS)
  t.deepEqual(
    (await service.wallets()).map((item) => [item.complete_since !== null, item.gaps.length]),
    simulator.wallets.map((_, at) => (at + 1 < WALLETS ? [true, 0] : [false, 1])),
  )
  service.startClock()
  await service.advance(JOIN_SLOTS)
  const covered = await until(
    service.wallets,
    (items) => items.every(({ gaps }) => gaps.length === 0),
    PATIENCE_MS,
  )
  const firstTime = simulator.market.timeOf(START - HISTORY)
  t.deepEqual(
    covered.map((item) => item.complete_since),
    simulator.wallets.map(() => firstTime),
  )

  // Records on the log after the history are stored after it.
  service.stopClock()
  await service.advance(1)
  const chain = new TrueChain(simulator, START - HISTORY)
  chain.catchUp(WALLETS)
  const { differences, rows } = await compareTables(service.query, chain, WALLETS)
  t.deepEqual(differences.slice(0, 10).map(describeDifference), [])
  t.true((rows.swaps ?? 0) > 100)
}

/** A changed line is refused by its number, and nothing changes. */
async function refusesChangedLine(
  t: ExecutionContext,
  { simulator, write }: Awaited<ReturnType<typeof start>>,
  ingest: ServiceProcess,
): Promise<void> {
  const [first = '', second = '', third = '', ...others] = simulator.wallets
  write([first, third, second, ...others])
  ingest.child.kill('SIGHUP')
  t.regex(
    await logged(ingest, 'wallets not read again', PATIENCE_MS),
    /line 3 of .*W2 has another address/,
  )
  t.false(simulator.wallets.some((address) => ingest.stderr().includes(address)))
}

const TITLE =
  'a backfill goes on where it was after kill -9, and a wallet that joins on SIGHUP gets its history'
anyTest.serial(`embedded: ${TITLE}`, (t) => run(t, 'embedded'))
if (WHY_NO_SERVERS) {
  anyTest.serial.skip(`real servers: ${TITLE} (skipped: ${WHY_NO_SERVERS})`, () => {})
} else anyTest.serial(`real servers: ${TITLE}`, (t) => run(t, 'servers'))
