/** Which trades a client subscribes to (rule F2); both conditions must hold. */
export interface Filter {
  /** Numbers of wallets; null for all. */
  readonly wallets: ReadonlySet<number> | null
  /** Addresses of traded tokens; null for all. */
  readonly mints: ReadonlySet<string> | null
}

/** Whether a trade of this wallet in this token passes the filter. */
export function matches({ wallets, mints }: Filter, wallet: number, mint: string): boolean {
  return (wallets === null || wallets.has(wallet)) && (mints === null || mints.has(mint))
}
