/** A row to insert. Integers of 64 bits and more are decimal strings or bigints, never floats. */
export type Row = Readonly<Record<string, unknown>>

/** Values of a query's parameters, by name. */
export type QueryParams = Readonly<Record<string, unknown>>

/** The output of a SELECT. */
export interface Download {
  /** Rows of the result. */
  readonly rows: number
  /** Pieces of the output, in the format that the statement names. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * ClickHouse, over HTTP or embedded (chDB). Calls reject with a retriable ServiceError
 * `unavailable` when it cannot be reached, and with `internal` when it refuses a statement, which
 * is a bug.
 */
export interface Store {
  readonly kind: 'clickhouse' | 'chdb'
  /** The replicas among which the store chooses; undefined with one server. */
  readonly replicas?: Replicas | undefined
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
  /**
   * Runs a SELECT that ends in FORMAT, and returns its output in pieces once the server has all of
   * it. The server ends the query when this process is gone. Undefined for the embedded engine.
   * `queryId`: rejects as `unavailable` (code 216) while the server runs a query with this id.
   */
  download?(sql: string, params?: QueryParams, queryId?: string): Promise<Download>
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

/** How far a worker has stored a partition: columns of table `progress`. */
export interface WorkerPosition {
  readonly worker: string
  /** Null: every partition of the worker. */
  readonly partition: number | null
  readonly slot: number
}

/** Servers that replicate each other (rule K13). A store uses one of them at a time. */
export interface Replicas {
  /** The cluster on which tables are created; null: none is configured. */
  readonly cluster: string | null
  /** Remembers positions that this process wrote. A server that lacks one is not used any more. */
  remember(positions: readonly WorkerPosition[]): void
  /**
   * Remembers positions that this process has just read. Resolves once the server in use has
   * everything that was stored before them, in every table. Rejects with `unavailable` if it does
   * not catch up within seconds.
   */
  arriveAt(positions: readonly WorkerPosition[]): Promise<void>
  /**
   * Resolves once the server in use has everything that was stored before the call in these tables;
   * by default in every table. Rejects like `arriveAt`.
   */
  catchUp(tables?: readonly string[]): Promise<void>
}

/** Location of the data: servers, or a folder that this process owns exclusively. */
export type StoreConfig =
  | {
      readonly kind: 'clickhouse'
      /** The first server, with user, password and database. */
      readonly url: URL
      /** Other replicas, in order of preference, with the same user and database. */
      readonly otherUrls?: readonly URL[]
      /** The cluster on which tables are created with replicated engines; default: none. */
      readonly cluster?: string | null
    }
  | { readonly kind: 'chdb'; readonly path: string }
