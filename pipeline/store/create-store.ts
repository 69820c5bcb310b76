import { openChdb } from './chdb.ts'
import { connectClickHouse } from './clickhouse.ts'
import type { Store, StoreConfig } from './store.ts'

/** Opens the store that the configuration names; the schema is another step (`migrate`). Errors: see `connectClickHouse` and `openChdb`. */
export function createStore(config: StoreConfig): Promise<Store> {
  return config.kind === 'clickhouse' ? connectClickHouse(config.url) : openChdb(config.path)
}
