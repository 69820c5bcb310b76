import type { Logger } from '../runtime/logger.ts'
import { openChdb } from './chdb.ts'
import { connectClickHouse } from './clickhouse.ts'
import type { Store, StoreConfig } from './store.ts'

/**
 * Opens the store that the configuration names, without applying the schema (`migrate`). `logger`
 * reports changes between replicas. Rejects as `connectClickHouse` and `openChdb` do.
 */
export function createStore(config: StoreConfig, logger?: Logger): Promise<Store> {
  return config.kind === 'clickhouse' ? connectClickHouse(config, logger) : openChdb(config.path)
}
