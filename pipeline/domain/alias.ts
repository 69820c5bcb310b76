/** The public name of a tracked wallet: `W1`, `W2`, ... The address behind it is known to ingest alone (rule I1). */
export type Alias = `W${number}`

/** The alias of wallet number `wallet` (1 or more). */
export function aliasOf(wallet: number): Alias {
  return `W${wallet}`
}

/** The wallet number of an alias `W[1-9][0-9]*`; null for any other text (rule D2). */
export function parseAlias(text: string): number | null {
  return /^W[1-9][0-9]{0,8}$/.test(text) ? Number(text.slice(1)) : null
}
