import type { Store } from '../../pipeline/store/store.ts'
import {
  readMetrics,
  type StoredMetricsRow,
  type WalletMetricsRow,
} from '../../pipeline/store/tables/wallet-metrics.ts'
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

  return async (from, to) => {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    const blocks = new Set(numbers.map((wallet) => Math.floor((wallet - 1) / BLOCK)))
    const found = new Map<number, WalletMetricsRow>()
    for (const rows of await Promise.all([...blocks].map(read)))
      for (const [wallet, row] of rows) if (wallet >= from && wallet <= to) found.set(wallet, row)
    return found
  }
}

/** Wallets in a block: 10 pages. */
const BLOCK = 250
/** Capacity of the cache, in wallets. */
const MOST_WALLETS = 10_000

type Block = ReadonlyMap<number, StoredMetricsRow>

/**
 * Reads a block. Unchanged rows stay the same objects, which saves work for the garbage collector.
 */
async function readBlock(
  store: Store,
  from: number,
  to: number,
  before: Block = new Map(),
): Promise<Block> {
  const rows = await readMetrics(store, from, to)
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
