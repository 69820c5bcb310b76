import { openChdb } from './chdb.ts'
import { connectClickHouse } from './clickhouse.ts'
import type { Store, StoreConfig } from './store.ts'

/**
 * Opens the store that the configuration names, without applying the schema (`migrate`). Rejects as
 * `connectClickHouse` and `openChdb` do.
 */
export function createStore(config: StoreConfig): Promise<Store> {
  return config.kind === 'clickhouse' ? connectClickHouse(config.url) : openChdb(config.path)
}
