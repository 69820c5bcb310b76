import { parseAddress } from '../../pipeline/domain/address.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  type Facts,
  findMintsBySymbol,
  findMintsByWords,
  lowerAscii,
  wordsOfName,
} from '../../pipeline/store/tables/mints.ts'
import { type FoundToken, MATCHES, type Match } from '../items/search.ts'
import type { KnownFacts } from './known-facts.ts'
import type { OpenPositions } from './open-positions.ts'

/** Tokens of which facts are compared: so many of each kind. */
const MOST_CANDIDATES = 1000

/**
 * Returns the first `limit` tokens that a text finds (rule L17): exact matches, then beginnings of
 * symbols, then words of names; those with more holders first, then by address.
 *
 * The store names candidates, the read model those with most holders. Their newest facts decide.
 */
export async function searchTokens(
  store: Store,
  models: {
    readonly knownFacts: Pick<KnownFacts, 'of'>
    readonly openPositions: Pick<OpenPositions, 'mostHeld' | 'holdersOf'>
  },
  text: string,
  limit: number,
): Promise<readonly FoundToken[]> {
  const { knownFacts, openPositions } = models
  const address = parseAddress(text)
  const prefix = lowerAscii(text)
  const words = wordsOfName(text)
  const [bySymbol, byWords] = await Promise.all([
    findMintsBySymbol(store, prefix, MOST_CANDIDATES),
    words.length === 0 ? [] : findMintsByWords(store, words, MOST_CANDIDATES),
  ])
  const mints = [...openPositions.mostHeld(MOST_CANDIDATES), ...bySymbol, ...byWords]
  if (address !== null) mints.push(address)
  const found: FoundToken[] = []
  for (const [mint, facts] of await knownFacts.of(store, mints)) {
    const match = mint === address ? 'exact' : matchOf(facts, prefix, words)
    if (match === null) continue
    const holders = openPositions.holdersOf(mint)
    const { symbol, name } = facts
    // Most addresses are no token.
    if (holders > 0 || symbol !== '' || name !== '' || facts.supply !== null)
      found.push({ mint, symbol, name, match, holders })
  }
  return found.sort(compareFound).slice(0, limit)
}

function matchOf({ symbol, name }: Facts, prefix: string, words: readonly string[]): Match | null {
  const lower = lowerAscii(symbol)
  if (lower === prefix) return 'exact'
  if (lower.startsWith(prefix)) return 'prefix'
  if (words.length === 0) return null
  const own = wordsOfName(name)
  return words.every((word) => own.includes(word)) ? 'word' : null
}

function compareFound(a: FoundToken, b: FoundToken): number {
  return (
    MATCHES.indexOf(a.match) - MATCHES.indexOf(b.match) ||
    b.holders - a.holders ||
    (a.mint < b.mint ? -1 : 1)
  )
}
