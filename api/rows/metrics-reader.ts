import type { Store } from '../../pipeline/store/store.ts'
import type { WalletMetricsRow } from '../items/wallet-metrics.ts'
import { MarkerCache } from '../marker-cache.ts'
import type { StoragePosition } from '../storage-position.ts'

/** Reads the newest metrics of wallets, by number. Wallets without stored metrics are left out. */
export type MetricsReader = (from: number, to: number) => Promise<Map<number, WalletMetricsRow>>

/**
 * Creates a reader with a cache of blocks of 250 wallets. Each requested block is read by one query
 * a marker, before the marker is served.
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

/** Wallets in a block: 10 pages. */
const BLOCK = 250
/** Capacity of the cache, in wallets. */
const MOST_WALLETS = 10_000

type Block = ReadonlyMap<number, StoredMetricsRow>

interface StoredMetricsRow extends WalletMetricsRow {
  readonly version: string
}

/**
 * Reads a block. Unchanged rows stay the same objects, which saves work for the garbage collector.
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

/**
 * Whether two rows are equal. A version is written twice only if a worker crashed before the write
 * was confirmed.
 */
function isSame(a: StoredMetricsRow, b: StoredMetricsRow): boolean {
  return a.version === b.version && a.computed_at === b.computed_at
}

const METRICS = `
  SELECT wallet, status, score_e2, sol_balance_lamports, pnl_lamports, bought_lamports, sold_lamports, invested_open_lamports,
    unrealized_token_count, buys, sells, transfers_in, transfers_out, received_lamports, sent_lamports, unique_tokens_traded,
    tokens_won, tokens_lost, tokens_sold_valued, holding_seconds_sum, holding_matches, exit_seconds_sum, exit_tokens, quick_sells,
    sold_more_than_bought, active_times, computed_at, version
  FROM wallet_metrics FINAL WHERE wallet BETWEEN {from:UInt32} AND {to:UInt32} LIMIT 1000 SETTINGS max_threads = 1`
