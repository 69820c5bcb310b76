/**
 * Balances of a token's pool from tick `at` on (table `pool_states`). `pool` is empty from when it
 * is no longer known.
 */
export interface PoolSnapshot {
  readonly at: number
  readonly mint: string
  readonly pool: string
  readonly quoteMint: string
  /** Raw units of `quoteMint` in the pool. */
  readonly quoteReserve: bigint
  /** One raw unit of the token costs quote / base raw units of `quoteMint`. */
  readonly price: { readonly quote: bigint; readonly base: bigint }
}
