import { shortAddress } from './format.ts'
import { isAlias, isTokenAddress } from './identifiers.ts'

/**
 * Returns the page of an alias (in either case) or an address, and its name; null for other texts.
 * Nothing is requested, so an address of a tracked wallet is answered like any other.
 */
export function directHit(text: string): { readonly hash: string; readonly text: string } | null {
  const alias = text.toUpperCase()
  if (isAlias(alias)) return { hash: `#/wallets/${alias}`, text: `wallet ${alias}` }
  if (isTokenAddress(text)) return { hash: `#/tokens/${text}`, text: `token ${shortAddress(text)}` }
  return null
}
