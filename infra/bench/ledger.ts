import { randomUUID } from 'node:crypto'
import { Ledger } from '../../api/credits/ledger.ts'
import { readTotals } from '../../api/credits/ledger-entries.ts'
import { makeSums } from '../../api/credits/ledger-sums.ts'
import { createMemoryMeter } from '../../api/credits/memory.ts'
import type { Meter } from '../../api/credits/meter.ts'
import { createRedisMeter } from '../../api/credits/redis.ts'
import { createLogger } from '../../pipeline/runtime/logger.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { withClickHouse } from './kit/clickhouse.ts'
import { percentiles, printHead, printRow } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'

const USAGE = `usage: npm run bench -- ledger [--accounts N] [--days N] [--others N]
  --accounts N   accounts that use credits in every hour (1000)
  --days N       days of use (365)
  --others N     accounts with a grant alone (100000)`

const LOADS = 200

/**
 * Size of the ledger after a year, and the time to load an account from it, to load every account
 * at once as after Redis lost its data, to add a second of usage, and to check all accounts. What
 * an account has is read from its running sums, and, to compare, by adding up its entries. The
 * meter is that of `REDIS_URL` or in memory.
 */
export async function run(args: readonly string[]): Promise<void> {
  const read = readOptions(args, USAGE, { accounts: 1000, days: 365, others: 100_000 })
  if (read === null) return
  await withClickHouse((store) => measure(store, read.options))
}

async function measure(
  store: Store,
  { accounts, days, others }: { accounts: number; days: number; others: number },
): Promise<void> {
  await fill(store, accounts, days)
  const made = await timesOf(1, () => makeSums(store))
  await addOthers(store, accounts, others)
  const meter = await openEmptyMeter()
  const ledger = new Ledger({ store, meter })
  printHead('what', 'entries', 'MiB', 'p50 ms', 'p99 ms', 'rows read')
  printRow('ledger', ...(await sizeOf(store)), '', '', '')
  printRow('running sums of a ledger without', '', '', ...made, '')
  for (const from of ['entries', 'sums'] as const) {
    const before = await rowsSelected(store)
    const times = await timesOf(LOADS, (n) =>
      readTotals(store, 'epoch', { accounts: [nameOf(n % accounts)] }, from),
    )
    const rows = Math.round(((await rowsSelected(store)) - before) / LOADS)
    printRow(`state of an account, from ${from}`, '', '', ...times, rows)
  }
  const loads = await timesOf(LOADS, (n) => ledger.load(nameOf(n % accounts)))
  printRow('load of an account', '', '', ...loads, '')
  const empty = await openEmptyMeter()
  const reloading = new Ledger({ store, meter: empty })
  const names = Array.from({ length: accounts + others }, (_, n) => nameOf(n))
  const all = await timesOf(1, () => Promise.all(names.map((name) => reloading.load(name))))
  await empty.close()
  printRow(`load of ${names.length} accounts at once`, '', '', ...all, '')
  const rollUps = await timesOf(20, async () => {
    for (let n = 0; n < accounts; n += 1) await meter.charge(nameOf(n), 1, `${Math.random()}`)
    await ledger.rollUp()
  })
  printRow(`charges and roll-up of ${accounts} accounts`, '', '', ...rollUps, '')
  printRow('check of all accounts', '', '', ...(await timesOf(3, () => ledger.check())), '')
  await meter.close()
}

/** A meter that knows no account. */
async function openEmptyMeter(): Promise<Meter> {
  const { REDIS_URL } = process.env
  if (REDIS_URL === undefined) return createMemoryMeter()
  const prefix = `bench:{${randomUUID()}}:`
  return createRedisMeter(new URL(REDIS_URL), { logger: createLogger('warn') }, { prefix })
}

/** Rows that the server has read for queries since it started. */
async function rowsSelected(store: Store): Promise<number> {
  const [row] = await store.query<{ rows: string }>(
    "SELECT sum(value) AS rows FROM system.events WHERE event = 'SelectedRows'",
  )
  return Number(row?.rows)
}

/** An address has 44 characters. */
function nameOf(account: number): string {
  return `account${account}`.padEnd(44, 'x')
}

/** Entries of accounts that use some credits in each hour, and top them up each day. */
async function fill(store: Store, accounts: number, days: number): Promise<void> {
  const name = "rightPad(concat('account', toString(intDiv(number, {each:UInt32}))), 44, 'x')"
  const columns = 'wallet, idempotency_key, credits, cause, reason, usage_ms, created_at'
  const epoch = '5b0d3c1e-1111-4c6b-9d57-0c6a2b9d1f00'
  await store.command(
    `INSERT INTO ledger_entries (${columns})
     SELECT ${name}, concat('usage:${epoch}:', toString(490000 + number % {each:UInt32})),
       -1 - toInt64(cityHash64(number) % 50000), 'usage', '', 3599000 * 1099511627776 + number,
       toDateTime64((490000 + number % {each:UInt32}) * 3600 + 3599, 3, 'UTC')
     FROM numbers({rows:UInt64})`,
    { each: days * 24, rows: accounts * days * 24 },
  )
  await store.command(
    `INSERT INTO ledger_entries (${columns})
     SELECT ${name}, concat('deposit:', toString(number)), 1200000, 'deposit', '', 0,
       toDateTime64((490000 + 24 * (number % {each:UInt32})) * 3600, 3, 'UTC')
     FROM numbers({rows:UInt64})`,
    { each: days, rows: accounts * days },
  )
}

/** Accounts from the number `first` on, each with a grant. */
async function addOthers(store: Store, first: number, others: number): Promise<void> {
  const ledger = new Ledger({ store, meter: createMemoryMeter() })
  for (let n = 0; n < others; n += 10_000) {
    const some = Array.from({ length: Math.min(10_000, others - n) }, (_, at) => n + at)
    await ledger.append(
      some.map((at) => {
        const account = nameOf(first + at)
        return { account, key: 'created', credits: 1000, cause: 'grant', reason: '' } as const
      }),
    )
  }
}

async function sizeOf(store: Store): Promise<[rows: string, mebibytes: string]> {
  const [size] = await store.query<{ entries: string; bytes: string }>(
    `SELECT sum(rows) AS entries, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'ledger_entries'`,
  )
  return [size?.entries ?? '', (Number(size?.bytes) / 2 ** 20).toFixed(1)]
}

async function timesOf(
  rounds: number,
  work: (n: number) => Promise<unknown>,
): Promise<[p50: string, p99: string]> {
  const times: number[] = []
  for (let n = 0; n < rounds; n += 1) {
    const startedAt = performance.now()
    await work(n)
    times.push(performance.now() - startedAt)
  }
  const [p50 = 0, p99 = 0] = percentiles(times, 0.5, 0.99)
  return [p50.toFixed(1), p99.toFixed(1)]
}
