/**
 * Slots of one partition: about 30 days, at 400 ms a slot. A slot is used and no time, because a
 * corrected row keeps its slot, and its block time may change.
 */
export const SLOTS_PER_PARTITION = 6_480_000

/**
 * The tables that are partitioned by ranges of slots, each with a slot of its key (rule K29).
 *
 * Others that have a slot in their key are not: a row of `lots` is written again long after its
 * slot, so that one insert would make a part in many partitions, and `sol_balances` and
 * `token_links` are read by account without a lower slot, so that a read would open every one.
 */
export const PARTITION_SLOTS: Readonly<Record<string, string>> = {
  swaps: 'slot',
  transfers: 'slot',
  sol_transfers: 'slot',
  undecoded: 'slot',
  disposals: 'slot',
  transactions: 'slot',
  late_swaps: 'passed_slot',
}

/** Returns the partition key of one of these tables, as an expression. */
export function partitionKey(slot: string): string {
  return `intDiv(${slot}, ${SLOTS_PER_PARTITION})`
}

/**
 * Adds the partition key to the statement of `sql/` that creates one of these tables, and returns
 * other statements as they are. A table that exists already stays as it is: `repartition` changes
 * it.
 */
export function partitioned(statement: string): string {
  const slot = PARTITION_SLOTS[tableCreated(statement)]
  if (slot === undefined) return statement
  return statement.replace(/^ORDER BY /m, `PARTITION BY ${partitionKey(slot)}\nORDER BY `)
}

/** The table that a statement of `sql/` creates; empty for every other statement. */
export function tableCreated(statement: string): string {
  return /^CREATE TABLE IF NOT EXISTS (\w+)$/m.exec(statement)?.[1] ?? ''
}
