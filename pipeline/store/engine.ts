import type { QueryParams } from './store.ts'

/** What differs between a server of ClickHouse and the embedded one. Whatever fails rejects as it came; `storeError` tells what it means. */
export interface Engine {
  readonly kind: 'clickhouse' | 'chdb'
  /** The rows of a SELECT without a FORMAT. */
  read(sql: string, params?: QueryParams): Promise<unknown[]>
  /** Runs a statement; a result is thrown away. */
  run(sql: string, params?: QueryParams): Promise<void>
  /** Runs an INSERT that ends in a FORMAT with the data that follow it. */
  insert(sql: string, data: string | Uint8Array): Promise<void>
  /**
   * Resolves when the engine answers. A server is asked on a connection of its own, which waits for
   * no query.
   */
  ping(): Promise<void>
  close(): Promise<void>
}
