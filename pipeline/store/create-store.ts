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

/**
 * Opens a store for statements that take longer than those of `store`, which `config` names. The
 * embedded engine has one store in a process, so it is the same one, and `close` leaves it open.
 */
export async function openLongStore(store: Store, config: StoreConfig): Promise<Store> {
  if (config.kind === 'chdb') return { ...store, close: async () => {} }
  return connectClickHouse(config, undefined, { isLong: true })
}
