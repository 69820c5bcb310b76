import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import bs58 from 'bs58'
import { catchUp, type MarketClock, runTo, settle, startMarket } from '../../simulate/clock.ts'
import type { Difference } from '../../simulate/compare.ts'
import { leaveUntraded, missingFacts } from '../../simulate/compare-facts.ts'
import {
  makeNextBuild,
  NEXT_COLUMN,
  NEXT_FORMAT,
  NEXT_SCHEMA,
  NOTE,
} from '../../simulate/next-build.ts'
import { STALLED_MS } from '../../simulate/patience.ts'
import {
  createMarketClock,
  openTestBed,
  START_SLOT,
  type TestBed,
  TRACKED_WALLETS,
} from '../../simulate/test-bed.ts'
import { TrueChain } from '../../simulate/true-chain.ts'
import { Customer, until } from '../../whole-service/customer.ts'
import { Follower } from '../../whole-service/follower.ts'
import { commandOutcome, ROOT, startOperator } from '../../whole-service/service-process.ts'
import { compareWithChain } from './compare-with-chain.ts'
import { Fleet, type Member, readiness } from './fleet.ts'
import { RestLoad } from './rest-load.ts'
import { feedChecks } from './resumed-feed.ts'
import { runOperator } from './run-operator.ts'

/** Settings of a run. */
export interface RollingUpgradeOptions {
  /** Folder of servers. */
  readonly data: string
  readonly seed: number
  /** Slots between two replacements. */
  readonly slots: number
  /** Folder of a built older release, which is stopped for the upgrade; null: a rolling upgrade. */
  readonly from: string | null
  readonly tell: (line: string) => void
}

/** What a run found. */
export interface RollingUpgradeFindings {
  readonly faults: readonly string[]
  /** Rows of the compared tables. */
  readonly rows: number
  /** Trades that each follower got. */
  readonly trades: readonly number[]
  /** Answered calls. */
  readonly calls: number
  /** How long each replacement took until the new process was ready, by role. */
  readonly replacedMs: ReadonlyMap<string, readonly number[]>
}

/** Roles that every release has. */
const OLD_ROLES = ['api', 'workers', 'ingest'] as const
const GRANTED = 1_000_000
const SLOT_MS = 60
/** Usage is rolled up within a second. */
const ROLL_UP_MS = 3000
/** Slots that pass before the first replacement. */
const FIRST_SLOTS = 60
/** Slots that an older release stores, and this one after it. */
const RELEASE_SLOTS = 400

/** Runs the drill on the servers of `data`. */
export async function runRollingUpgrade(
  options: RollingUpgradeOptions,
): Promise<RollingUpgradeFindings> {
  const { data, seed, slots, tell } = options
  const bed = await openTestBed({
    seed,
    slots: 100 * slots,
    serversDir: data,
    addsWallet: false,
    omits: false,
    hasReversals: false,
    tell,
  })
  const next = options.from === null ? makeNextBuild() : null
  const fleet = await Fleet.create(bed.deployment.env)
  try {
    return await new RollingUpgrade(options, bed, fleet, next?.root ?? ROOT).run()
  } finally {
    await fleet.close()
    await bed.close()
    next?.remove()
  }
}

/**
 * Whether a row of an older release lacks the balance before, which it did not store, and which
 * follows from the bytes of transactions with events alone (rule K8).
 */
function isUnknown({ table, stored, expected }: Difference): boolean {
  if (table !== 'sol_balances' || stored === null || expected === null) return false
  const known = { ...expected, lamports_before: null }
  return stored.lamports_before === null && isDeepStrictEqual(stored, known)
}

class RollingUpgrade {
  readonly #options: RollingUpgradeOptions
  readonly #bed: TestBed
  readonly #fleet: Fleet
  readonly #next: string
  readonly #clock: MarketClock
  readonly #chain: TrueChain
  readonly #faults: string[] = []
  readonly #replacedMs = new Map<string, number[]>()

  constructor(options: RollingUpgradeOptions, bed: TestBed, fleet: Fleet, next: string) {
    this.#options = options
    this.#bed = bed
    this.#fleet = fleet
    this.#next = next
    this.#clock = createMarketClock(bed, options.tell)
    this.#chain = new TrueChain(bed.simulator, START_SLOT)
  }

  async run(): Promise<RollingUpgradeFindings> {
    const { tell, from } = this.#options
    const fleet = this.#fleet
    const first = from === null ? fleet.members : OLD_ROLES.flatMap((role) => fleet.of(role)[0]!)
    for (const member of first) {
      fleet.start(member, from ?? ROOT)
      await fleet.answers(member)
    }
    const apis = first.filter(({ role }) => role === 'api')
    const urls = await Promise.all(apis.map(async (one) => one.process?.line('url') ?? ''))
    const accounts: { readonly wallet: string; readonly key: string }[] = []
    for (const _ of apis) accounts.push(await this.#createAccount())
    const followers = accounts.map(
      ({ key }, place) => new Follower(new Customer(urls[place] ?? '', key), STALLED_MS),
    )
    await startMarket(
      this.#clock,
      () => followers.every(({ connections }) => connections > 0),
      () => followers.every((follower) => follower.all().length > 0),
    )
    // No API answers while an older release is stopped.
    const rest = new RestLoad(from === null ? urls : [], accounts[0]?.key ?? '')
    await this.#whileSlotsPass(() => (from === null ? this.#upgrade() : this.#exchange(first)))
    tell('settling')
    await this.#settle(followers)
    await rest.stop()
    await Promise.all(followers.map((follower) => follower.stop()))
    this.#faults.push(...rest.faults)
    for (const [place, { wallet }] of accounts.entries()) {
      const follower = followers[place]
      if (follower) this.#faults.push(...this.#feedFaults(follower))
      const paid = (follower?.all().length ?? 0) + (follower?.allLate().length ?? 0)
      await this.#checkCredits(wallet, paid + (place === 0 ? rest.calls : 0))
    }
    const rows = await this.#checkTables()
    await this.#checkLedger()
    this.#faults.push(...(await fleet.stop()))
    tell(`${fleet.takeovers} takeovers of ingest without need`)
    tell(`${rest.refused} calls were refused by a process that was being replaced`)
    const trades = followers.map((follower) => follower.all().length + follower.allLate().length)
    return { faults: this.#faults, rows, trades, calls: rest.calls, replacedMs: this.#replacedMs }
  }

  /** Replaces every process: forwards, back, and forwards again for good. */
  async #upgrade(): Promise<void> {
    const { tell } = this.#options
    const readersFirst = (['workers', 'api', 'webhooks', 'ingest'] as const).flatMap((role) =>
      this.#fleet.of(role),
    )
    const writersFirst = [...readersFirst].reverse()
    await this.#pass(FIRST_SLOTS)
    await this.#migrate(NEXT_SCHEMA)
    for (const member of readersFirst) await this.#replace(member, 'next', this.#next)
    for (const member of writersFirst) await this.#replace(member, 'present', ROOT)
    for (const member of readersFirst) await this.#replace(member, 'next', this.#next)
    for (const member of this.#fleet.of('ingest'))
      await this.#replace(member, `format ${NEXT_FORMAT}`, this.#next, {
        KAFKA_LOG_FORMAT: String(NEXT_FORMAT),
      })
    tell(`waiting for swaps with ${NEXT_COLUMN}`)
    const { query } = this.#bed.deployed
    const sql = `SELECT count() AS noted FROM swaps WHERE ${NEXT_COLUMN} = ${NOTE}`
    await until(
      async () => Number((await query<{ noted: string }>(sql))[0]?.noted),
      (noted) => noted > 0,
    )
    await this.#tooLate(readersFirst[0])
  }

  /**
   * Stops every process of the older release, applies the schema, and starts two processes of each
   * role. Then decodes again what the older decoder decoded.
   */
  async #exchange(old: readonly Member[]): Promise<void> {
    const { tell } = this.#options
    await this.#pass(RELEASE_SLOTS)
    for (const member of old) await this.#fleet.end(member)
    tell('the older release is stopped')
    await this.#migrate('"compatible":false')
    const startedAt = performance.now()
    for (const member of this.#fleet.members) this.#fleet.start(member, ROOT)
    const ready = this.#fleet.members.map(async (member) => {
      await this.#fleet.ready(member)
      this.#noteReplaced(member.role, performance.now() - startedAt)
    })
    await Promise.all(ready)
    tell('every process of this release is ready')
    await this.#pass(RELEASE_SLOTS)
    tell(`redecode: ${JSON.stringify(await this.#operator('redecode'))}`)
  }

  #noteReplaced(role: string, ms: number): void {
    this.#replacedMs.set(role, [...(this.#replacedMs.get(role) ?? []), ms])
  }

  /** An older worker that is started now stops before entries of the new format (rule K18). */
  async #tooLate(worker: Member | undefined): Promise<void> {
    if (worker === undefined) return
    const { tell } = this.#options
    await this.#fleet.exchange(worker, ROOT)
    const said = await until(
      () => readiness(worker),
      (text) => text.includes(`has an entry of format ${NEXT_FORMAT}`),
    )
    tell(`an older worker waits: ${said}`)
    await this.#replace(worker, 'next', this.#next)
  }

  async #replace(
    member: Member,
    name: string,
    root: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const ms = await this.#fleet.replace(member, root, env)
    const { role } = member
    this.#noteReplaced(role, ms)
    this.#options.tell(`${role} replaced by the ${name} build in ${(ms / 1000).toFixed(1)} s`)
    await this.#pass(this.#options.slots)
  }

  /** Applies the schema of the next build. Its plan names `expected`. */
  async #migrate(expected: string): Promise<void> {
    const { env } = this.#bed.deployment
    for (const args of [['migrate', '--plan'], ['migrate']]) {
      const { code, document } = await commandOutcome(startOperator(env, args, this.#next))
      const text = JSON.stringify(document)
      this.#options.tell(`${args.join(' ')}: ${text}`)
      const isPlanned = args.length === 1 || text.includes(expected)
      if (code !== 0 || !isPlanned) this.#faults.push(`${args.join(' ')}: ${text}`)
    }
  }

  /** Lets slots pass, at most as fast as they are stored, until the work is done. */
  async #whileSlotsPass(work: () => Promise<void>): Promise<void> {
    let isDone = false
    const done = work().finally(() => {
      isDone = true
    })
    done.catch(() => {}) // awaited below
    while (!isDone) {
      this.#fleet.supervise()
      await runTo(this.#clock, this.#bed.simulator.slot + 5, SLOT_MS)
    }
    await done
  }

  /** Resolves when so many slots have passed, and nearly all of them are stored. */
  async #pass(slots: number): Promise<void> {
    const { simulator } = this.#bed
    const end = simulator.slot + slots
    while (simulator.slot < end) await pause(SLOT_MS)
    await catchUp(this.#clock)
    this.#fleet.supervise()
  }

  async #settle(followers: readonly Follower[]): Promise<void> {
    const { query } = this.#bed.deployed
    const missing = async () => {
      this.#fleet.supervise()
      await leaveUntraded(query, this.#chain)
      const faults = followers.flatMap((follower) => this.#feedFaults(follower))
      const trades = faults.filter((text) => text.includes('missing')).length
      return { trades, ...(await missingFacts(query, this.#chain)) }
    }
    this.#faults.push(...(await settle(this.#clock, this.#chain, TRACKED_WALLETS, missing)))
  }

  #feedFaults(follower: Follower): string[] {
    const received = { trades: [...follower.all()], late: [...follower.allLate()] }
    return feedChecks({ received }, this.#chain, { seed: this.#options.seed, hole: null })
  }

  async #checkTables(): Promise<number> {
    const isExpected = this.#options.from === null ? undefined : isUnknown
    const { faults, rows } = await compareWithChain(this.#bed, this.#chain, isExpected)
    this.#faults.push(...faults)
    return rows
  }

  async #createAccount(): Promise<{ readonly wallet: string; readonly key: string }> {
    const wallet = bs58.encode(randomBytes(32))
    const args = ['account', 'create', '--wallet', wallet, '--credits', String(GRANTED)]
    const { env } = this.#bed.deployment
    const operator = (...words: string[]) =>
      commandOutcome(startOperator(env, words, this.#options.from ?? ROOT))
    return { wallet, key: String((await runOperator({ operator }, ...args)).api_key) }
  }

  async #checkCredits(wallet: string, used: number): Promise<void> {
    const shown = await this.#operator('account', 'show', '--wallet', wallet)
    const paid = GRANTED - Number(shown.balance_credits)
    if (paid !== used) this.#faults.push(`a customer pays ${paid} credits, expected ${used}`)
  }

  async #checkLedger(): Promise<void> {
    await pause(ROLL_UP_MS)
    this.#faults.push(...(await this.#bed.deployment.ledgerFaults()))
  }

  #operator(...args: string[]): Promise<Record<string, unknown>> {
    return runOperator(this.#bed.deployment, ...args)
  }
}
