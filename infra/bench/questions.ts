import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { analystDatabase } from '../../pipeline/store/migrate.ts'
import { SQL_FOLDER } from '../../pipeline/store/schema-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { insertProgress } from '../../pipeline/store/tables/progress.ts'
import { makeEventIdKey } from '../../pipeline/workers/fold/event-id-key.ts'
import { Roller } from '../../pipeline/workers/rollups/roller.ts'
import { withClickHouse } from './kit/clickhouse.ts'
import { median, printHead, printRow } from './kit/figures.ts'
import { readOptions } from './kit/options.ts'

const USAGE = `usage: npm run bench -- questions [--swaps N] [--days N] [--wallets N] [--before FILE]
  --swaps N       stored swaps (10000000)
  --days N        days of history before 12 January 2026 (36: as many a day as 100 million a year)
  --wallets N     wallets (1000)
  --before FILE   another docs/tables.md, whose queries are measured too`

const ROUNDS = 3
const ROWS_PER_INSERT = 200_000
const END = Date.parse('2026-01-12T00:00:00Z') / 1000
const FIRST_SLOT = 300_000_000

/**
 * Time of each query of docs/tables.md over a large history, of the roller's first pass over it,
 * and of one after a late swap and one after a new one.
 */
export async function run(args: readonly string[]): Promise<void> {
  const defaults = { swaps: 10_000_000, days: 36, wallets: 1000, before: '' }
  const read = readOptions(args, USAGE, defaults)
  if (read === null) return
  const { swaps, days, wallets, before } = read.options
  await withClickHouse(async (store) => {
    await fill(store, swaps, days, wallets)
    await measurePasses(store, swaps, days)
    await measureQuestions(store, before)
  })
}

async function measurePasses(store: Store, swaps: number, days: number): Promise<void> {
  // A short overlap, because all rows were written lately.
  const roller = new Roller(store, () => true, 1000)
  async function passTime(): Promise<string> {
    const startedAt = performance.now()
    await roller.pass()
    return ((performance.now() - startedAt) / 1000).toFixed(1)
  }
  const [stored] = await store.query<{ mints: string; positions: string }>(
    'SELECT uniq(mint) AS mints, count() AS positions FROM positions',
  )
  printHead('pass', 'seconds')
  printRow(`first, ${stored?.mints} tokens, ${stored?.positions} positions`, await passTime())
  printRow('nothing new', await passTime())
  await insertSwaps(store, swaps, days, 1, { from: swaps, rows: 10 })
  printRow('ten new swaps', await passTime())
  await insertSwaps(store, swaps, days, 1, { from: swaps >> 1, rows: 10 }, 1)
  printRow('ten corrected swaps of the middle', await passTime())
}

async function measureQuestions(store: Store, before: string): Promise<void> {
  const [own] = await store.query<{ name: string }>('SELECT currentDatabase() AS name')
  const database = analystDatabase(own?.name ?? '')
  const earlier = new Map(before === '' ? [] : readQuestions(before))
  printHead('query', 'ms', ...(before === '' ? [] : ['ms before']))
  for (const [title, sql] of readQuestions(join(SQL_FOLDER, '../docs/tables.md'))) {
    const old = earlier.get(title)
    const now = await timeOf(store, sql, database)
    printRow(title, now, ...(old ? [old === sql ? now : await timeOf(store, old, database)] : []))
  }
}

function readQuestions(file: string): [title: string, sql: string][] {
  return [...readFileSync(file, 'utf8').matchAll(/^### (.*?)\n.*?^```sql\n(.*?)^```/gms)].map(
    ([, title = '', sql = '']) => [title, sql],
  )
}

/** The median of some rounds in milliseconds, or why there is no answer. */
async function timeOf(store: Store, sql: string, analyst: string): Promise<string> {
  const times: number[] = []
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedAt = performance.now()
      await store.query(sql.replaceAll('analyst.', `${analyst}.`))
      times.push(performance.now() - startedAt)
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return `no answer: ${error.context?.code ?? error.code}`
  }
  return median(times).toFixed(0)
}

/** Random by `n` and a number. */
const random = (n: number) => `cityHash64(number, ${n})`

/**
 * A third of swaps are of 1,000 tokens that live for ever, some far more than others, and of every
 * wallet. The others are of tokens of which one is launched every 100 swaps and traded for the next
 * 30,000 by 60 wallets.
 */
const IS_OLD = `${random(1)} % 3 = 0`
const LAUNCH = `(intDiv(number, 100) + 300 - ${random(2)} % 300)`
const MINT = `multiIf(
    ${random(1)} % 99 = 0, 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    ${IS_OLD}, rightPad(concat('old', toString(bitAnd(${random(2)} % 1000, ${random(3)} % 1024))), 44, 'x'),
    rightPad(concat('new', toString(${LAUNCH})), 44, 'x'))`
const WALLET = `1 + if(${IS_OLD}, ${random(4)}, 7 * ${LAUNCH} + 13 * (${random(4)} % 60)) % {wallets:UInt32}`

interface Range {
  readonly from: number
  readonly rows: number
}

async function insertSwaps(
  store: Store,
  swaps: number,
  days: number,
  wallets: number,
  { from, rows }: Range,
  version = 0,
): Promise<void> {
  await store.command(
    `INSERT INTO swaps (slot, tx_index, wallet, event_index, block_time, signature, side, base_mint,
       base_amount, base_decimals, quote_mint, quote_amount, program, program_id, confidence,
       quote_mismatch, fee_lamports, sol_price_usd_e9, value_lamports, version)
     SELECT ${FIRST_SLOT} + number, 1, ${WALLET}, 0,
       ${END} - {seconds:UInt32} + intDiv(number * {seconds:UInt32}, {swaps:UInt64}),
       leftPad(toString(${random(5)}), 88, 'x'), if(${random(6)} % 9 < 5, 'buy', 'sell'), ${MINT},
       1 + ${random(7)} % 1000000000, 6, 'So11111111111111111111111111111111111111112',
       ${random(8)} % 5000000000 AS paid, ['pumpswap', 'raydium', 'orca'][1 + ${random(9)} % 3],
       'program', 'high', 0, 0, 200000000000, if(${random(10)} % 30 = 0, NULL, paid),
       {version:UInt64}
     FROM numbers({from:UInt64}, {rows:UInt64})`,
    { wallets, swaps, seconds: days * 86_400, from, rows, version },
  )
}

/** Swaps, and about as many other rows as a market has beside them. */
async function fill(store: Store, swaps: number, days: number, wallets: number): Promise<void> {
  for (let from = 0; from < swaps; from += ROWS_PER_INSERT) {
    const range = { from, rows: Math.min(ROWS_PER_INSERT, swaps - from) }
    await insertSwaps(store, swaps, days, wallets, range)
    const where = `slot >= ${FIRST_SLOT + from} AND slot < ${FIRST_SLOT + from + range.rows}`
    for (const statement of FOLLOWING)
      await store.command(statement.replace('WHERE', `WHERE ${where} AND`))
  }
  // By wallet, because a statement is stopped after 30 s.
  for (let from = 1; from <= wallets; from += 20)
    await store.command(POSITIONS, { from, to: from + 20 })
  for (const statement of FACTS) await store.command(statement)
  await makeEventIdKey(store)
  await insertProgress(store, [
    { worker: 'fold', partition: 0, partitions: 1, slot: 1, parent: 0, block_time: END },
  ])
}

const FOLLOWING = [
  `INSERT INTO lots (wallet, mint, slot, tx_index, event_index, block_time, origin, amount,
     cost_lamports, left_amount, left_cost_lamports, version)
   SELECT wallet, base_mint, slot, 1, 0, block_time, 'buy', base_amount, ifNull(value_lamports, 0),
     intDiv(base_amount, 5), intDiv(ifNull(value_lamports, 0), 5), 1
   FROM swaps WHERE side = 'buy'`,
  `INSERT INTO disposals (wallet, mint, slot, tx_index, event_index, lot_slot, lot_tx_index,
     lot_event_index, kind, block_time, lot_time, lot_origin, amount, cost_lamports,
     proceeds_lamports, profit_lamports, version, stamped)
   SELECT wallet, base_mint, slot, 1, 0, slot - 1000, 1, 0, 'sell', block_time,
     block_time - cityHash64(slot) % 90000, 'buy', base_amount, 1000000000, value_lamports,
     toInt128(value_lamports) - 1000000000, 1, 1
   FROM swaps WHERE side = 'sell'`,
  `INSERT INTO transfers (slot, tx_index, wallet, event_index, block_time, direction, mint, amount,
     decimals)
   SELECT slot, 2, wallet, 0, block_time, 'in', base_mint, base_amount, 6
   FROM swaps WHERE slot % 20 = 0`,
  `INSERT INTO sol_transfers (slot, tx_index, wallet, event_index, block_time, direction, lamports)
   SELECT slot, 2, wallet, 1, block_time, 'out', 1000000000
   FROM swaps WHERE slot % 20 = 1`,
]

const POSITIONS = `
  INSERT INTO positions (wallet, mint, decimals, buys, sells, bought_amount, sold_amount,
    bought_lamports, sold_lamports, first_buy_time, first_trade_time, last_trade_time, open_amount,
    open_cost_lamports, realized_lamports, valued_sells, version)
  SELECT wallet, base_mint, 6, countIf(side = 'buy') AS bought, count() - bought,
    sumIf(base_amount, side = 'buy'), sumIf(base_amount, side = 'sell'),
    sumIf(ifNull(value_lamports, 0), side = 'buy'), sumIf(ifNull(value_lamports, 0), side = 'sell'),
    min(block_time), min(block_time), max(block_time), bought * 1000, bought * 1000000,
    toInt128(sum(ifNull(value_lamports, 0))) - 1000000000, countIf(side = 'sell'), 1
  FROM swaps WHERE wallet >= {from:UInt32} AND wallet < {to:UInt32}
  GROUP BY wallet, base_mint`

const FACTS = [
  `INSERT INTO first_buys (mint, wallet, slot, block_time, amount, value_lamports,
     sol_price_usd_e9, version)
   SELECT mint, wallet, 1, first_buy_time, 1000, 1000, 200000000000, 1
   FROM positions WHERE mint LIKE 'Dez%'`,
  `INSERT INTO wallet_metrics (wallet, status, pnl_lamports, buys, sells, tokens_won,
     tokens_sold_valued, version)
   SELECT wallet, 'review', sum(realized_lamports), sum(buys), sum(sells), 1, 2, 1
   FROM positions GROUP BY wallet`,
  `INSERT INTO sol_prices (time, source, usd_e9)
   SELECT ${END} - 10 * number, 'pool', 200000000000 FROM numbers(300000)`,
]
