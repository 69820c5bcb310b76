/** The row values that go into an insert: 64-bit and wider integers as decimal strings or bigint, never a float. */
export type Row = Readonly<Record<string, unknown>>

export type QueryParams = Readonly<Record<string, unknown>>

/**
 * ClickHouse over HTTP or embedded (chDB), behind the same client. Every failure to reach it is a retriable ServiceError `unavailable`;
 * a query that ClickHouse refuses is a ServiceError `internal`, which is a bug.
 */
export interface Store {
  readonly kind: 'clickhouse' | 'chdb'
  /**
   * Rows of a SELECT; parameters as `{name:Type}` in the text. 64-bit and wider integers come as
   * decimal strings. An answer that lacks one of `columns` rejects as `unavailable`: name them
   * where a missing value would become a wrong number.
   */
  query<T>(sql: string, params?: QueryParams, columns?: readonly (keyof T & string)[]): Promise<T[]>
  /** Inserts rows as one block. With a `dedupToken` the same block sent again is stored once. `columns` are named where a row has one that only inserts know (`EPHEMERAL`). */
  insert(
    table: string,
    rows: readonly Row[],
    options?: { dedupToken?: string; columns?: readonly string[] },
  ): Promise<void>
  /** Runs a statement without a result. */
  command(sql: string, params?: QueryParams): Promise<void>
  /**
   * Resolves when the engine answers, or has answered another call within the last second. It waits
   * for no other call of a server, and however many ask, at most one probe is under way: the
   * embedded engine runs one query at a time.
   */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Where the data is: a server, or a folder that this process owns alone. */
export type StoreConfig =
  | { readonly kind: 'clickhouse'; readonly url: URL }
  | { readonly kind: 'chdb'; readonly path: string }
