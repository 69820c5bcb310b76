import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Customer } from '../whole-service/customer.ts'
import { type Difference, MAX_AGE_SECONDS, type Query, REST, type TrueTables } from './compare.ts'
import { STALLED_MS } from './patience.ts'
import type { SlowAnswer } from './slow-answer.ts'
import { slowAnswers } from './slow-answers.ts'
import {
  MINT_FACTS,
  type MintFactRow,
  mintFactsOf,
  POOLS,
  type PoolRow,
  poolsOf,
} from './stored-history.ts'

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
  const facts = await query<MintFactRow>(MINT_FACTS)
  const pools = await query<PoolRow>(POOLS)
  const prices = await query<{ time: string; source: 'pool' | 'file'; usd_e9: string }>(
    'SELECT time, source, usd_e9 FROM sol_prices FINAL',
  )
  const expected = slowAnswers({
    wallets: tables.wallet_metrics.length,
    events,
    metrics: tables.wallet_metrics,
    facts: mintFactsOf(facts),
    now: tip.time,
    prices: prices.map(({ time, source, usd_e9 }) => ({
      time: Number(time),
      source,
      usdE9: BigInt(usd_e9),
    })),
    pools: poolsOf(pools),
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
  const body = withoutTime(await askCustomer(customer, path)) as Body // an object, as was asked for
  return isDeepStrictEqual(body, fields) ? null : differenceOf(path, fields, body)
}

/** Reads all pages of a list. Each of them must have the fields, and not more items than it may. */
async function walk(customer: Customer, answer: SlowAnswer): Promise<Difference | null> {
  const { path, paging, fields, items } = answer
  const found: unknown[] = []
  for (let page = 1, cursor = ''; ; page += 1) {
    const place = paging === 'page' ? `&page=${page}` : cursor
    const body = await askCustomer(customer, `${path}${place}`.replace('?&', '?'))
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

/** Asks REST. Rejects unless the answer is 200. */
export async function askCustomer(customer: Customer, path: string): Promise<Body> {
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
