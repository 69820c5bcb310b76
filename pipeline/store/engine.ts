import type { QueryParams } from './store.ts'

/** What differs between a server of ClickHouse and the embedded one. Whatever fails rejects as it came; `storeError` tells what it means. */
export interface Engine {
  readonly kind: 'clickhouse' | 'chdb'
  /** The answer to a SELECT without a FORMAT: one JSON object a line, in pieces. */
  read(sql: string, params?: QueryParams): Promise<AsyncIterable<string> | Iterable<string>>
  /** Runs a statement; a result is thrown away. */
  run(sql: string, params?: QueryParams): Promise<void>
  /** Runs an INSERT that ends in a FORMAT with the data that follow it. */
  insert(sql: string, data: string | Uint8Array): Promise<void>
  close(): Promise<void>
}
