/**
 * Order in which a backup copies tables while the service writes. A row that says "this is stored"
 * is copied before what it refers to, so the copy may lack what such a row would say, and never the
 * thing itself. It is the reverse of the order in which workers write (`workers/fold/README.md`):
 *
 * 1. positions of workers: after a restore they read everything after them again;
 * 2. rollups, then snapshots of the fold, then the derived rows that they include, then metrics;
 * 3. coverage, verification, breaks and backfills, which say that events are complete;
 * 4. transaction bytes, events, links;
 * 5. credits before the payments that caused them, and those before accounts;
 * 6. every other table: what is stored before an event (late places, prices, withdrawals, wallets),
 *    and tables on which no order depends.
 */
const FIRST: readonly string[] = [
  'progress',
  'deposit_positions',
  'wallet_days',
  'token_hours',
  'wallet_token_hours',
  'fold_snapshots',
  'positions',
  'lots',
  'disposals',
  'profit_hours',
  'first_buys',
  'wallet_metrics',
  'signals',
  'watchlist',
  'pool_states',
  'wallet_verifications',
  'wallet_coverage',
  'chain_breaks',
  'backfills',
  'transactions',
  'token_links',
  'undecoded',
  'swaps',
  'transfers',
  'sol_transfers',
  'sol_balances',
  'ledger_entries',
  'subscriptions',
  'deposit_assignments',
  'deposits',
]

/** Sorts tables into the order in which they are copied. */
export function inCopyOrder(tables: readonly string[]): string[] {
  const rank = (table: string) => {
    const at = FIRST.indexOf(table)
    return at === -1 ? FIRST.length : at
  }
  return [...tables].sort((a, b) => rank(a) - rank(b))
}
