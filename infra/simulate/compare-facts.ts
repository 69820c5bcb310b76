import { readSolPrice } from '../../pipeline/ingest/pools/whirlpool-account.ts'
import { NOT_TRADED } from '../../pipeline/store/tables/chain-breaks.ts'
import type { Market } from '../simulator/market/market.ts'
import { TOKEN_2022 } from '../simulator/market/programs.ts'
import type { Difference, Query } from './compare.ts'
import type { TrueChain } from './true-chain.ts'

/** Mints that a tracked wallet has traded. */
function tradedMints(chain: TrueChain): Set<string> {
  return new Set(chain.events.flatMap((event) => (event.kind === 'swap' ? [event.baseMint] : [])))
}

/**
 * Differences between the stored mint facts and the market's coins (rule J8): there is one row for
 * each traded mint and none for others.
 */
export async function compareMints(
  query: Query,
  chain: TrueChain,
  market: Market,
): Promise<{ differences: Difference[]; rows: number }> {
  const coins = new Map(
    market.universe.coins.map((coin) => [coin.mint.key.address as string, coin]),
  )
  const rows = await query<Record<string, unknown>>(
    'SELECT mint, token_program, toString(decimals) AS decimals, toString(supply) AS supply, symbol, name, metadata FROM mints FINAL',
  )
  const stored = new Map(rows.map((row) => [String(row.mint), row]))
  const differences: Difference[] = []
  for (const mint of tradedMints(chain)) {
    const coin = coins.get(mint)
    const is2022 = coin?.mint.program === TOKEN_2022
    const expected = coin && {
      mint,
      token_program: is2022 ? 'token_2022' : 'spl_token',
      decimals: String(coin.mint.decimals),
      supply: String(coin.supply),
      symbol: coin.symbol,
      name: coin.name,
      metadata: is2022 ? 'token_2022' : 'metaplex',
    }
    const row = stored.get(mint) ?? null
    stored.delete(mint)
    if (expected === undefined || row === null || !isSame(expected, row))
      differences.push({ table: 'mints', expected: expected ?? null, stored: row })
  }
  for (const row of stored.values())
    differences.push({ table: 'mints', expected: null, stored: row })
  return { differences, rows: rows.length }
}

function isSame(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  return Object.entries(a).every(([name, value]) => b[name] === value)
}

/**
 * Differences of the prices of the pool (rules J7, K9): each is that of a block of the finalized
 * chain in its second. Not every second has one, because RPC tells no price.
 */
export async function compareSolPrices(
  query: Query,
  chain: TrueChain,
  market: Market,
): Promise<{ differences: Difference[]; rows: number }> {
  const prices = new Set<string>()
  for (const slot of chain.blockLengths.keys()) {
    const { time, accounts } = market.block(slot)
    for (const { account } of accounts) {
      const usdE9 = account === undefined ? null : readSolPrice(account.data)
      if (usdE9 !== null) prices.add(`${time}/${usdE9}`)
    }
  }
  const rows = await query<{ time: number; usd_e9: string }>(
    "SELECT time, usd_e9 FROM sol_prices FINAL WHERE source = 'pool' AND usd_e9 > 0 ORDER BY time",
  )
  const differences = rows
    .filter(({ time, usd_e9 }) => !prices.has(`${time}/${usd_e9}`))
    .map((stored) => ({ table: 'sol_prices', expected: null, stored }))
  return { differences, rows: rows.length }
}

interface CoverageRow {
  readonly wallet: number
  readonly since_slot: string
  readonly since_time: number
}

/**
 * Differences of the coverage (rules J3, K2) once everything has settled. Each wallet has a row.
 * Everything from its slot on is stored, which the other tables show. No automatic backfill is
 * open, and one that went to the beginning reaches it. No break of a chain of links is left.
 */
export async function compareCoverage(
  query: Query,
  chain: TrueChain,
  market: Market,
  wallets: number,
): Promise<{ differences: Difference[]; rows: number }> {
  const firstSlot = Math.min(...chain.blockLengths.keys())
  const rows = await query<CoverageRow>(
    'SELECT wallet, since_slot, since_time FROM wallet_coverage FINAL ORDER BY wallet',
  )
  const backfills = await openBackfills(query)
  const whole = await query<{ wallet: number }>(
    "SELECT DISTINCT wallet FROM backfills FINAL WHERE state = 'done' AND from_slot = 0 AND to_slot = 0 AND missing = 0",
  )
  const isWhole = new Set(whole.map(({ wallet }) => wallet))
  const differences: Difference[] = []
  const stored = new Map(rows.map((row) => [row.wallet, row]))
  for (let wallet = 1; wallet <= wallets; wallet += 1) {
    const row = stored.get(wallet)
    const since = Number(row?.since_slot)
    const latest = isWhole.has(wallet) ? firstSlot : Number.POSITIVE_INFINITY
    const isRight =
      row !== undefined &&
      since <= latest &&
      row.since_time >= market.timeOf(Math.max(since, firstSlot))
    if (!isRight)
      differences.push({
        table: 'wallet_coverage',
        expected: { wallet, since_slot: isWhole.has(wallet) ? `at most ${latest}` : 'some' },
        stored: row === undefined ? null : { ...row },
      })
  }
  for (const row of backfills) differences.push({ table: 'backfills', expected: null, stored: row })
  for (const row of await unclosedBreaks(query, chain))
    differences.push({ table: 'chain_breaks', expected: null, stored: row })
  return { differences, rows: rows.length }
}

/** Backfills that have not ended. */
function openBackfills(query: Query): Promise<Record<string, unknown>[]> {
  return query("SELECT * FROM backfills FINAL WHERE state = 'open' ORDER BY wallet, reason")
}

interface BreakRow {
  readonly wallet: number
  readonly account: string
  readonly mint: string
  readonly from_slot: string
  readonly from_tx_index: number
  readonly slot: string
  readonly tx_index: number
  readonly cause: string
}

/** Breaks whose missing transactions were not found, without the addresses of accounts. */
async function unclosedBreaks(query: Query, chain: TrueChain): Promise<Record<string, unknown>[]> {
  const rows = await readBreaks(query)
  return rows.filter((row) => !isLeft(row, chain)).map(({ account: _, ...row }) => row)
}

function readBreaks(query: Query): Promise<BreakRow[]> {
  return query("SELECT * FROM chain_breaks FINAL WHERE state != 'closed' ORDER BY wallet, slot")
}

/** Whether a break is one that the service leaves: the wallet never traded the mint (rule K6). */
function isLeft({ cause, wallet, mint }: BreakRow, chain: TrueChain): boolean {
  return cause === NOT_TRADED && !chain.hasTraded(wallet, mint)
}

/** Has the chain leave out what the service does not fetch, as `isLeft` says. */
export async function leaveUntraded(query: Query, chain: TrueChain): Promise<void> {
  const left = (await readBreaks(query)).filter((row) => isLeft(row, chain))
  chain.leaveOut(
    left.map((row) => ({
      wallet: row.wallet,
      account: row.account,
      from: { slot: Number(row.from_slot), txIndex: row.from_tx_index },
      to: { slot: Number(row.slot), txIndex: row.tx_index },
    })),
  )
}

/**
 * Number of breaks that are not closed, of backfills that have not ended, of traded mints without a
 * row, and of swaps that lack an available price.
 */
export async function missingFacts(query: Query, chain: TrueChain) {
  const [facts] = await query<{ mints: string; unpriced: string }>(
    `SELECT (SELECT count() FROM mints FINAL) AS mints,
       (SELECT count() FROM swaps FINAL WHERE sol_price_usd_e9 IS NULL AND quote_mint IS NOT NULL
          AND block_time >= (SELECT min(time) FROM sol_prices)) AS unpriced`,
  )
  return {
    breaks: (await unclosedBreaks(query, chain)).length,
    backfills: (await openBackfills(query)).length,
    mints: tradedMints(chain).size - Number(facts?.mints),
    prices: Number(facts?.unpriced),
  }
}
