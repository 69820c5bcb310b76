import type { Address } from '../../pipeline/domain/address.ts'
import { startServers } from '../servers/servers.ts'
import { COMPRESSED_SLOTS } from '../simulator/compressed-shape.ts'
import { CALM_MARKET } from '../simulator/market/sizes.ts'
import { SLOT_MS } from '../simulator/market/slot-time.ts'
import { ALL_TROUBLE, OMISSIONS, REVERSALS, type Trouble } from '../simulator/options.ts'
import { createRandom } from '../simulator/random.ts'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { type Deployment, deploy, emptyServers } from '../whole-service/deployment.ts'
import { freePort } from '../whole-service/free-port.ts'
import { commandOutcome, startOperator } from '../whole-service/service-process.ts'
import { type MarketClock, Position } from './clock.ts'
import { clusterFaults } from './cluster-faults.ts'
import { Deployed } from './deployed.ts'
import { startFlakyRelay } from './flaky-relay.ts'
import { MarketTimes } from './market-times.ts'
import { within } from './patience.ts'
import type { DeployedPart } from './script.ts'

/** The first slot with a block. */
export const START_SLOT = 400_000_000
/** Slots that the stream can replay. */
export const REPLAY_SLOTS = 256
/** Slots without trouble at the beginning and at the end; a late transaction comes within 12. */
export const CALM_SLOTS = 40
/**
 * Slots before the first omission in addition, within which the service reads what wallets hold
 * when tracking begins. What is missing before that cannot be noticed (rule K8).
 */
export const OPENING_SLOTS = 160
/** Number of tracked wallets. */
export const TRACKED_WALLETS = 10
/** Longest time that each part of a run may take to close. */
export const CLOSE_MS = 30_000

const PARTS: readonly DeployedPart[] = ['api', 'workers', 'ingest', 'webhooks']
/** The processes of a cluster: two of each role. */
export const CLUSTER_PARTS: readonly DeployedPart[] = [
  ...PARTS,
  ...(['api-2', 'workers-2', 'ingest-2', 'webhooks-2'] as const),
]

/** The simulated market and the service that follows it. */
export interface TestBed {
  readonly simulator: Simulator
  readonly deployment: Deployment
  readonly deployed: Deployed
  readonly position: Position
  readonly parts: readonly DeployedPart[]
  /** Ports of the APIs. */
  readonly ports: readonly number[]
  /** Unix ms at which the test bed was opened. */
  readonly openedAt: number
  /** Closes everything; reports what does not close in time instead of throwing. */
  close(): Promise<void>
}

/** Creates the clock of a test bed's market. */
export function createMarketClock(
  { simulator, deployed, position }: TestBed,
  tell: (line: string) => void,
  pace: MarketPace = 'busy',
): MarketClock {
  const times = new MarketTimes()
  const stride = STRIDES[pace]
  return { simulator, deployed, position, times, startSlot: START_SLOT, stride, tell }
}

/**
 * How a market runs. `busy`: many trades. `calm`: few, as in that of `npm start`. `minutes`: a
 * block each minute, as in its history; a day has some hundred trades.
 */
export const PACES = ['busy', 'calm', 'minutes'] as const
/** One of `PACES`. */
export type MarketPace = (typeof PACES)[number]

/** Slots from one block to the next. */
export const STRIDES: Readonly<Record<MarketPace, number>> = {
  busy: 1,
  calm: 1,
  minutes: COMPRESSED_SLOTS,
}
/** A slot that no run reaches; a multiple of `COMPRESSED_SLOTS`. */
const NEVER = START_SLOT + 1e9 - ((START_SLOT + 1e9) % COMPRESSED_SLOTS)

/** Settings of a test bed. */
export interface TestBedOptions {
  readonly seed: number
  /** Slots of the market. */
  readonly slots: number
  /** Folder of the servers that the run may end and start; null: everything in one process. */
  readonly serversDir: string | null
  /** Whether those servers are clusters, with two processes of each role. */
  readonly isCluster?: boolean
  /** Whether the last tracked wallet is left out of the file at the start. */
  readonly addsWallet: boolean
  /** By default, busy. */
  readonly pace?: MarketPace
  /** Whether the stream leaves out transactions that RPC has. */
  readonly omits: boolean
  /** Whether some confirmed blocks never become final. */
  readonly hasReversals: boolean
  readonly tell: (line: string) => void
}

/** Starts the simulator and the servers, and prepares the service; no process of it runs yet. */
export async function openTestBed(options: TestBedOptions): Promise<TestBed> {
  const { serversDir, addsWallet, isCluster = false, tell } = options
  const openedAt = Date.now()
  const simulator = await startTroubledSimulator(options)
  const servers = serversDir === null ? null : await startServers(serversDir)
  const emptied = servers === null ? null : await emptyServers(servers)
  const wallets: readonly Address[] = simulator.wallets.slice(0, addsWallet ? -1 : TRACKED_WALLETS)
  const ports = isCluster ? [await freePort(), await freePort()] : [await freePort()]
  const ways = isCluster ? 2 : 0
  const relays = await Promise.all(
    Array.from({ length: ways }, () => startFlakyRelay(simulator.endpoint)),
  )
  const deployment = await deploy('embedded', wallets, {
    ...emptied?.env,
    ...(isCluster && { INGEST_FAILOVER: 'true' }),
    YELLOWSTONE_ENDPOINT: isCluster ? relays.map(({ url }) => url).join(',') : simulator.endpoint,
    SOLANA_RPC_URL: simulator.rpcUrl,
    SOL_PRICE_POOL: simulator.solPricePool,
    PORT: String(ports[0]),
    LOG_LEVEL: 'warn',
    WEBHOOK_LOOPBACK: 'true',
  })
  const store = emptied?.store ?? null
  const parts: readonly DeployedPart[] =
    emptied === null ? ['all'] : isCluster ? CLUSTER_PARTS : PARTS
  const faults =
    serversDir !== null && isCluster ? await clusterFaults(serversDir, servers ?? {}, relays) : null
  // Older processes run on the schema of the next build before an upgrade begins (rule K19).
  if (faults !== null) {
    const migrating = startOperator(deployment.env, ['migrate'], faults.nextRoot)
    const { code, document } = await commandOutcome(migrating)
    if (code !== 0) throw new Error(`operator migrate: ${JSON.stringify(document)}`)
  }
  const position = new Position(ports)
  const deployed = new Deployed({
    simulator,
    deployment,
    parts,
    envOf: { 'api-2': { PORT: String(ports[1]) } },
    faults,
    serversDir,
    laterWallet: simulator.wallets[TRACKED_WALLETS - 1] ?? null,
    query: store === null ? null : (sql) => store.query(sql),
    tell,
  })
  return {
    simulator,
    deployment,
    deployed,
    position,
    parts,
    ports,
    openedAt,
    async close() {
      position.close()
      await closeOne('the deployment', () => deployed.close(), tell)
      await closeOne('the processes', () => deployment.remove(), tell)
      await closeOne('the database', () => emptied?.drop(), tell)
      for (const relay of relays) await closeOne('a relay', () => relay.close(), tell)
      await closeOne('the simulator', () => simulator.close(), tell)
    },
  }
}

/** Closes a part of a run; reports a failure or a delay through `tell` instead of throwing. */
export async function closeOne(
  name: string,
  close: () => Promise<unknown> | undefined,
  tell: (line: string) => void,
): Promise<void> {
  const closed = Promise.resolve(close())
  await within(CLOSE_MS, `${name} to close`, closed).catch((error: unknown) => tell(String(error)))
}

function startTroubledSimulator(options: TestBedOptions): Promise<Simulator> {
  const { seed, slots, omits, pace = 'busy', tell } = options
  const trouble = troubleOf(options)
  const names = Object.entries(trouble).flatMap(([name, isOn]) => (isOn ? [name] : []))
  tell(`trouble: ${names.join(', ')}`)
  return startSimulator({
    seed,
    trouble,
    wallets: TRACKED_WALLETS,
    coins: 30,
    trackedPerSlot: pace === 'busy' ? 2 : CALM_MARKET.trackedPerSlot,
    othersPerSlot: 1,
    clock: { kind: 'manual', startSlot: START_SLOT - 1 },
    firstSlot: START_SLOT,
    ...(pace === 'minutes' && { compressed: { from: START_SLOT, before: NEVER } }),
    troubleSlots: {
      from: START_SLOT + CALM_SLOTS + (omits ? OPENING_SLOTS : 0),
      to: START_SLOT + slots,
    },
    replaySlots: REPLAY_SLOTS * STRIDES[pace],
    historySlots: slots + 10_000,
  })
}

/**
 * The trouble of a run: most kinds are always on, and the seed decides about the others. With
 * omissions no stream is cut, because what a cut compares with RPC needs no repair (rule K2). With
 * a block a minute, a server that lost its replay would have nothing to send for too long.
 */
export function troubleOf({
  seed,
  omits,
  hasReversals,
  pace = 'busy',
}: Pick<TestBedOptions, 'seed' | 'omits' | 'hasReversals' | 'pace'>): Trouble {
  const random = createRandom(seed, 'trouble of the run')
  const all = (kinds: readonly (keyof Trouble)[], isOn: boolean): Partial<Trouble> =>
    Object.fromEntries(kinds.map((kind) => [kind, isOn]))
  return {
    ...ALL_TROUBLE,
    cuts: random.chance(0.5) && !omits,
    lostReplay: random.chance(0.5) && !omits && pace !== 'minutes',
    slowRpc: seed % 5 === 2,
    rateLimitedRpc: seed % 5 === 0,
    ...all(OMISSIONS, omits),
    ...all(REVERSALS, hasReversals),
  }
}

/** Slots of a market that runs for some hours. */
export function slotsOf(hours: number): number {
  return Math.round((hours * 3_600_000) / SLOT_MS)
}
