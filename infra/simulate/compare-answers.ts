import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Customer } from '../whole-service/customer.ts'
import { type Difference, MAX_AGE_SECONDS, type Query, REST, type TrueTables } from './compare.ts'
import { STALLED_MS } from './patience.ts'
import type { SlowAnswer } from './slow-answer.ts'
import { slowAnswers } from './slow-answers.ts'

/** How long an API process may take until it has the stored facts about mints. */
const ARRIVAL_MS = 30_000

/** The newest stored slot. */
interface Tip {
  readonly slot: number
  /** Unix seconds of its block. */
  readonly time: number
}

/**
 * Differences between what each API process answers and what follows from the true tables. Facts
 * about mints, on which entry market caps depend, are those that are stored.
 */
export async function compareRest(
  customers: readonly Customer[],
  query: Query,
  { events, tables }: TrueTables,
  tip: Tip,
): Promise<{ differences: Difference[]; rows: number }> {
  const facts = await query<
    { mint: string; supply: string | null } & Record<'symbol' | 'name', string>
  >('SELECT mint, toString(supply) AS supply, symbol, name FROM mints FINAL')
  const pools = await query<
    Record<'at' | 'mint' | 'pool' | 'quote_mint' | 'price_quote' | 'price_base', string>
  >(
    'SELECT at, mint, pool, quote_mint, toString(price_quote) AS price_quote, toString(price_base) AS price_base FROM pool_states FINAL',
  )
  const prices = await query<{ time: string; source: 'pool' | 'file'; usd_e9: string }>(
    'SELECT time, source, usd_e9 FROM sol_prices FINAL',
  )
  const expected = slowAnswers({
    wallets: tables.wallet_metrics.length,
    events,
    metrics: tables.wallet_metrics,
    facts: new Map(
      facts.map(({ mint, supply, symbol, name }) => [
        mint,
        { supply: supply === null ? null : BigInt(supply), symbol, name },
      ]),
    ),
    now: tip.time,
    prices: prices.map(({ time, source, usd_e9 }) => ({
      time: Number(time),
      source,
      usdE9: BigInt(usd_e9),
    })),
    pools: pools.map((row) => ({
      at: Number(row.at),
      mint: row.mint,
      pool: row.pool,
      quoteMint: row.quote_mint,
      price: { quote: BigInt(row.price_quote), base: BigInt(row.price_base) },
    })),
    maxAgeSeconds: MAX_AGE_SECONDS,
  })
  const differences: Difference[] = []
  for (const customer of customers)
    differences.push(...(await compareOnceArrived(customer, expected, tip)))
  return { differences, rows: customers.length * expected.length }
}

/**
 * Waits until a process, which may have just been started, has the newest slot. Facts about a mint
 * arrive on a way of their own, without a marker (rule K26).
 */
async function compareOnceArrived(
  customer: Customer,
  expected: readonly SlowAnswer[],
  { slot }: Tip,
): Promise<Difference[]> {
  for (const deadline = Date.now() + STALLED_MS; (await storedSlot(customer)) < slot; ) {
    if (Date.now() > deadline) throw new Error(`${customer.url} does not come to slot ${slot}`)
    await pause(200)
  }
  for (const deadline = Date.now() + ARRIVAL_MS; ; await pause(200)) {
    const isLast = Date.now() >= deadline
    const differences = await compareAnswers(customer, expected).catch((error: unknown) => {
      if (isLast) throw error
      return null
    })
    if (differences !== null && (differences.length === 0 || isLast)) return differences
  }
}

/** The newest stored slot that a process knows; -1 while it does not answer. */
async function storedSlot(customer: Customer): Promise<number> {
  const answer = await customer
    .get<{ storage?: { slot: number | null } }>('/status')
    .catch(() => null)
  return answer?.body.storage?.slot ?? -1
}

type Body = Readonly<Record<string, unknown>>

/** Differences between what a customer gets over REST, page by page, and what it must be. */
export async function compareAnswers(
  customer: Customer,
  expected: readonly SlowAnswer[],
): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const answer of expected) {
    const found = await (answer.paging === null ? whole(customer, answer) : walk(customer, answer))
    if (found !== null) differences.push(found)
  }
  return differences
}

async function whole(customer: Customer, { path, fields }: SlowAnswer): Promise<Difference | null> {
  const body = withoutTime(await ask(customer, path)) as Body // an object, as it is asked for
  return isDeepStrictEqual(body, fields) ? null : differenceOf(path, fields, body)
}

/** Reads all pages of a list. Each of them must have the fields, and not more items than it may. */
async function walk(customer: Customer, answer: SlowAnswer): Promise<Difference | null> {
  const { path, paging, fields, items } = answer
  const found: unknown[] = []
  for (let page = 1, cursor = ''; ; page += 1) {
    const place = paging === 'page' ? `&page=${page}` : cursor
    const body = await ask(customer, `${path}${place}`.replace('?&', '?'))
    const { items: some, has_more: hasMore, next_cursor: next } = body
    const list = withoutTime(some) as unknown[] // as the documents say
    found.push(...list)
    const own = Object.fromEntries(Object.keys(fields).map((name) => [name, body[name]]))
    const hasPlace = paging === 'page' ? body.page === page : body.count === list.length
    const isNext = paging === 'page' || hasMore === (typeof next === 'string')
    if (!isDeepStrictEqual(own, fields) || !hasPlace || !isNext)
      return differenceOf(`${path}${place}`, fields, own)
    if (hasMore !== true) break
    cursor = `&cursor=${String(next)}`
  }
  if (isDeepStrictEqual(found, items)) return null
  const at = items.findIndex((item, place) => !isDeepStrictEqual(found[place], item))
  const place = at === -1 ? items.length : at
  const first = (list: readonly unknown[]) => ({ items: list.length, [place]: list[place] ?? null })
  return differenceOf(path, first(items), first(found))
}

async function ask(customer: Customer, path: string): Promise<Body> {
  const { status, body } = await customer.get<Body>(path)
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

function differenceOf(path: string, expected: object, found: object): Difference {
  return {
    table: REST,
    expected: { path, answer: expected },
    stored: { path, answer: found },
  }
}

/** The same without `computed_at`, which tells when and not what (rule C19). */
export function withoutTime(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTime)
  if (typeof value !== 'object' || value === null || !('computed_at' in value)) return value
  const { computed_at: _, ...rest } = value
  return rest
}
