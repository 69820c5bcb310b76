import { randomBytes } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@clickhouse/client'
import bs58 from 'bs58'
import { connectRedis } from '../../../api/redis-connection.ts'
import { createKafkaClient, withAdmin } from '../../../pipeline/log/kafka-client.ts'
import { walletEventsTopic } from '../../../pipeline/log/topics.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { startServers, stopServers } from '../../servers/servers.ts'
import { catchUp, type MarketClock, runTo, settle, startMarket } from '../../simulate/clock.ts'
import { leaveUntraded, missingFacts } from '../../simulate/compare-facts.ts'
import {
  createMarketClock,
  openTestBed,
  START_SLOT,
  type TestBed,
  TRACKED_WALLETS,
} from '../../simulate/test-bed.ts'
import { TrueChain } from '../../simulate/true-chain.ts'
import type { Customer } from '../../whole-service/customer.ts'
import { compareWithChain } from './compare-with-chain.ts'
import { Following, feedChecks } from './resumed-feed.ts'
import { runOperator } from './run-operator.ts'

/** A case of the drill. */
export interface RestoreCase {
  /** Folder of servers. */
  readonly data: string
  readonly seed: number
  /** Slots before the first backup, and after the second, which is on top of it. */
  readonly slots: number
  /** What is left of the log: all of it, a copy that is older than the backup, or nothing. */
  readonly kafka: 'newer' | 'older' | 'gone'
  readonly redis: 'kept' | 'lost'
  readonly tell: (line: string) => void
}

/** What a case found. */
export interface RestoreFindings {
  readonly faults: readonly string[]
  /** Rows of the compared tables at the end. */
  readonly rows: number
  readonly backupSeconds: number
  readonly restoreSeconds: number
  /** From the start of the processes until every table had everything. */
  readonly recoverySeconds: number
  /** Credits used after the backup that nobody pays for. */
  readonly forgiven: number
}

const GRANTED = 100_000
const GRANTED_LATER = 500
const SLOT_MS = 60
/** Slots while the backup runs, and between the copy of Kafka and the backup. */
const SOME_SLOTS = 40
/** The market's trouble ends before; what comes late then comes at most 12 slots late. */
const CALM_SLOTS = 20
/** Usage is rolled up within a second. */
const ROLL_UP_MS = 3000
/** Longest time until a feed that resumed has sent the newest trade. */
const RESUMED_MS = 30_000

/** Runs one case from an empty service to the comparison after the restore. */
export async function runRestoreCase(options: RestoreCase): Promise<RestoreFindings> {
  const { data, seed, slots, tell } = options
  const bed = await openTestBed({
    seed,
    slots: troubledSlots(slots),
    serversDir: data,
    addsWallet: false,
    omits: false,
    hasReversals: false,
    tell,
  })
  try {
    return await new Drill(options, bed).run()
  } finally {
    await bed.close()
  }
}

/** Slots from the start of the market to the end of its trouble; `slots` as in `RestoreCase`. */
function troubledSlots(slots: number): number {
  return 3 * slots + 2 * SOME_SLOTS
}

function newBackup(): string {
  return `drill-${randomBytes(6).toString('hex')}`
}

/** One run of a case. */
class Drill {
  readonly #options: RestoreCase
  readonly #bed: TestBed
  readonly #clock: MarketClock
  readonly #chain: TrueChain
  readonly #wallet = bs58.encode(randomBytes(32))
  readonly #faults: string[] = []
  /** Credits that the customer's calls cost. */
  #calls = 0
  #isCalling = true
  /** The newest slot when Kafka was copied. */
  #copiedSlot = Number.POSITIVE_INFINITY

  constructor(options: RestoreCase, bed: TestBed) {
    this.#options = options
    this.#bed = bed
    this.#clock = createMarketClock(bed, options.tell)
    this.#chain = new TrueChain(bed.simulator, START_SLOT)
  }

  async run(): Promise<RestoreFindings> {
    const { slots, tell, kafka } = this.#options
    const { deployment, deployed, parts, simulator } = this.#bed
    for (const part of parts) deployed.start(part)
    await deployed.listens('api')
    const key = await this.#createAccount(this.#wallet)
    const early = new Following(await deployment.customer(await this.#createAccount()))
    const follower = new Following(await deployment.customer(key))
    await early.open()
    await follower.open()
    await startMarket(
      this.#clock,
      () => true,
      () => follower.received.trades.length > 0,
    )
    const calling = this.#call(await deployment.customer(key))
    await this.#pass(slots)
    const base = newBackup()
    await this.#operator('backup', '--to', base)
    if (kafka === 'older') await this.#copyKafka()
    await this.#pass(SOME_SLOTS)
    await early.close()
    const spentBefore = this.#spent(follower)
    await pause(ROLL_UP_MS)
    tell('backing up')
    const name = newBackup()
    const [backup] = await Promise.all([
      this.#operator('backup', '--to', name, '--base', base),
      this.#pass(SOME_SLOTS),
    ])
    const spentAtBackup = this.#spent(follower)
    await this.#pass(slots)
    await this.#grantLater()
    this.#isCalling = false
    await calling
    await follower.close()
    await pause(ROLL_UP_MS)
    const spent = this.#spent(follower)
    for (const part of parts) await deployed.do({ act: 'kill', part, at: 0 })
    await this.#lose()
    tell(
      `restoring slot +${Number(backup.storage_slot) - START_SLOT} of ${simulator.slot - START_SLOT}`,
    )
    const restored = await this.#operator('restore', '--from', name)
    this.#checkGrants(restored.lost_grants)
    const startedAt = Date.now()
    for (const part of parts) await deployed.do({ act: 'start', part, at: 0 })
    await this.#settle()
    const recoverySeconds = Math.round((Date.now() - startedAt) / 100) / 10
    tell('settled')
    const rows = await this.#compareTables()
    const forgiven = await this.#checkCredits({ spentBefore, spentAtBackup, spent })
    await this.#checkFeeds([early, follower], Number(backup.storage_slot))
    await this.#checkLedger()
    return {
      faults: this.#faults,
      rows,
      backupSeconds: Number(backup.seconds),
      restoreSeconds: Number(restored.seconds),
      recoverySeconds,
      forgiven,
    }
  }

  #operator(...args: string[]): Promise<Record<string, unknown>> {
    return runOperator(this.#bed.deployment, ...args)
  }

  async #createAccount(wallet = bs58.encode(randomBytes(32))): Promise<string> {
    const args = ['account', 'create', '--wallet', wallet, '--credits', String(GRANTED)]
    return String((await this.#operator(...args)).api_key)
  }

  async #grantLater(): Promise<void> {
    const args = ['--wallet', this.#wallet, '--credits', String(GRANTED_LATER)]
    await this.#operator('account', 'credit', ...args, '--reason', 'drill')
  }

  /** Lets slots pass, and waits until they are stored. */
  async #pass(slots: number): Promise<void> {
    await runTo(this.#clock, this.#bed.simulator.slot + slots, SLOT_MS)
    await catchUp(this.#clock)
  }

  /** Calls an endpoint of one credit, one call after the other. */
  async #call(customer: Customer): Promise<void> {
    while (this.#isCalling) {
      const { status } = await customer.get('/wallets')
      if (status === 200) this.#calls += 1
      else this.#faults.push(`a call was answered with ${status}`)
      await pause(100)
    }
  }

  #spent({ received }: Following): number {
    return this.#calls + received.trades.length + received.late.length
  }

  #copyOfKafka(): { readonly from: string; readonly to: string } {
    const folder = join(this.#options.data, 'kafka')
    return { from: join(folder, 'data'), to: join(folder, 'drill-copy') }
  }

  /** Copies the files of Kafka while it is stopped. The service waits for it meanwhile. */
  async #copyKafka(): Promise<void> {
    const { data } = this.#options
    const { from, to } = this.#copyOfKafka()
    this.#copiedSlot = this.#bed.position.slot ?? START_SLOT
    await stopServers(data, { only: 'kafka' })
    rmSync(to, { recursive: true, force: true })
    cpSync(from, to, { recursive: true, preserveTimestamps: true })
    await startServers(data, { only: 'kafka' })
  }

  /** Empties ClickHouse, and loses of Kafka and Redis what the case loses. */
  async #lose(): Promise<void> {
    const { kafka, redis, data } = this.#options
    const { env } = this.#bed.deployment
    const url = new URL(env.CLICKHOUSE_URL ?? '')
    const database = url.pathname.slice(1)
    const client = createClient({ url: new URL('/', url) })
    for (const name of [`analyst_${database}`, database])
      await client.command({ query: `DROP DATABASE ${name} SYNC` })
    await client.close()
    if (redis === 'lost') {
      const connection = await connectRedis(new URL(env.REDIS_URL ?? ''), createLogger('silent'))
      await connection.flushdb()
      connection.disconnect()
    }
    if (kafka === 'gone') await deleteTopic(env)
    if (kafka === 'older') {
      const { from, to } = this.#copyOfKafka()
      await stopServers(data, { only: 'kafka' })
      rmSync(from, { recursive: true })
      cpSync(to, from, { recursive: true, preserveTimestamps: true })
      await startServers(data, { only: 'kafka' })
    }
  }

  async #settle(): Promise<void> {
    const { query } = this.#bed.deployed
    const missing = async () => {
      await leaveUntraded(query, this.#chain)
      return missingFacts(query, this.#chain)
    }
    this.#faults.push(...(await settle(this.#clock, this.#chain, TRACKED_WALLETS, missing)))
  }

  /** Compares every table with the slow reference; returns the number of rows. */
  async #compareTables(): Promise<number> {
    const { faults, rows } = await compareWithChain(this.#bed, this.#chain)
    this.#faults.push(...faults)
    return rows
  }

  /** With Redis the grant after the backup is listed. It is repeated here in any case. */
  #checkGrants(listed: unknown): void {
    const grant = { wallet: this.#wallet, credits: GRANTED_LATER }
    const expected = this.#options.redis === 'kept' ? [grant] : []
    if (JSON.stringify(listed) !== JSON.stringify(expected))
      this.#faults.push(`lost grants: ${JSON.stringify(listed)}`)
  }

  /** Checks the balance; returns how many credits are not paid for. */
  async #checkCredits(used: Readonly<Record<'spentBefore' | 'spentAtBackup' | 'spent', number>>) {
    await this.#grantLater()
    const shown = await this.#operator('account', 'show', '--wallet', this.#wallet)
    const paid = GRANTED + GRANTED_LATER - Number(shown.balance_credits)
    const [least, most] =
      this.#options.redis === 'kept'
        ? [used.spent, used.spent]
        : [used.spentBefore, used.spentAtBackup]
    if (paid < least || paid > most)
      this.#faults.push(`the customer pays ${paid} credits, expected ${least} to ${most}`)
    return used.spent - paid
  }

  async #checkLedger(): Promise<void> {
    await pause(ROLL_UP_MS)
    this.#faults.push(...(await this.#bed.deployment.ledgerFaults()))
  }

  /** Resumes both feeds, one from before the backup, one from after it. */
  async #checkFeeds(feeds: readonly Following[], backupSlot: number): Promise<void> {
    const { seed, slots, kafka } = this.#options
    const restartSlot = this.#bed.simulator.slot
    for (const feed of feeds) await feed.open()
    const calmSlot = START_SLOT + troubledSlots(slots) + CALM_SLOTS
    await this.#pass(Math.max(SOME_SLOTS, calmSlot - restartSlot))
    this.#chain.catchUp(TRACKED_WALLETS)
    for (const deadline = Date.now() + RESUMED_MS; Date.now() < deadline; await pause(200))
      if (feeds.every((feed) => feed.hasReached(this.#chain))) break
    // The feed never sends what was in a hole (rule K10).
    const from = Math.min(backupSlot, this.#copiedSlot)
    const hole = kafka === 'newer' ? null : { from, to: restartSlot }
    for (const feed of feeds) {
      await feed.close()
      this.#faults.push(...feedChecks(feed, this.#chain, { seed, hole }))
    }
  }
}

async function deleteTopic(env: Readonly<Record<string, string>>): Promise<void> {
  const { KAFKA_BROKERS = '', KAFKA_TOPIC_PREFIX: topicPrefix = '' } = env
  const config = { brokers: KAFKA_BROKERS.split(','), topicPrefix, ssl: false, sasl: null }
  await withAdmin(createKafkaClient(config, createLogger('silent')), (admin) =>
    admin.deleteTopics({ topics: [walletEventsTopic(topicPrefix).name] }),
  )
}
