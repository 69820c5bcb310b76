import { setTimeout as pause } from 'node:timers/promises'
import { newWallet } from '../../api/testing/a-wallet.ts'
import type { Swap } from '../../pipeline/domain/event.ts'
import { SNAPSHOT_TX_INDEX } from '../../pipeline/store/tables/balance-snapshots.ts'
import { FINALIZE_DELAY_SLOTS } from '../simulator/grpc/slot-stream.ts'
import { comesLate } from '../simulator/grpc/slot-updates.ts'
import { createRandom } from '../simulator/random.ts'
import type { Simulator } from '../simulator/simulator.ts'
import { Customer } from '../whole-service/customer.ts'
import { Follower } from '../whole-service/follower.ts'
import {
  catchUp,
  type MarketClock,
  runTo,
  settle,
  startMarket,
  tickUntil,
  waitForFinality,
} from './clock.ts'
import { compareTables, type Difference, REST } from './compare.ts'
import { compareRest } from './compare-answers.ts'
import {
  compareCoverage,
  compareMints,
  compareSolPrices,
  leaveUntraded,
  missingFacts,
} from './compare-facts.ts'
import { compareKept } from './compare-kept.ts'
import { feedFaults, type ReceivedTrades } from './followed.ts'
import { describeHealing, type Healed, measureHealing } from './healing.ts'
import { type HookReceivers, startHookReceivers } from './hook-receiver.ts'
import { PACKAGES, PackageFollower } from './package-follower.ts'
import { STALLED_MS, within } from './patience.ts'
import { createScript, describeStep, follows, isEnd, kindOf, type ScriptStep } from './script.ts'
import { longestSilences, type Moment, type Silence } from './silence.ts'
import {
  CALM_SLOTS,
  CLOSE_MS,
  closeOne,
  createMarketClock,
  type MarketPace,
  OPENING_SLOTS,
  openTestBed,
  REPLAY_SLOTS,
  START_SLOT,
  slotsOf,
  type TestBed,
  TRACKED_WALLETS,
} from './test-bed.ts'
import { TrueChain } from './true-chain.ts'

/** Settings of a run. */
export interface RunOptions {
  readonly seed: number
  /** Hours of the market. */
  readonly hours: number
  /** Folder of servers that the run may end and start (`infra/servers`); null: one process. */
  readonly serversDir: string | null
  /** Whether those servers are clusters; then two processes of each role run. */
  readonly isCluster: boolean
  /** By default, busy. */
  readonly pace?: MarketPace
  /** Folder of installed packages, programs of which follow the feed; null: none does. */
  readonly packages?: string | null
  readonly also: ReadonlySet<Extra>
  /** The actions of the run; by default those of the seed. */
  readonly script?: readonly ScriptStep[]
  /** Receives progress lines. */
  readonly tell: (line: string) => void
}

/** What a run found. */
export interface RunResult {
  readonly differences: readonly Difference[]
  /** Faults other than differences of tables. */
  readonly faults: readonly string[]
  /** Number of compared rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Records that the stream left out. */
  readonly healed: readonly Healed[]
  /** How long the follower got no trade after each action. */
  readonly silences: readonly Silence[]
}

/** Optional actions and comparisons of a run. */
export const EXTRAS = ['backfill', 'wallet', 'absence', 'omissions', 'reversals'] as const
/** One of `EXTRAS`. */
export type Extra = (typeof EXTRAS)[number]

/** What each account has. */
const CREDITS = 1_000_000_000
/** A restart compares this many slots before the newest stored one with RPC (rule K2). */
const COMPARED_SLOTS = 64
/**
 * A slot with omissions, or on a cluster, takes this long, a quarter of a real one: breaks open and
 * heal, and others take over, while the market goes on.
 */
const REAL_SLOT_MS = 100
const ARRIVALS_EVERY_MS = 10
/** Nodes of a cluster that a run may stop. */
const NODES = [
  'kafka-1',
  'clickhouse-1',
  'redis-1',
  'kafka-2',
  'clickhouse-2',
  'redis-2',
  'kafka-3',
] as const
/** In one of so many runs with omissions the stream is silent about a wallet at the end. */
const SILENT_EVERY = 8
const SILENT_WALLET = 1

/** Slots up to the tip at a restart, which are compared with RPC. */
interface ComparedSlots {
  readonly from: number
  readonly to: number
}

/** A run in progress. */
interface Run {
  readonly options: RunOptions
  readonly bed: TestBed
  readonly clock: MarketClock
  readonly chain: TrueChain
  readonly follower: Follower
  readonly hooks: HookReceivers
  readonly programs: readonly PackageFollower[]
  /** One for each API process. */
  readonly customers: readonly Customer[]
  readonly script: readonly ScriptStep[]
  /** Slots of the market, without the calm ones at the end. */
  readonly slots: number
  /** When the script cut the stream or ended the process that follows it, in unix milliseconds. */
  readonly cuts: number[]
}

/**
 * Lets the market run for some hours while the script of the seed breaks the service. Then lets
 * everything settle, and compares every table with what the slow reference makes of the true chain.
 * The script is a function of the seed; how it meets the work of the processes is not.
 */
export async function runSimulation(options: RunOptions): Promise<RunResult> {
  const { seed, hours, serversDir, isCluster, pace = 'busy', packages = null, also, tell } = options
  const addsWallet = also.has('wallet')
  const omits = also.has('omissions')
  const hasReversals = also.has('reversals')
  const slots = slotsOf(hours) + (omits ? OPENING_SLOTS : 0)
  const bed = await openTestBed({
    seed,
    slots,
    serversDir,
    isCluster,
    addsWallet,
    pace,
    omits,
    hasReversals,
    tell,
  })
  let follower: Follower | null = null
  let hooks: HookReceivers | null = null
  const programs: PackageFollower[] = []
  try {
    for (const part of bed.parts) bed.deployed.start(part)
    await bed.deployed.listens(bed.parts[0] ?? 'all')
    const key = await bed.deployed.createAccount(CREDITS)
    const urls = bed.ports.map((port) => `http://127.0.0.1:${port}`)
    const customers = urls.map((url) => new Customer(url, key))
    const hooked = newWallet()
    await bed.deployed.createAccount(CREDITS, hooked.address)
    hooks = await startHookReceivers({ url: urls[0] ?? '' }, hooked, { seed, credits: CREDITS })
    for (const name of packages === null ? [] : PACKAGES) {
      const apiKey = await bed.deployed.createAccount(CREDITS)
      const program = { folder: packages ?? '', url: urls[0] ?? '', apiKey, seed }
      programs.push(await PackageFollower.start(name, program))
    }
    const followed = new Follower(customers, STALLED_MS)
    follower = followed
    const clock = createMarketClock(bed, tell, pace)
    const seedScript = createScript({
      seed,
      slots,
      parts: bed.parts,
      replaySlots: REPLAY_SLOTS,
      servers: serversDir === null ? [] : isCluster ? NODES : ['kafka', 'clickhouse', 'redis'],
      isCluster,
      commands: commandsOf(also),
      longAbsence: also.has('absence'),
      addsWallet,
      actions: pace === 'minutes' ? 'rare' : omits || pace === 'calm' ? 'sparse' : 'dense',
    })
    const chain = new TrueChain(bed.simulator, START_SLOT)
    const run: Run = {
      options,
      bed,
      clock,
      chain,
      follower: followed,
      hooks,
      programs,
      customers,
      script: options.script ?? seedScript,
      slots,
      cuts: [],
    }
    const arrivals: number[] = []
    const watch = setInterval(() => noteArrivals(followed, arrivals), ARRIVALS_EVERY_MS)
    const { compared, moments } = await play(run).finally(() => clearInterval(watch))
    if (hasReversals || omits) await finish(run)
    const faults = await settleRun(run, compared)
    const { differences, rows } = await compareAll(run)
    faults.push(
      ...wrongTrades(run, compared),
      ...wrongPrints(run, compared),
      ...(await wrongDeliveries(run, compared)),
    )
    if (serversDir !== null) faults.push(...(await bed.deployment.ledgerFaults()))
    const healed = omits ? await healingOf(run) : []
    // Slots pass meanwhile, which nothing is compared with any more.
    if (omits) faults.push(...(await reconcileFaults(run)))
    await within(CLOSE_MS, 'the follower to stop', followed.stop())
    faults.push(...(await bed.deployed.stop()))
    return { differences, faults, rows, healed, silences: longestSilences(arrivals, moments) }
  } catch (error) {
    // The fault is printed immediately, because closing may take long.
    tell(`FAULT ${error instanceof Error ? error.message : String(error)}`)
    for (const line of bed.deployed.said()) tell(line)
    throw error
  } finally {
    await closeOne('the follower', () => follower?.stop(), tell)
    for (const program of programs)
      await closeOne(`the ${program.name} program`, () => program.close(), tell)
    await closeOne('the receivers', () => hooks?.close(), tell)
    await bed.close()
  }
}

/** Adds the present time for each new trade of the follower. */
function noteArrivals(follower: Follower, arrivals: number[]): void {
  const now = Date.now()
  const count = follower.feeds.reduce((sum, { trades }) => sum + trades.length, 0)
  while (arrivals.length < count) arrivals.push(now)
}

/** What the script did. */
interface Played {
  /** Slots that restarts compared with RPC. */
  readonly compared: readonly ComparedSlots[]
  /** When each action began; not their ends. */
  readonly moments: readonly Moment[]
}

/** Carries the script out. */
async function play(run: Run): Promise<Played> {
  const { clock, script, bed, follower, options, slots, cuts } = run
  const { simulator, deployed, position } = bed
  const tell = tellWithTime(options, bed)
  await startMarket(
    clock,
    () => follower.connections > 0,
    () => follower.all().length > 0,
  )
  const random = createRandom(options.seed, 'moments')
  const compared: ComparedSlots[] = []
  const moments: Moment[] = []
  const first = script.find(({ act }) => act === 'start')
  const slotMs = options.also.has('omissions') || options.isCluster ? REAL_SLOT_MS : undefined
  for (const step of script) {
    await runTo(clock, START_SLOT + step.at, slotMs)
    if (step.caughtUp) await catchUp(clock)
    await pause(random.below(40))
    tell(describeStep(step))
    if (!isEnd(step)) moments.push({ at: Date.now(), name: kindOf(step) })
    const isCut = step.act === 'cut' || ('part' in step && follows(step.part))
    if (isCut) cuts.push(Date.now())
    if (step.act !== 'start' && 'part' in step && follows(step.part))
      compared.push({ from: (position.slot ?? START_SLOT) - COMPARED_SLOTS, to: simulator.slot })
    await deployed.do(step)
    if (step === first && options.also.has('omissions')) {
      await waitForFinality(clock, 'snapshots of balances', () => hasSnapshots(run))
      tell('balances read')
      await runTo(clock, START_SLOT + CALM_SLOTS + OPENING_SLOTS)
    }
  }
  await runTo(clock, START_SLOT + slots, slotMs)
  await tickUntil(clock, 'servers, processes and commands that were begun', deployed.settle())
  await runTo(clock, simulator.slot + CALM_SLOTS * clock.stride)
  tell('calm')
  return { compared, moments }
}

/** Waits until nothing is missing; returns what is missing when that no longer becomes less. */
async function settleRun(run: Run, compared: readonly ComparedSlots[]): Promise<string[]> {
  const { clock, chain, bed, options, slots } = run
  const { query } = bed.deployed
  const lastTrouble = START_SLOT + slots
  const faults = await settle(clock, chain, TRACKED_WALLETS, async () => {
    await leaveUntraded(query, chain)
    return {
      'final slots': Math.max(0, lastTrouble - (bed.position.finalized ?? 0)),
      trades: countMissing(wrongTrades(run, compared)),
      'trades of programs': countMissing(wrongPrints(run, compared)),
      'trades of webhooks': countMissing(await wrongDeliveries(run, compared)),
      ...(await missingFacts(query, chain)),
    }
  })
  tellWithTime(options, bed)('settled')
  if (faults.length > 0) for (const line of bed.deployed.said()) options.tell(line)
  return faults
}

function countMissing(faults: readonly string[]): number {
  return faults.filter((text) => text.includes('missing')).length
}

/** Whether the service has read what every wallet holds (rule K8). */
async function hasSnapshots({ bed }: Run): Promise<boolean> {
  const rows = await bed.deployed
    .query<{ left: string }>(
      `SELECT count() AS left FROM tracked_wallets FINAL WHERE wallet NOT IN
         (SELECT wallet FROM balance_snapshots WHERE account = '')`,
    )
    .catch(() => [])
  return rows[0]?.left === '0'
}

/**
 * Lets what was confirmed last become final (rules K8, K9). With omissions, an operator then has
 * the last transactions of accounts found, which nothing follows. In some runs they are all those
 * of a wallet that the stream is silent about.
 */
async function finish(run: Run): Promise<void> {
  const { clock, bed, options } = run
  const { simulator } = bed
  const omits = options.also.has('omissions')
  const isSilent = omits && options.seed % SILENT_EVERY === 0
  if (isSilent) {
    await catchUp(clock) // what a restart compares with RPC ends here
    const from = simulator.slot
    simulator.omit(simulator.wallets[SILENT_WALLET - 1] ?? null)
    while (!hasMoved(simulator, SILENT_WALLET, from)) await runTo(clock, simulator.slot + 1)
  }
  await runTo(clock, simulator.slot + FINALIZE_DELAY_SLOTS + CALM_SLOTS)
  // What the wallet does while reconcile runs may be newer than what it compares.
  const last = lastMove(simulator, SILENT_WALLET, simulator.finalizedSlot)
  if (omits) await reconcile(run)
  if (isSilent) await tickUntil(clock, 'what reconcile has found', found(run, last))
  simulator.omit(null)
}

/** Whether the SOL of a wallet has changed after a slot. */
function hasMoved(simulator: Simulator, wallet: number, after: number): boolean {
  return (lastMove(simulator, wallet, simulator.slot) ?? 0) > after
}

/** The newest slot up to `until` in which the SOL of a wallet changed. */
function lastMove({ shape, truth }: Simulator, wallet: number, until: number): number | null {
  for (let at = until; at >= START_SLOT; at -= 1)
    if (shape.kind(at) === 'produced' && truth(at).balances.some((b) => b.wallet === wallet))
      return at
  return null
}

/**
 * Resolves when the transaction of the silent wallet in slot `last` is stored, and no break that
 * reconcile found is open. Mostly the repair has fetched it; if its block was replaced, ingest has.
 */
async function found({ bed }: Run, last: number | null): Promise<void> {
  for (let isFound = false; !isFound; await pause(1000)) {
    const [row] = await bed.deployed.query<{ left: string; stored: string }>(
      `SELECT (SELECT count() FROM chain_breaks FINAL
           WHERE wallet = ${SILENT_WALLET} AND tx_index = ${SNAPSHOT_TX_INDEX} AND state = 'open') AS left,
         (SELECT count() FROM sol_balances FINAL
           WHERE wallet = ${SILENT_WALLET} AND slot = ${last} AND is_deleted = 0) AS stored`,
    )
    isFound = row?.left === '0' && row.stored !== '0'
  }
}

/** Lets slots pass while the service compares all wallets with the chain (rule K8). */
async function reconcile({ clock, bed }: Run) {
  const compared = bed.deployed.reconcile()
  await tickUntil(
    clock,
    'operator reconcile',
    compared.then(() => {}),
  )
  return compared
}

/** Measures how what the stream left out came back, and prints it. */
async function healingOf({ bed, chain, clock, cuts, options }: Run): Promise<readonly Healed[]> {
  const { deployed, simulator } = bed
  const { query } = deployed
  const healed = await measureHealing({ query, chain, simulator, times: clock.times, cuts })
  for (const line of describeHealing(healed)) options.tell(line)
  return healed
}

/** What differs from the chain after everything has settled. */
async function reconcileFaults(run: Run): Promise<string[]> {
  const { missing, unexplained, unverified } = await reconcile(run)
  return Object.entries({ missing, unexplained, unverified }).flatMap(([name, count]) =>
    count === 0 ? [] : [`after settling, ${count} ${name}`],
  )
}

/** Compares the tables and REST, and counts the compared rows and answers. */
async function compareAll(run: Run): Promise<Pick<RunResult, 'differences' | 'rows'>> {
  const { chain, follower, hooks, programs, customers } = run
  const { deployed, simulator } = run.bed
  await leaveUntraded(deployed.query, chain)
  const tables = await compareTables(deployed.query, chain, TRACKED_WALLETS)
  const facts = {
    transactions: await compareKept(deployed.query, chain),
    mints: await compareMints(deployed.query, chain, simulator.market),
    sol_prices: await compareSolPrices(deployed.query, chain, simulator.market),
    wallet_coverage: await compareCoverage(
      deployed.query,
      chain,
      simulator.market,
      TRACKED_WALLETS,
    ),
  }
  const tip = { slot: chain.tip, time: simulator.market.block(chain.tip).time }
  const rest = await compareRest(customers, deployed.query, tables.truth, tip)
  const [withdrawn] = await deployed.query<{ slots: string }>(
    'SELECT uniqExact(slot) AS slots FROM withdrawn_slots',
  )
  return {
    differences: [tables, rest, ...Object.values(facts)].flatMap((part) => part.differences),
    rows: {
      ...tables.rows,
      'withdrawn slots': Number(withdrawn?.slots),
      ...Object.fromEntries(Object.entries(facts).map(([name, part]) => [name, part.rows])),
      [REST]: rest.rows,
      'trades of the feed': follower.all().length + follower.allLate().length,
      connections: follower.connections,
      ...Object.fromEntries(
        hooks.receivers.map(({ manner, trades }) => [`trades of the ${manner} webhook`, trades]),
      ),
      'credits for them': await hooks.paid(),
      ...Object.fromEntries(
        programs.flatMap(({ name, trades, cuts, kills }) => [
          [`trades of the ${name} package`, trades],
          [`its cuts (${name})`, cuts],
          [`its kills (${name})`, kills],
        ]),
      ),
    },
  }
}

/**
 * Faults of the feed so far: together all connections must have the true trades, each once, and
 * retractions of all others. An embedded process may be killed after it has sent trades of a block
 * that is replaced, and before it has stored them: it retracts nothing then (rule K9).
 */
function wrongTrades(run: Run, compared: readonly ComparedSlots[]): string[] {
  const { follower } = run
  const stands = follower.stands()
  const sent = {
    trades: follower.all().filter(stands),
    late: follower.allLate().filter(stands),
  }
  return faultsOf(run, sent, compared)
}

/**
 * Faults of the webhooks so far: the receivers must have the same trades as the follower of the
 * socket, and no trade may be paid twice (rule M1). What a process that died had not rolled up, and
 * trades that were withdrawn, are not paid.
 */
async function wrongDeliveries(run: Run, compared: readonly ComparedSlots[]): Promise<string[]> {
  const { receivers, paid } = run.hooks
  const most = receivers.reduce((sum, { trades }) => sum + trades, 0)
  const credits = await paid()
  const charged = `${credits} credits were paid for ${most} trades of webhooks`
  return [
    ...(credits > most || (credits === 0 && most > 0) ? [charged] : []),
    ...receivers.flatMap((receiver) =>
      [...receiver.faults, ...faultsOf(run, receiver.received(), compared)].map(
        (fault) => `${receiver.manner} webhook: ${fault}`,
      ),
    ),
  ]
}

/** Faults of the programs with packages so far: each must have the same trades as the follower. */
function wrongPrints(run: Run, compared: readonly ComparedSlots[]): string[] {
  return run.programs.flatMap((program) =>
    [...program.faults, ...faultsOf(run, program.received(), compared)].map(
      (fault) => `${program.name} package: ${fault}`,
    ),
  )
}

/** Trades before the first one may be missing, because followers begin without a position. */
function faultsOf(run: Run, sent: ReceivedTrades, compared: readonly ComparedSlots[]): string[] {
  const { chain, options, follower } = run
  const isEmbedded = options.serversDir === null
  const isReversed = options.also.has('reversals')
  if (isReversed && isEmbedded) return []
  const swaps = chain.events.flatMap((event) => (event.kind === 'swap' ? [event] : []))
  const begunAt = Number(follower.all()[0]?.block_time)
  const mayMiss = (swap: Swap) => swap.blockTime <= begunAt || mayMissTrade(run, compared, swap)
  return feedFaults(sent, swaps, { isEmbedded, mayMiss, ignoresValue: isReversed })
}

/**
 * Whether the feed may lack a trade since its first one: with a log in memory, of a transaction
 * that came late while the process was away, because nothing then says what was sent before (rule
 * K2); of the wallet that was added later; or of slots that the service passed over.
 */
function mayMissTrade(
  { options, script }: Run,
  compared: readonly ComparedSlots[],
  { slot, txIndex, wallet }: Swap,
): boolean {
  return (
    (options.serversDir === null &&
      comesLate(options.seed, slot, txIndex) &&
      compared.some(({ from, to }) => slot >= from && slot <= to)) ||
    (options.also.has('wallet') && wallet === TRACKED_WALLETS) ||
    isPassedOver(script, slot - START_SLOT)
  )
}

/** Commands that an operator gives during the run. */
function commandsOf(also: ReadonlySet<Extra>): string[][] {
  const third = also.has('backfill')
    ? ['backfill', '--wallet', 'all']
    : ['recompute', '--wallet', 'W3']
  return [['recompute', '--wallet', 'all'], ['redecode'], third]
}

/**
 * Whether the service may have passed a slot over: it was away for longer than what it fetches at
 * once (rule K2).
 */
function isPassedOver(script: readonly ScriptStep[], slot: number): boolean {
  return script.some((step, index) => {
    if (step.act !== 'kill' || !('part' in step)) return false
    const back = script
      .slice(index)
      .find((later) => later.act === 'start' && 'part' in later && later.part === step.part)
    const until = back?.at ?? step.at
    return until - step.at > 3000 && slot > step.at - 300 && slot < until + CALM_SLOTS
  })
}

/** Puts the slot and the seconds since the start before each line. */
function tellWithTime({ tell }: RunOptions, { simulator, openedAt }: TestBed) {
  return (line: string) => {
    const slot = `+${simulator.slot - START_SLOT}`.padEnd(7)
    tell(`${slot}${((Date.now() - openedAt) / 1000).toFixed(1)} s  ${line}`)
  }
}
