import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@clickhouse/client'
import anyTest, { type ExecutionContext } from 'ava'
import { Kafka, logLevel } from 'kafkajs'
import { type ContractTrade, type Customer, until } from './customer.ts'
import { type Deployment, deploy, WHY_NO_SERVERS } from './deployment.ts'
import { Follower } from './follower.ts'
import { marketTruth } from './market-truth.ts'
import { type ServiceProcess, startProcess } from './service-process.ts'

/*
 * Kafka and ClickHouse never disagree in silence (rule K10): the topic is deleted and created again
 * while the service is down, and ClickHouse is restored from an older copy. Afterwards nothing is
 * missing, and the feed has sent nothing twice.
 */

const test = WHY_NO_SERVERS === '' ? anyTest.serial : anyTest.serial.skip
const why = WHY_NO_SERVERS === '' ? '' : ` (skipped: ${WHY_NO_SERVERS})`

const SEED = 11
const SLOTS_AWAY = 10
const ALL = ['api', 'workers', 'ingest'] as const
const truth = marketTruth(SEED)

let simulator: ServiceProcess
let deployment: Deployment
let customer: Customer
let follower: Follower
/** A restart also stores transactions from before the first start. */
let oldest: ContractTrade | undefined

anyTest.before('a market and three processes', async () => {
  if (WHY_NO_SERVERS !== '') return
  simulator = startProcess('infra/simulator/main.js', {}, ['--seed', String(SEED)])
  deployment = await deploy('servers', truth.wallets, {
    YELLOWSTONE_ENDPOINT: await simulator.line('YELLOWSTONE_ENDPOINT'),
    SOLANA_RPC_URL: await simulator.line('SOLANA_RPC_URL'),
    SOL_PRICE_POOL: await simulator.line('SOL_PRICE_POOL'),
    PORT: String(API_PORT),
  })
  const key = await deployment.createAccount(1_000_000)
  for (const role of ALL) deployment.start(role)
  customer = await deployment.customer(key)
  follower = new Follower(customer, 120_000)
  oldest = (await until(storedTrades, (trades) => trades.length > 0))[0]
})

anyTest.after.always('stop', async () => {
  if (WHY_NO_SERVERS !== '') return
  await follower?.stop()
  await deployment?.remove()
  await simulator?.kill()
})

/** The follower comes back to the same address. Below the kernel's ports for clients. */
const API_PORT = 26_990

async function storedTrades(): Promise<ContractTrade[]> {
  const { trades } = await customer.walkTrades()
  return trades.reverse()
}

async function storedSlot(): Promise<number> {
  const { body } = await customer.get<{ storage: { slot: number | null } }>('/status')
  return body.storage.slot ?? 0
}

async function slotsPass(count: number): Promise<void> {
  const end = truth.slotAt(Date.now()) + count
  await until(
    async () => truth.slotAt(Date.now()),
    (slot) => slot >= end,
  )
}

async function stop(...roles: readonly (typeof ALL)[number][]): Promise<void> {
  for (const role of roles) await deployment.processes.get(role)?.stop()
}

/** Resolves when the API listens. */
async function startAll(): Promise<void> {
  for (const role of ALL) deployment.start(role)
  await deployment.processes.get('api')?.line('url')
}

interface WalletItem {
  readonly complete_since: number | null
  readonly gaps: readonly unknown[]
}

async function wallets(): Promise<readonly WalletItem[]> {
  const { code, document } = await deployment.operator('wallets')
  if (code !== 0) throw new Error(JSON.stringify(document))
  return (document as { items: WalletItem[] }).items // rule J3
}

const firstSlot = truth.slotAt(Date.now()) - 5

/** Checks that storage has every trade up to now, and that the feed has sent none twice. */
async function isWhole(t: ExecutionContext): Promise<void> {
  const now = truth.slotAt(Date.now())
  await until(storedSlot, (slot) => slot >= now)
  await until(wallets, (items) => items.every(({ gaps }) => gaps.length === 0))
  const since = (trades: readonly ContractTrade[]) =>
    trades.slice(trades.findIndex((trade) => isDeepStrictEqual(trade, oldest)))
  const stored = since(await storedTrades())
  const market = since(truth.trades(firstSlot, truth.slotAt(Date.now()) + 5))
  t.deepEqual(stored, market.slice(0, stored.length))
  t.true(stored.length >= since(truth.trades(firstSlot, now)).length)
  const sent = follower.allIds()
  t.is(new Set(sent).size, sent.length, 'no trade was sent twice')
}

test(`a topic that was deleted and created again while the service was down is a hole, which is backfilled and never sent (rule K10)${why}`, async (t) => {
  const since = (await wallets()).map((item) => item.complete_since)
  await stop('workers')
  await slotsPass(SLOTS_AWAY) // these are sent, and never stored from the log
  await stop('ingest', 'api')
  const sentBefore = follower.all().length
  await deleteTopic()
  await slotsPass(SLOTS_AWAY)
  await startAll()
  await isWhole(t)
  t.deepEqual(
    (await wallets()).map((item) => item.complete_since),
    since,
    'coverage is as before',
  )
  const [gap] = await until(
    async () => follower.feeds.flatMap(({ notices }) => notices.filter(isGap)),
    (gaps) => gaps.length > 0,
  )
  t.truthy(gap, 'the follower was told')
  const market = truth.trades(firstSlot, truth.slotAt(Date.now()) + 5)
  const indexes = follower
    .all()
    .slice(sentBefore - 1)
    .map((sent) => market.findIndex((trade) => isDeepStrictEqual(trade, sent)))
  const [before = 0, after = 0] = indexes
  t.true(after > before + 1, 'trades of the hole were not sent')
})

const isGap = ({ type }: { readonly type?: string }) => type === 'gap'

async function deleteTopic(): Promise<void> {
  const { KAFKA_BROKERS = '', KAFKA_TOPIC_PREFIX } = deployment.env
  const kafka = new Kafka({ brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  await admin.deleteTopics({ topics: [`${KAFKA_TOPIC_PREFIX}wallet-events`] })
  await admin.disconnect()
}

test(`ClickHouse restored from an older copy is filled again from the log, without a hole (rule K10)${why}`, async (t) => {
  await stop('workers')
  const copy = await copyTables()
  deployment.start('workers')
  const now = truth.slotAt(Date.now()) + SLOTS_AWAY
  await until(storedSlot, (slot) => slot >= now)
  await stop(...ALL)
  await copy.restore()
  await startAll()
  await isWhole(t)
  const { document } = await deployment.operator(
    'sql',
    `SELECT count() AS holes FROM backfills FINAL WHERE reason = 'gap' AND created_at > ${copy.at}`,
  )
  t.deepEqual((document as { items: unknown }).items, [{ holes: '0' }])
})

/** Copies all tables to another database. `restore` replaces them with the copy. */
async function copyTables() {
  const url = new URL(deployment.env.CLICKHOUSE_URL ?? '')
  const name = url.pathname.slice(1)
  const client = createClient({ url: new URL('/', url) })
  const run = (query: string) => client.command({ query })
  const found = await client.query({
    query: `SELECT name FROM system.tables WHERE database = '${name}' AND engine LIKE '%MergeTree'`,
    format: 'JSONEachRow',
  })
  const tables = (await found.json<{ name: string }>()).map((table) => table.name)
  const copy = `${name}_copy`
  await run(`CREATE DATABASE ${copy}`)
  for (const table of tables) {
    await run(`CREATE TABLE ${copy}.${table} AS ${name}.${table}`)
    await run(`ALTER TABLE ${copy}.${table} ATTACH PARTITION ALL FROM ${name}.${table}`)
  }
  return {
    at: Math.floor(Date.now() / 1000),
    async restore() {
      for (const table of tables) {
        await run(`TRUNCATE TABLE ${name}.${table}`)
        await run(`ALTER TABLE ${name}.${table} ATTACH PARTITION ALL FROM ${copy}.${table}`)
      }
      await run(`DROP DATABASE ${copy}`)
      await client.close()
    },
  }
}
