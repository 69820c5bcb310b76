import { setTimeout as pause } from 'node:timers/promises'
import { createStore } from '../../pipeline/store/create-store.ts'
import { startServers } from '../servers/servers.ts'
import { SLOT_MS } from '../simulator/market/market.ts'
import { ALL_TROUBLE, type Trouble } from '../simulator/options.ts'
import { createRandom } from '../simulator/random.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { type Deployment, deploy, emptyServers } from '../whole-service/deployment.ts'
import { Follower } from '../whole-service/follower.ts'
import { compareTables, type Difference } from './compare.ts'
import { Deployed } from './deployed.ts'
import { disorder } from './followed.ts'
import { freePort } from './free-port.ts'
import { createScript, type Part, tellStep } from './script.ts'
import { TrueChain } from './true-chain.ts'

export interface RunOptions {
  readonly seed: number
  /** Hours of the market. */
  readonly hours: number
  /** Folder of servers that the run may end and start (`infra/servers`); null: everything in one process. */
  readonly serversDir: string | null
  /** Told what happens. */
  readonly tell: (line: string) => void
}

export interface RunResult {
  readonly differences: readonly Difference[]
  /** What else was not as it should be. */
  readonly faults: readonly string[]
  readonly rows: Readonly<Record<string, number>>
}

/** The first slot with a block. */
const START_SLOT = 400_000_000
const REPLAY_SLOTS = 256
/** Slots without trouble at the beginning and at the end: what is late comes within 12. */
const CALM_SLOTS = 40
/** The clock waits when storage is so far behind. */
const MAX_BEHIND = 200
/** Nearer than this storage has caught up. */
const NEAR = 30
const WALLETS = 10
/** So long storage may stand still. */
const STILL_MS = 60_000

/**
 * Lets the market run for some hours while the script of the seed breaks the service, then lets everything settle, and compares every table with
 * what the slow reference makes of the true chain. What is done is a function of the seed; how it meets the work of the processes is not.
 */
export async function runSimulation(options: RunOptions): Promise<RunResult> {
  const { seed, hours, serversDir, tell } = options
  const slots = Math.round((hours * 3_600_000) / SLOT_MS)
  const trouble = troubleOf(seed)
  const beganAt = Date.now()
  const troubles = Object.entries(trouble).flatMap(([name, there]) => (there ? [name] : []))
  tell(`trouble: ${troubles.join(', ')}`)
  const simulator = await startSimulator({
    ...{ seed, trouble, wallets: WALLETS, coins: 40, trackedPerSlot: 3, othersPerSlot: 2 },
    clock: { kind: 'manual', startSlot: START_SLOT - 1 },
    firstSlot: START_SLOT,
    troubleSlots: { from: START_SLOT + CALM_SLOTS, to: START_SLOT + slots },
    replaySlots: REPLAY_SLOTS,
    historySlots: slots + 10_000,
  })
  const servers = serversDir === null ? null : await startServers(serversDir)
  const emptied = servers === null ? null : await emptyServers(servers)
  const deployment = await deploy('embedded', simulator.wallets, {
    ...emptied?.env,
    YELLOWSTONE_ENDPOINT: simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    SOL_PRICE_POOL: simulator.solPricePool,
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
  })
  const store =
    emptied === null
      ? null
      : await createStore({ kind: 'clickhouse', url: new URL(emptied.env.CLICKHOUSE_URL) })
  const parts: readonly Part[] = emptied === null ? ['all'] : ['api', 'workers', 'ingest']
  const deployed = new Deployed({
    ...{
      simulator,
      deployment,
      parts,
      serversDir,
      laterWallet: simulator.wallets[WALLETS - 1] ?? null,
    },
    query: store === null ? null : (sql) => store.query(sql),
  })
  const position = new Position(deployment)
  let follower: Follower | null = null
  try {
    for (const part of parts) deployment.start(part)
    await deployment.processes.get(parts[0] ?? 'all')?.line('url')
    const key = await deployed.createAccount(1_000_000_000)
    follower = new Follower(await deployment.customer(key))
    const clock = { simulator, deployed, position, tell }
    const chain = new TrueChain(simulator, seed, trouble, START_SLOT)
    await begin(clock)
    const place = () => `+${simulator.slot - START_SLOT}`.padEnd(7)
    const script = createScript({
      ...{ seed, slots, parts, replaySlots: REPLAY_SLOTS },
      servers: serversDir === null ? [] : ['kafka', 'clickhouse', 'redis'],
      commands: [['recompute', '--wallet', 'all']],
      longAbsence: false,
      addsWallet: false,
    })
    const random = createRandom(seed, 'moments')
    for (const step of script) {
      await runTo(clock, START_SLOT + step.at)
      if (step.caughtUp) await catchUp(clock)
      await pause(random.below(40))
      tell(`${place()} ${((Date.now() - beganAt) / 1000).toFixed(1)} s  ${tellStep(step)}`)
      await deployed.do(step)
    }
    await runTo(clock, START_SLOT + slots)
    await deployed.settle()
    await runTo(clock, START_SLOT + slots + CALM_SLOTS)
    tell(`${place()} ${((Date.now() - beganAt) / 1000).toFixed(1)} s  calm`)
    const faults = await settle(clock, chain)
    const { differences, rows } = await compareTables(deployed.query, chain, WALLETS)
    await follower.stop()
    faults.push(...disorder(follower, chain))
    faults.push(...(await deployed.stop()))
    return { differences, faults, rows }
  } finally {
    await follower?.stop()
    position.close()
    await store?.close()
    await deployment.remove().catch((error: unknown) => tell(String(error)))
    await simulator.close()
  }
}

/** What goes wrong on the stream and over RPC: nearly all of it nearly always. */
function troubleOf(seed: number): Trouble {
  const random = createRandom(seed, 'trouble of the run')
  return {
    ...ALL_TROUBLE,
    cuts: random.chance(0.5),
    lostReplay: random.chance(0.5),
    slowRpc: seed % 5 === 2,
    rateLimitedRpc: seed % 5 === 0,
  }
}

interface Clock {
  readonly simulator: Awaited<ReturnType<typeof startSimulator>>
  readonly deployed: Deployed
  readonly position: Position
  readonly tell: (line: string) => void
}

/** Lets the market begin when somebody follows it, and slots pass until the first is stored. */
async function begin({ simulator, position }: Clock): Promise<void> {
  const deadline = Date.now() + STILL_MS
  while (position.slot === null) {
    if (Date.now() > deadline) throw new Error('nothing is stored')
    if (simulator.followers > 0) simulator.advance(1)
    await pause(50)
  }
}

/** Lets slots pass as fast as the service takes them; while something is away they pass without it. */
async function runTo({ simulator, deployed, position }: Clock, slot: number): Promise<void> {
  let movedAt = Date.now()
  let seen = position.slot
  while (simulator.slot < slot) {
    const [fallen] = deployed.fallen()
    if (fallen) throw new Error(`a process ended by itself\n${fallen.stderr().slice(-4000)}`)
    if (position.slot !== seen || deployed.away.size > 0) {
      seen = position.slot
      movedAt = Date.now()
    }
    if (Date.now() - movedAt > STILL_MS) throw new Error('storage stands still')
    const lost = deployed.away.has('all') || deployed.away.has('ingest')
    const behind = simulator.slot - (position.slot ?? START_SLOT)
    if (lost) simulator.advance(Math.min(20, slot - simulator.slot))
    else if (deployed.away.size > 0 || behind < MAX_BEHIND)
      simulator.advance(Math.min(4, slot - simulator.slot))
    await pause(lost ? 0 : deployed.away.size > 0 ? 30 : 8)
  }
}

/** Waits until storage is near the newest slot; not while something is away. */
async function catchUp({ simulator, deployed, position }: Clock): Promise<void> {
  const isNear = () => simulator.slot - (position.slot ?? 0) < NEAR
  if (deployed.away.size > 0) return
  const [fault] = await until(isNear)
  if (fault !== undefined) throw new Error(fault)
}

/**
 * Waits until storage has passed the tip and holds as much as the chain, as long as it comes nearer; slots go on slowly, because some things wait
 * for newer ones. Gives what is wrong when it stops before.
 */
async function settle(clock: Clock, chain: TrueChain): Promise<string[]> {
  const { simulator, position, tell } = clock
  let least = Number.POSITIVE_INFINITY
  let nearerAt = Date.now()
  for (let round = 1; ; round += 1) {
    chain.catchUp(WALLETS)
    const stored = await storedRecords(clock)
    const missing = chain.events.length + chain.balances.length - stored
    const behind = chain.tip - (position.slot ?? 0)
    // Once everything is there one slot more has to pass: what follows from the last record is stored before the next slot is.
    if (missing <= 0 && behind <= 0) {
      simulator.advance(1)
      chain.catchUp(WALLETS)
      return until(() => (position.slot ?? 0) >= chain.tip)
    }
    if (missing + behind < least) {
      least = missing + behind
      nearerAt = Date.now()
    }
    if (Date.now() - nearerAt > STILL_MS)
      return [`storage stands still: ${missing} records missing, ${behind} slots behind`]
    await pause(100)
    if (round % 100 === 0) tell(`settling: ${missing} records missing, ${behind} slots behind`)
    if (round % 20 === 0) simulator.advance(1)
  }
}

async function until(isSo: () => boolean): Promise<string[]> {
  for (const deadline = Date.now() + STILL_MS; !isSo(); await pause(20))
    if (Date.now() > deadline) return ['storage stands still']
  return []
}

/** Events and balances that storage holds; 0 while it does not answer. */
async function storedRecords({ deployed }: Clock): Promise<number> {
  const counts = ['swaps', 'transfers', 'sol_transfers', 'sol_balances'].map(
    (table) => `(SELECT count() FROM ${table} FINAL)`,
  )
  const rows = await deployed
    .query<{ records: string }>(`SELECT ${counts.join(' + ')} AS records`)
    .catch(() => [])
  return Number(rows[0]?.records ?? 0)
}

/** The newest stored slot, as `/status` tells it; asked again and again, because the service comes and goes. */
class Position {
  slot: number | null = null
  #closed = false

  constructor(deployment: Deployment) {
    void this.#watch(`http://127.0.0.1:${deployment.env.PORT}/status`)
  }

  close(): void {
    this.#closed = true
  }

  async #watch(url: string): Promise<void> {
    while (!this.#closed) {
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(2000) })
        const { storage } = (await response.json()) as { storage?: { slot: number | null } } // decisions J4
        this.slot = storage?.slot ?? this.slot
      } catch {
        // It is away.
      }
      await pause(25)
    }
  }
}
