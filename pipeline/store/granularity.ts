import { tableCreated } from './slot-partitions.ts'

/**
 * Rows between two marks of the primary index, for tables that are read by many single keys at
 * once. Other tables have 8192, or what their statement says. A read of one key decompresses that
 * many rows; 30 snapshots of 250,000 take 12 ms instead of 150
 * (infra/decisions/bench-results.md).
 */
export const GRANULARITY: Readonly<Record<string, number>> = {
  fold_snapshots: 64,
  token_links: 1024,
  sol_balances: 1024,
}

/**
 * Adds the granularity to the statement of `sql/` that creates one of these tables, and returns
 * other statements as they are. ClickHouse cannot change it later, so a table that exists already
 * stays as it is (docs/operating.md says how to copy it).
 */
export function withGranularity(statement: string): string {
  const rows = GRANULARITY[tableCreated(statement)]
  return rows === undefined
    ? statement
    : statement.replace(/^SETTINGS /m, `SETTINGS index_granularity = ${rows}, `)
}
