import type { Download, QueryParams } from './store.ts'

/**
 * The operations that differ between a ClickHouse server and chDB. Failures reject with the
 * original error, which `storeError` classifies.
 */
export interface Engine {
  readonly kind: 'clickhouse' | 'chdb'
  /** Returns the rows of a SELECT without FORMAT. */
  read(sql: string, params?: QueryParams): Promise<unknown[]>
  /** Runs a statement and drops its result. */
  run(sql: string, params?: QueryParams): Promise<void>
  /** Runs an INSERT that ends in FORMAT with its data. */
  insert(sql: string, data: string | Uint8Array): Promise<void>
  /** As `Store.download`; `queryId` is a new one by default. */
  download?(sql: string, params?: QueryParams, queryId?: string): Promise<Download>
  /**
   * Resolves when the engine answers. On a server the probe has its own connection, so it does not
   * wait for queries.
   */
  ping(): Promise<void>
  close(): Promise<void>
}
