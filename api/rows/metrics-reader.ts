import type { Store } from '../../pipeline/store/store.ts'
import type { WalletMetricsRow } from '../items/wallet-metrics.ts'
import { MarkerCache } from '../marker-cache.ts'
import type { StoragePosition } from '../storage-position.ts'

/** The newest metrics of wallets by number; those of which nothing is stored are left out. */
export type MetricsReader = (from: number, to: number) => Promise<Map<number, WalletMetricsRow>>

/**
 * Reads them once a marker, before it is the newest, a block of wallets with one query, however
 * many single wallets and pages of them are asked for.
 */
export function createMetricsReader(store: Store, position: StoragePosition): MetricsReader {
  const blocks = new MarkerCache<Block>(position, {
    maxWeight: MOST_WALLETS,
    weigh: (rows) => rows.size,
  })
  const fromStore = (block: number, before?: Block) =>
    readBlock(store, block * BLOCK + 1, (block + 1) * BLOCK, before)
  const read = (block: number) =>
    blocks.get(String(block), (_stored, before) => fromStore(block, before))
  position.beforeMove((next) =>
    blocks.prepare(next, (block, before) => fromStore(Number(block), before)),
  )

  return async function readMetrics(from, to) {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    const asked = new Set(numbers.map((wallet) => Math.floor((wallet - 1) / BLOCK)))
    const found = new Map<number, WalletMetricsRow>()
    for (const rows of await Promise.all([...asked].map(read)))
      for (const [wallet, row] of rows) if (wallet >= from && wallet <= to) found.set(wallet, row)
    return found
  }
}

/** Wallets to a query: 10 pages. */
const BLOCK = 250
/** Wallets of which rows are kept. */
const MOST_WALLETS = 10_000

type Block = ReadonlyMap<number, StoredMetricsRow>

interface StoredMetricsRow extends WalletMetricsRow {
  readonly version: string
}

/**
 * Rows that are as they were stay the same objects: most of them do from marker to marker, and what
 * is new each time is work for the collector.
 */
async function readBlock(
  store: Store,
  from: number,
  to: number,
  before: Block = new Map(),
): Promise<Block> {
  const rows = await store.query<StoredMetricsRow>(METRICS, { from, to })
  return new Map(
    rows.map((row) => {
      const known = before.get(row.wallet)
      return [row.wallet, known !== undefined && isSame(known, row) ? known : row]
    }),
  )
}

/** A version is made once, but for a worker that ended before it was known to be stored. */
function isSame(a: StoredMetricsRow, b: StoredMetricsRow): boolean {
  return a.version === b.version && a.computed_at === b.computed_at
}

const METRICS = `
  SELECT wallet, status, score_e2, sol_balance_lamports, pnl_lamports, bought_lamports, sold_lamports, invested_open_lamports,
    unrealized_token_count, buys, sells, transfers_in, transfers_out, received_lamports, sent_lamports, unique_tokens_traded,
    tokens_won, tokens_lost, tokens_sold_valued, holding_seconds_sum, holding_matches, exit_seconds_sum, exit_tokens, quick_sells,
    sold_more_than_bought, active_times, computed_at, version
  FROM wallet_metrics FINAL WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} LIMIT 1000 SETTINGS max_threads = 1`
