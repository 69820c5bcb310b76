/** A row to insert. Integers of 64 bits and more are decimal strings or bigints, never floats. */
export type Row = Readonly<Record<string, unknown>>

/** Values of a query's parameters, by name. */
export type QueryParams = Readonly<Record<string, unknown>>

/**
 * ClickHouse, over HTTP or embedded (chDB). Calls reject with a retriable ServiceError
 * `unavailable` when it cannot be reached, and with `internal` when it refuses a statement, which
 * is a bug.
 */
export interface Store {
  readonly kind: 'clickhouse' | 'chdb'
  /**
   * Returns the rows of a SELECT. Parameters are `{name:Type}` in the text. Integers of 64 bits and
   * more are returned as decimal strings. A response without one of `columns` rejects as
   * `unavailable`: name them where a missing value would become a wrong number.
   */
  query<T>(sql: string, params?: QueryParams, columns?: readonly (keyof T & string)[]): Promise<T[]>
  /**
   * Inserts rows as one block. With a `dedupToken`, the same block sent again is stored once.
   * `columns` are required if one of them is `EPHEMERAL`.
   */
  insert(
    table: string,
    rows: readonly Row[],
    options?: { dedupToken?: string; columns?: readonly string[] },
  ): Promise<void>
  /** Runs a statement without a result. */
  command(sql: string, params?: QueryParams): Promise<void>
  /**
   * Resolves when the engine answers, or if it answered another call within the last second. On a
   * server it does not wait for other calls. At most one probe is under way, however many callers
   * there are, because the embedded engine runs one query at a time.
   */
  ping(): Promise<void>
  /** Closes the store. Later calls reject with `closed`. */
  close(): Promise<void>
}

/** Location of the data: a server, or a folder that this process owns exclusively. */
export type StoreConfig =
  | { readonly kind: 'clickhouse'; readonly url: URL }
  | { readonly kind: 'chdb'; readonly path: string }
