/**
 * The public name of a tracked wallet: `W1`, `W2`, ... Only ingest knows the address behind it
 * (rule I1).
 */
export type Alias = `W${number}`

/** Returns the alias of wallet number `wallet` (1 or more). */
export function aliasOf(wallet: number): Alias {
  return `W${wallet}`
}

/** Returns the wallet number of an alias `W[1-9][0-9]*`; null for any other text (rule D2). */
export function parseAlias(text: string): number | null {
  return /^W[1-9][0-9]{0,8}$/.test(text) ? Number(text.slice(1)) : null
}
