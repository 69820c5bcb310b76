/** What a client wants to be sent (rule F2); null for everything. */
export interface Filter {
  readonly wallets: ReadonlySet<number> | null
  readonly mints: ReadonlySet<string> | null
}

/** Whether a trade of this wallet in this token is wanted. */
export function matches({ wallets, mints }: Filter, wallet: number, mint: string): boolean {
  return (wallets === null || wallets.has(wallet)) && (mints === null || mints.has(mint))
}
