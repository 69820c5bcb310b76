import { QUOTE_MINTS } from '../../domain/quote.ts'
import type { Store } from '../store.ts'
import { UNDECODED_PLACES } from './decoded-rows.ts'
import { LINK_CHANGES } from './links.ts'
import { EVENT_CHANGES } from './token-events.ts'

/** A transaction in which the balances of a mint changed by something else than its events. */
export interface UnbookedChange {
  readonly slot: number
  readonly txIndex: number
  readonly mint: string
  /** What the balances of the wallet changed by, less its events, in raw units. */
  readonly amount: bigint
  readonly isUndecoded: boolean
}

/**
 * Returns the transactions of a wallet, after slot `from` up to slot `to`, in which the balances of
 * a base mint changed by something else than its events (rule K8), in order; at most `limit`.
 */
export async function readUnbookedChanges(
  store: Store,
  wallet: number,
  bounds: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<UnbookedChange[]> {
  const rows = await store.query<{
    slot: string
    tx_index: number
    mint: string
    amount: string
    undecoded: number
  }>(
    `SELECT slot, tx_index, mint, sum(change) AS amount, (slot, tx_index) IN (${UNDECODED_PLACES}) AS undecoded
     FROM (${LINK_CHANGES} UNION ALL SELECT slot, tx_index, mint, -change FROM (${EVENT_CHANGES}))
     WHERE mint NOT IN {quotes:Array(String)}
     GROUP BY slot, tx_index, mint HAVING amount != 0
     ORDER BY slot, tx_index, mint LIMIT {limit:UInt32}`,
    { wallet, quotes: QUOTE_MINTS, ...bounds },
  )
  return rows.map((row) => ({
    slot: Number(row.slot),
    txIndex: row.tx_index,
    mint: row.mint,
    amount: BigInt(row.amount),
    isUndecoded: row.undecoded === 1,
  }))
}
