import { setTimeout as pause } from 'node:timers/promises'
import type { Swap } from '../../pipeline/domain/event.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { startServers } from '../servers/servers.ts'
import { comesLate } from '../simulator/grpc/slot-updates.ts'
import { SLOT_MS } from '../simulator/market/slot-time.ts'
import { ALL_TROUBLE, type Trouble } from '../simulator/options.ts'
import { createRandom } from '../simulator/random.ts'
import { startSimulator } from '../simulator/simulator.ts'
import { deploy, emptyServers } from '../whole-service/deployment.ts'
import { Follower } from '../whole-service/follower.ts'
import { freePort } from '../whole-service/free-port.ts'
import { begin, type Clock, catchUp, Position, runTo, settle, tickUntil } from './clock.ts'
import { compareTables, type Difference } from './compare.ts'
import { compareCoverage, compareMints, missingFacts } from './compare-facts.ts'
import { compareKept } from './compare-kept.ts'
import { Deployed } from './deployed.ts'
import { wrongInFeed } from './followed.ts'
import { STILL_MS, within } from './patience.ts'
import { createScript, type Part, type Step, tellStep } from './script.ts'
import { TrueChain } from './true-chain.ts'

export interface RunOptions {
  readonly seed: number
  /** Hours of the market. */
  readonly hours: number
  /** Folder of servers that the run may end and start (`infra/servers`); null: everything in one process. */
  readonly serversDir: string | null
  readonly also: ReadonlySet<Also>
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
/** So many slots before the newest stored one a start compares with RPC (rule K2). */
const COMPARED_SLOTS = 64
/** Slots without trouble at the beginning and at the end: what is late comes within 12. */
const CALM_SLOTS = 40
const WALLETS = 10
/** What is closed at the end of a run, whatever became of it, has so long each. */
const CLOSE_MS = 30_000

/**
 * Lets the market run for some hours while the script of the seed breaks the service, then lets everything settle, and compares every table with
 * what the slow reference makes of the true chain. What is done is a function of the seed; how it meets the work of the processes is not.
 */
export async function runSimulation(options: RunOptions): Promise<RunResult> {
  const { seed, hours, serversDir, tell } = options
  const slots = Math.round((hours * 3_600_000) / SLOT_MS)
  const [addsWallet, longAbsence] = [options.also.has('wallet'), options.also.has('absence')]
  const trouble = troubleOf(seed)
  const beganAt = Date.now()
  const troubles = Object.entries(trouble).flatMap(([name, there]) => (there ? [name] : []))
  tell(`trouble: ${troubles.join(', ')}`)
  const simulator = await startSimulator({
    seed,
    trouble,
    wallets: WALLETS,
    coins: 30,
    trackedPerSlot: 2,
    othersPerSlot: 1,
    clock: { kind: 'manual', startSlot: START_SLOT - 1 },
    firstSlot: START_SLOT,
    troubleSlots: { from: START_SLOT + CALM_SLOTS, to: START_SLOT + slots },
    replaySlots: REPLAY_SLOTS,
    historySlots: slots + 10_000,
  })
  const servers = serversDir === null ? null : await startServers(serversDir)
  const emptied = servers === null ? null : await emptyServers(servers)
  const deployment = await deploy(
    'embedded',
    simulator.wallets.slice(0, addsWallet ? -1 : WALLETS),
    {
      ...emptied?.env,
      YELLOWSTONE_ENDPOINT: simulator.endpoint,
      SOLANA_RPC_URL: simulator.rpcUrl,
      SOL_PRICE_POOL: simulator.solPricePool,
      PORT: String(await freePort()),
      LOG_LEVEL: 'warn',
    },
  )
  const store =
    emptied === null
      ? null
      : await createStore({ kind: 'clickhouse', url: new URL(emptied.env.CLICKHOUSE_URL) })
  const parts: readonly Part[] = emptied === null ? ['all'] : ['api', 'workers', 'ingest']
  const deployed = new Deployed({
    simulator,
    deployment,
    parts,
    serversDir,
    laterWallet: simulator.wallets[WALLETS - 1] ?? null,
    query: store === null ? null : (sql) => store.query(sql),
    tell,
  })
  const position = new Position(deployment)
  let follower: Follower | null = null
  try {
    for (const part of parts) deployment.start(part)
    await deployed.listens(parts[0] ?? 'all')
    const key = await deployed.createAccount(1_000_000_000)
    const followed = new Follower(await deployment.customer(key), STILL_MS)
    follower = followed
    const clock: Clock = { simulator, deployed, position, startSlot: START_SLOT, tell }
    const chain = new TrueChain(simulator, START_SLOT)
    await begin(
      clock,
      () => followed.connections > 0,
      () => followed.all().length > 0,
    )
    const place = () =>
      `+${simulator.slot - START_SLOT}`.padEnd(7) +
      `${((Date.now() - beganAt) / 1000).toFixed(1)} s  `
    const script = createScript({
      seed,
      slots,
      parts,
      replaySlots: REPLAY_SLOTS,
      servers: serversDir === null ? [] : ['kafka', 'clickhouse', 'redis'],
      commands: commandsOf(options.also),
      longAbsence,
      addsWallet,
    })
    const random = createRandom(seed, 'moments')
    const compared: { readonly from: number; readonly to: number }[] = []
    for (const step of script) {
      await runTo(clock, START_SLOT + step.at)
      if (step.caughtUp) await catchUp(clock)
      await pause(random.below(40))
      tell(`${place()}${tellStep(step)}`)
      if ((step.act === 'kill' || step.act === 'stop') && 'part' in step && follows(step.part))
        compared.push({ from: (position.slot ?? START_SLOT) - COMPARED_SLOTS, to: simulator.slot })
      await deployed.do(step)
    }
    await runTo(clock, START_SLOT + slots)
    await tickUntil(clock, 'servers, processes and commands that were begun', deployed.settle())
    await runTo(clock, simulator.slot + CALM_SLOTS)
    tell(`${place()}calm`)
    // The very first slot was over before the stream began. What comes late while nobody follows the stream is found by comparison with RPC after a
    // restart, and what is fetched never goes to sockets (rule K2).
    const mayMiss = (swap: Swap) =>
      swap.slot === START_SLOT ||
      (comesLate(seed, swap.slot, swap.txIndex) &&
        compared.some(({ from, to }) => swap.slot >= from && swap.slot <= to)) ||
      (addsWallet && swap.wallet === WALLETS) ||
      isPassedOver(script, swap.slot - START_SLOT)
    const wrongInFeedNow = () => {
      const swaps = chain.events.flatMap((event) => (event.kind === 'swap' ? [event] : []))
      const isEmbedded = serversDir === null
      if (options.also.has('feed')) {
        const what = { trades: followed.all(), late: followed.allLate() }
        return wrongInFeed(what, swaps, { isEmbedded, mayMiss })
      }
      return followed.feeds.flatMap(({ trades }) =>
        wrongInFeed({ trades, late: [] }, swaps, { isEmbedded, mayMiss: () => true }),
      )
    }
    const faults = await settle(clock, chain, WALLETS, async () => ({
      trades: wrongInFeedNow().filter((text) => text.includes('missing')).length,
      ...(await missingFacts(deployed.query, chain)),
    }))
    tell(`${place()}settled`)
    const tables = await compareTables(deployed.query, chain, WALLETS)
    const facts = {
      transactions: await compareKept(deployed.query, chain),
      mints: await compareMints(deployed.query, chain, simulator.market),
      wallet_coverage: await compareCoverage(deployed.query, chain, simulator.market, WALLETS),
    }
    const differences = [tables, ...Object.values(facts)].flatMap((part) => part.differences)
    const rows: Record<string, number> = {
      ...tables.rows,
      ...Object.fromEntries(Object.entries(facts).map(([name, part]) => [name, part.rows])),
      'trades of the feed': followed.all().length + followed.allLate().length,
      connections: followed.connections,
    }
    faults.push(...wrongInFeedNow())
    await within(CLOSE_MS, 'the follower to stop', followed.stop())
    faults.push(...(await deployed.stop()))
    return { differences, faults, rows }
  } catch (error) {
    // At once: what is closed below may take its time.
    tell(`FAULT ${error instanceof Error ? error.message : String(error)}`)
    throw error
  } finally {
    position.close()
    deployed.close()
    const closings: readonly (readonly [string, () => Promise<unknown> | undefined])[] = [
      ['the follower', () => follower?.stop()],
      ['the processes', () => deployment.remove()],
      ['the database', () => emptied?.drop()],
      ['the store', () => store?.close()],
      ['the simulator', () => simulator.close()],
    ]
    for (const [what, close] of closings) {
      const closed = Promise.resolve(close())
      await within(CLOSE_MS, `${what} to close`, closed).catch((error: unknown) =>
        tell(String(error)),
      )
    }
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

/** What a run may do and compare besides, when it is asked to. */
export const ALSO = ['backfill', 'wallet', 'absence', 'feed'] as const
export type Also = (typeof ALSO)[number]

/** What an operator does meanwhile. */
function commandsOf(also: ReadonlySet<Also>): string[][] {
  const third = also.has('backfill')
    ? ['backfill', '--wallet', 'all']
    : ['recompute', '--wallet', 'W3']
  return [['recompute', '--wallet', 'all'], ['redecode'], third]
}

/** Whether it is this part that follows the stream. */
function follows(part: Part): boolean {
  return part === 'ingest' || part === 'all'
}

/** Whether the service may have passed a slot over: it was away for more than what it fetches at once (rule K2). */
function isPassedOver(script: readonly Step[], slot: number): boolean {
  return script.some((step, index) => {
    if (step.act !== 'kill' || !('part' in step)) return false
    const back = script
      .slice(index)
      .find((later) => later.act === 'start' && 'part' in later && later.part === step.part)
    const until = back?.at ?? step.at
    return until - step.at > 3000 && slot > step.at - 300 && slot < until + CALM_SLOTS
  })
}
