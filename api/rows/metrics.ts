import type { StateChange } from '../../pipeline/log/state-log.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newestWallet } from '../../pipeline/store/tables/tracked-wallets.ts'
import {
  readMetrics,
  type StoredMetricsRow,
  type WalletMetricsRow,
} from '../../pipeline/store/tables/wallet-metrics.ts'
import type { StateModel } from '../state-reader.ts'

/**
 * The metrics of all wallets, in memory, as JSON text: some 800 bytes each. Objects would take
 * several times as much.
 */
export class Metrics implements StateModel {
  readonly #rows: (string | undefined)[] = []

  async load(store: Store): Promise<void> {
    const last = await newestWallet(store)
    for (let from = 1; from <= last; from += WALLETS_AT_ONCE)
      for (const row of await readMetrics(store, from, from + WALLETS_AT_ONCE - 1)) this.#take(row)
  }

  apply(changes: readonly StateChange[]): void {
    for (const { table, row } of changes)
      if (table === 'wallet_metrics') this.#take(row as unknown as StoredMetricsRow) // its row
  }

  /** Returns the metrics of a wallet; undefined for one without a row. */
  of(wallet: number): WalletMetricsRow | undefined {
    const text = this.#rows[wallet]
    return text === undefined ? undefined : JSON.parse(text)
  }

  #take(row: StoredMetricsRow): void {
    this.#rows[row.wallet] = JSON.stringify(row)
  }
}

/** Wallets of one query of a start. */
const WALLETS_AT_ONCE = 1000
