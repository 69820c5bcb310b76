import type { StateChange } from '../../pipeline/log/state-log.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newestWallet } from '../../pipeline/store/tables/tracked-wallets.ts'
import {
  EMPTY_METRICS,
  readMetrics,
  type StoredMetricsRow,
  type WalletMetricsRow,
} from '../../pipeline/store/tables/wallet-metrics.ts'
import type { StateModel } from '../state-reader.ts'

/**
 * The metrics of all wallets, in memory, as JSON text of their values alone: some 350 bytes each,
 * and 10 for each hour of the day in which the wallet was active.
 */
export class Metrics implements StateModel {
  /** By wallet. The values are in the order of `NAMES`. */
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
    if (text === undefined) return undefined
    const [hours, ...values] = JSON.parse(text)
    const row: Record<string, unknown> = { ...EMPTY_METRICS }
    for (const [at, name] of NAMES.entries()) row[name] = values[at]
    row.active_times = hours.map(([hour_utc, tx_count]: [number, string]) => ({
      hour_utc,
      tx_count,
    }))
    return row as never // with the columns' values
  }

  #take(row: StoredMetricsRow): void {
    const hours = row.active_times.map(({ hour_utc, tx_count }) => [hour_utc, tx_count])
    this.#rows[row.wallet] = JSON.stringify([hours, ...NAMES.map((name) => row[name])])
  }
}

/** Columns of a row, except `active_times`. */
const NAMES = (Object.keys(EMPTY_METRICS) as (keyof WalletMetricsRow)[]).filter(
  (name) => name !== 'active_times',
)

/** Wallets of one query of a start. */
const WALLETS_AT_ONCE = 1000
